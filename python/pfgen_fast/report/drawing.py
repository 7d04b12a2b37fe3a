"""Drawing with matplotlib: figures without a window, their PNG and SVG, colours, fonts, and labels that stay readable.

The same figure always gives the same bytes. Every colour has a contrast of at least 3 to a white and to a dark ground.
Curves differ not only in colour, but also in markers or dashes.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import itertools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..base.arrays import Floats
from ..base.errors import optional
from ..base.untrusted_text import terminal_text
from .pages import source

COLORS = ("#3b82f6", "#e8710a", "#12a37f", "#b05cd6", "#d6455d", "#7a8699")
"""The colours of curves and bars, equal to those of `LOOKS` in page.js."""

QUIET = "#808080"
"""The colour of lines that only help to read a chart."""

UNDEFINED = "#cccccc"
"""The colour of cells without a value."""

FAULT = "#a4262c"
"""The colour of faults; pages show another on a dark ground (report.css)."""

LEVELS = ("#eef3f9", "#d9e7f6", "#bdd6ef", "#98c0e7", "#6fa6dd", "#4a8bce", "#2b6fb5", "#175596", "#0a3c72")
"""The colours of a scale, from little to much; pages show others on a dark ground (report.css)."""

DIVERGING = ("#8f3a00", "#c8631a", "#ea9c55", "#f6d2ab", "#eceff2", "#c3dbf3", "#82b3e3", "#3a7fc6", "#0c4c92")
"""The colours of a scale from -1 to 1 with a neutral middle; pages show others on a dark ground (report.css)."""

WHITE_ON_LEVELS, WHITE_ON = (6, 7, 8), (0, 8)
"""The colours of `LEVELS` and of `DIVERGING` on which text is white; it is black on the others."""

LONGEST_NAME = 28
"""The maximum number of code points of a name on an axis with many names."""

_MARKERS = "osD^vXP"
_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
_TICKS = {"labelsize": 9.75, "labelcolor": "#59616b", "major.size": 0, "minor.size": 0}
_STYLE = {
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
    # As the charts of charts.js: a grid without a frame, figures in a quiet colour, texts of 14 and 13 pixels.
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 10.5,
    "axes.unicode_minus": False,  # as in tables and terminals
    "font.size": 10.5,
    "grid.color": UNDEFINED,
    "grid.linewidth": 0.6,
    **{f"axes.spines.{side}": False for side in ("left", "right", "top", "bottom")},
    **{f"{axis}tick.{name}": value for axis in "xy" for name, value in _TICKS.items()},
    "svg.hashsalt": "pfgen-fast",
    "svg.fonttype": "none",
}
_LATIN = "DejaVu Sans"  # comes with matplotlib
_JAPANESE = "IPAexGothic"  # comes with matplotlib-fontja
# Fonts, if they are installed, for characters that these two lack, such as Hangul.
_OTHERS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK KR", "Source Han Sans", "Apple SD Gothic Neo", "PingFang SC",
    "Malgun Gothic", "Microsoft YaHei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Arial Unicode MS",
)  # fmt: skip
_DPI = 110
_LABEL_SIZE = 8
# Places of a label around its point: to the sides, above, below, at the corners; then farther off, with a line.
_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_DISTANCES = (6, 16)
_TEXTS = re.compile(r"^(\.on-.*) \{ color: (?:light-dark\(#\w+, )?(#\w+)", re.MULTILINE)
"""The rules of a page for texts on a scale, and their colours on a dark ground; on other colours it is white."""


def style() -> Any:
    """A context for creating and saving the figures of this package."""
    colors = library("cycler").cycler(color=COLORS)
    return library("matplotlib").rc_context({**_STYLE, "axes.prop_cycle": colors})


def empty_figure(width: float, height: float) -> Any:
    """A figure of the given size in inches."""
    return library("matplotlib.figure").Figure(figsize=(width, height), dpi=_DPI, layout="constrained")


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Any, Any]:
    """A figure of the given size in inches, and its axes as a 2D array."""
    with style():
        figure = empty_figure(width, height)
        return figure, figure.subplots(rows, columns, squeeze=False, **options)


def stored(figure: Any, form: str) -> bytes:
    """The bytes of a figure as `png` or `svg`."""
    content = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {}
    _choose_fonts(figure.findobj(library("matplotlib.text").Text))
    with style():
        figure.savefig(content, format=form, dpi=_DPI, metadata=metadata)
    return following_theme(content.getvalue()) if form == "svg" else content.getvalue()


def following_theme(svg: bytes) -> bytes:
    """An SVG of matplotlib with the colours of the pages' dark theme where its viewer is dark."""
    css = source("report.css")
    scales = re.findall(r"--(?:level|diverging)-\d: light-dark\((#\w+), (#\w+)\)", css)
    colors = {
        "#ffffff": "#14171c",
        "#000000": "#e6e8eb",
        "#cccccc": "#39414c",
        FAULT: "#ff9d94",
        "#59616b": "#a0a8b3",
        **dict(scales),
    }
    rules = ["text{fill:#e6e8eb}"]
    for light, dark in colors.items():
        for kind in ("fill", "stroke"):
            if f"{kind}: {light}".encode() in svg:
                rules.append(f'[style*="{kind}: {light}"]{{{kind}:{dark}!important}}')
    if b'id="on-' in svg:
        rules.append('[id^="on-"] text{fill:#fff!important}')
        for where, dark in _TEXTS.findall(css):
            rules.append(f":is({where.replace('.on', '#on')}) text{{fill:{dark}!important}}")
    style = f"@media(prefers-color-scheme:dark){{{''.join(rules)}}}</style>"
    return svg.replace(b"</style>", style.encode(), 1)


