"""How the pictures of experiments are drawn: matplotlib without a window, figures as PNG and SVG, labels apart."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..report.templating import library

Floats = NDArray[np.float64]

_STYLE = {"axes.grid": True, "grid.alpha": 0.3, "font.size": 9, "svg.hashsalt": "pfgen-fast", "svg.fonttype": "none"}
_EXTRA = "experiments"
MAX_LABELS = 40
"""So many points of a picture are named at most; more would be unreadable."""


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Any, Any]:
    """A figure of so many inches, and its axes as a 2D array."""
    with library("matplotlib", extra=_EXTRA).rc_context(_STYLE):
        figure = library("matplotlib.figure", extra=_EXTRA).Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False, **options)


def stored(figure: Any, form: str) -> bytes:
    """The bytes of a figure as `png` or `svg`; the same figure gives the same bytes."""
    content = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if form == "svg" else {}
    with library("matplotlib", extra=_EXTRA).rc_context(_STYLE):
        fix_layout(figure)
        figure.savefig(content, format=form, dpi=110, metadata=metadata)
    return content.getvalue()


def fix_layout(figure: Any) -> None:
    """Finds the places of all parts, once: it takes longer than drawing them."""
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
        figure.set_layout_engine("none")


def colors(n: int) -> list[Any]:
    """So many colours that are told apart."""
    maps = library("matplotlib", extra=_EXTRA).colormaps
    return [maps["tab10"](i) if n <= 10 else maps["viridis"](0.95 * i / (n - 1)) for i in range(n)]


def plain(text: str) -> str:
    """Text that matplotlib shall not read as a formula."""
    return text.replace("$", r"\$")


def label_points(axes: Any, x: Floats, y: Floats, names: Sequence[str]) -> None:
    """Names points, the labels moved apart (adjustText) so that they can be read."""
    texts = [axes.text(px, py, plain(name), fontsize=7) for px, py, name in zip(x, y, names, strict=True)]
    # It measures the labels, for which the figure must have its final layout.
    fix_layout(axes.figure)
    library("adjustText", extra=_EXTRA).adjust_text(
        texts,
        x=list(x),
        y=list(y),
        ax=axes,
        expand=(1.1, 1.3),
        max_move=30,
        iter_lim=100,
        arrowprops={"arrowstyle": "-", "color": "0.6", "lw": 0.5},
    )