def stored_alike(figure: Any, forms: Sequence[str]) -> list[bytes]:
    """The bytes of a figure in several formats, with the same layout in each."""
    fix_layout(figure)
    return [stored(figure, form) for form in forms]


def fix_layout(figure: Any) -> None:
    """Computes the layout of a figure once and keeps it, because layout takes longer than drawing."""
    if figure.get_layout_engine() is not None:
        _choose_fonts(figure.findobj(library("matplotlib.text").Text))
        with style():
            figure.draw_without_rendering()
            figure.set_layout_engine(None)  # not "none", for which matplotlib would draw each file twice


def plain(text: str) -> str:
    """Text for a picture: harmless, in one line, without formulas; a character without a font is shown by its code."""
    drawable = (
        character if _family_with(character) else f"U+{ord(character):04X}" for character in terminal_text(text)
    )
    return "".join(drawable).replace("$", r"\$")


def bounded(name: str) -> str:
    """A name for an axis: harmless and not too long."""
    return plain(name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…")


# --- colours


def look(number: int) -> dict[str, Any]:
    """Colour, marker and dash of the curve with this number; they are different for 84 curves."""
    return {
        "color": COLORS[number % len(COLORS)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "linestyle": _DASHES[number % len(_DASHES)],
        "markersize": 4,
    }


def color_map(colors: Sequence[str]) -> Any:
    """The colour map of a scale, with grey for what is undefined."""
    return library("matplotlib.colors").ListedColormap(colors).with_extremes(bad=UNDEFINED)


# --- fonts


def _choose_fonts(texts: Iterable[Any]) -> None:
    for text in texts:
        families = dict.fromkeys([_LATIN, *map(_family_with, text.get_text())])
        if len(families) > 1:
            text.set_family([family for family in families if family])


@functools.cache
def _family_with(character: str) -> str | None:
    """The first family that has a character; control characters need none."""
    if character < " ":
        return _LATIN
    return next((family for family, font in _fonts().items() if font.get_char_index(ord(character))), None)


@functools.cache
def _fonts() -> dict[str, Any]:
    """The fonts of pictures by family: matplotlib's font, the Japanese font, and the installed ones of `_OTHERS`."""
    manager = library("matplotlib.font_manager")
    package = importlib.util.find_spec("matplotlib_fontja")
    if package is None or package.origin is None:
        library("matplotlib_fontja")
    else:
        # By its path, because importing the package changes the settings of all figures.
        manager.fontManager.addfont(Path(package.origin).with_name("fonts") / "ipaexg.ttf")
    there = {font.name for font in manager.fontManager.ttflist}
    families = [_LATIN, _JAPANESE, *(family for family in _OTHERS if family in there)]
    return {family: manager.get_font(manager.findfont(family)) for family in families}


# --- labels


def label_extremes(axes: Any, x: Floats, y: Floats, labels: Sequence[str], *, at_most: int) -> None:
    """Labels the points farthest from the middle, where a label covers neither a point nor another label."""
    fix_layout(axes.figure)  # labels are measured, so the figure must have its final layout
    box_of = library("matplotlib.transforms").Bbox.from_bounds
    points = axes.transData.transform(np.column_stack([x, y]))
    panel = axes.get_window_extent()
    pixels = axes.figure.dpi / 72  # per point of type
    taken: list[Any] = []
    for number in extremes(x, y)[:at_most]:
        # The model in a run such as `result/org/model/5e1e9f4`, or in the name of a model such as `org/model`.
        parts = labels[number].removeprefix("result/").split("/")
        name = bounded(parts[1] if len(parts) > 1 else labels[number])
        width, height = _size(axes, name)
        for distance, (right, up) in itertools.product(_DISTANCES, _DIRECTIONS):
            left = points[number, 0] + right * distance * pixels + (right - 1) / 2 * width
            bottom = points[number, 1] + up * distance * pixels + (up - 1) / 2 * height
            box = box_of(left, bottom, width, height)
            is_inside = panel.padded(-2).count_contains(box.corners()) == 4
            if is_inside and not box.padded(3).count_contains(points) and not any(map(box.overlaps, taken)):
                taken.append(box)
                line = {"arrowstyle": "-", "color": QUIET, "linewidth": 0.6, "relpos": ((1 - right) / 2, (1 - up) / 2)}
                axes.annotate(
                    name,
                    (x[number], y[number]),
                    xytext=((left - points[number, 0]) / pixels, (bottom - points[number, 1]) / pixels),
                    textcoords="offset points",
                    va="bottom",
                    fontsize=_LABEL_SIZE,
                    arrowprops=line if distance > _DISTANCES[0] else None,
                )
                break


def extremes(x: Floats, y: Floats) -> list[int]:
    """The points by their distance from the middle, farthest first, relative to the spread in that direction."""
    across, up = ((values - values.mean()) / (values.std() or 1.0) for values in (x, y))
    r = float((across * up).mean())
    distance = across**2 if abs(r) > 1 - 1e-9 else (across**2 + up**2 - 2 * r * across * up) / (1 - r * r)
    in_order: list[int] = np.argsort(-distance.round(9), kind="stable").tolist()
    return in_order


def _size(axes: Any, name: str) -> Any:
    """Width and height of a label in pixels."""
    text = axes.text(0, 0, name, fontsize=_LABEL_SIZE)
    _choose_fonts([text])
    with style():
        size = text.get_window_extent().size
    text.remove()
    return size


def library(name: str) -> Any:
    """Imports a module that pictures need; raises PfgenError if it is not installed."""
    return optional(name, extra="plots", needed_for="a picture")
