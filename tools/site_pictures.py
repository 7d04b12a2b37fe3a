"""`python tools/site_pictures.py`: draws the pictures of the first page.

`one_answer.svg` takes a good and a poor answer apart: the characters that reference answers share, the scores, and the
keywords. `speed.svg` shows answers a second from bench/results.json, and `badges.svg` the versions
of Python and the licence from pyproject.toml. All are plain SVG, equal to the byte wherever they are drawn.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from pfgen_fast import Suite
from pfgen_fast.scoring.explanation import Explanation, explain

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for bench

from bench.table import rows_of  # noqa: E402

PICTURE = ROOT / "docs" / "pictures" / "one_answer.svg"
SPEED = PICTURE.with_name("speed.svg")
BADGES = PICTURE.with_name("badges.svg")
MEASURED = "score, 57,100 answers, lists of str, 1 thread"
QUESTION = "Q07"
ANSWERS = (
    "Ice is less dense than water: its molecules form an open lattice, so it takes up 9% more space.",
    "Because ice is cold.",
)
WIDTH, MARGIN, LINE, ADVANCE, COLUMNS = 520, 24, 27, 9.0, 44
BESIDE = 430  # from one answer to the next
BARS, BAR = 196, 78  # where the names of the scores begin, and how long a bar is at 1
SCORES = ("fluency", "truthfulness", "helpfulness", "average")
RARE, KNOWN = 0.005, 0.1  # shares of the reference answers, as `pfgen-fast explain` marks them
SHADES = ((KNOWN, "#b7e4c7"), (RARE, "#e3f4e8"), (-1.0, "#ffd9cf"))
LEGEND = ("in many reference answers", "in some", "in almost none")


DARK = {
    "#fbfcfe": "#161b22",
    "#b7e4c7": "#1f5a3a",
    "#e3f4e8": "#20392b",
    "#ffd9cf": "#6b3023",
    "#e6e9f0": "#30363d",
    "#3f51b5": "#8c9eff",
}
"""The colours that are others on a dark ground."""


def main() -> None:
    """Draws the pictures into docs/pictures."""
    PICTURE.write_text(draw(), encoding="utf-8")
    saved = json.loads((ROOT / "bench" / "results.json").read_text(encoding="utf-8"))
    SPEED.write_text(draw_speed(saved), encoding="utf-8")
    BADGES.write_text(draw_badges(), encoding="utf-8")
    print(PICTURE, SPEED, BADGES)


def draw_badges() -> str:
    """The versions of Python and the licence as SVG."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    versions = re.findall(r"Programming Language :: Python :: (3\.\d+)", project)
    licence = re.search(r'^license = "(.+)"$', project, re.MULTILINE)
    assert licence is not None
    parts, x = [], 0
    for text in (f"Python {versions[0]} to {versions[-1]}", licence[1]):
        width = 20 + 7 * len(text)
        parts.append(f'<rect x="{x}" width="{width}" height="22" rx="4" fill="#3f51b5"/>')
        parts.append(f'<text x="{x + 10}" y="15.5" textLength="{width - 20}">{text}</text>')
        x += width + 8
    style = "text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#fff}"
    label = 'role="img" aria-label="versions, licence"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{x - 8}" height="22" {label}>'
    return "\n".join([head, f"<style>{style}</style>", *parts, "</svg>\n"])


def draw_speed(saved: dict[str, Any]) -> str:
    """Answers a second on one core as SVG: the core, and the oracle in plain Python."""
    row = next(row for row in rows_of(saved) if row.what == MEASURED)
    figures = {"pfgen-fast": row.value, "plain Python": row.value / row.ratio}
    parts, largest = [], max(figures.values())
    for number, (name, value) in enumerate(figures.items()):
        y = 20 + 34 * number
        shown = f"{float(f'{value:.3g}'):,.0f}"
        parts += [
            _text(MARGIN, y + 16, name, "plain"),
            _box(140, y, max(1.0, round(250 * value / largest, 1)), 22, "#3f51b5"),
            _text(WIDTH - MARGIN, y + 16, shown, "figure"),
        ]
    parts.append(_text(MARGIN, 106, "answers scored per second, one core", "small"))
    return _picture(122, f"Answers scored per second on one core: {', '.join(figures)}", parts)


def draw() -> str:
    """The picture as SVG."""
    suite = Suite.load("mini")
    parts = [_text(MARGIN, 42, suite[QUESTION].question, "question")]
    explained = [explain(suite, QUESTION, answer) for answer in ANSWERS]
    below = 62 + LINE * max(len(textwrap.wrap(answer, COLUMNS)) for answer in ANSWERS)
    for column, answer in enumerate(explained):
        parts += [f'<g transform="translate({BESIDE * column} 0)">', *_answer(answer, 62, below + 6), "</g>"]
    x, y = MARGIN, below + 6 + 22 * max(len(SCORES), *(len(answer.keywords) for answer in explained)) + 12
    for (_, shade), meaning in zip(SHADES, LEGEND, strict=True):
        parts += [_box(x, y + 4, 14, 14, shade), _text(x + 20, y + 16, meaning, "small")]
        x += 40 + 7 * len(meaning)
    label = (
        "Two answers to a question, with the characters that reference answers know, their scores and their keywords"
    )
    return _picture(y + 36, label, parts, width=BESIDE * len(ANSWERS) + MARGIN)


def _picture(height: int, message: str, parts: list[str], *, width: int = WIDTH) -> str:
    """The parts on a ground, with the styles of texts."""
    style = (
        "text{font:15px system-ui,'DejaVu Sans',sans-serif;fill:#1f2430}.question{font-size:19px;font-weight:600}"
        ".answer{font:15px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}.small{font-size:13px;fill:#4d5566}"
        ".figure{text-anchor:end;font-variant-numeric:tabular-nums}"
    )
    dark = "".join(f'[fill="{light}"]{{fill:{shade}}}' for light, shade in DARK.items())
    style += f"@media(prefers-color-scheme:dark){{text{{fill:#e6edf3}}.small{{fill:#b3bac4}}{dark}}}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{message}">'
    ground = f'<rect width="{width}" height="{height}" rx="10" fill="#fbfcfe"/>'
    return "\n".join([head, f"<style>{style}</style>", ground, *parts, "</svg>\n"])


def _answer(explained: Explanation, y: int, below: int) -> list[str]:
    """One answer, and below it its keywords and scores."""
    parts: list[str] = []
    position = 0
    cover = explained.cover
    for line in textwrap.wrap(explained.answer, COLUMNS):
        position = explained.answer.index(line, position)
        for start, end, shade in _runs(cover[position : position + len(line)]):
            parts.append(_box(MARGIN + start * ADVANCE, y, (end - start) * ADVANCE, LINE - 4, shade))
        length = f' textLength="{len(line) * ADVANCE:g}"'
        parts.append(_text(MARGIN, y + 17, line, "answer", length))
        y, position = y + LINE, position + len(line)
    y = below
    for number, rule in enumerate(explained.keywords):
        met = "✓" if rule.position is not None else "✗"
        parts.append(_text(MARGIN, y + 15 + 22 * number, f"{met} {rule.name}", "small"))
    for number, name in enumerate(SCORES):
        bar_y = y + 22 * number
        score = explained.scores[name]
        score = sum(score.values()) if isinstance(score, dict) else score
        length = round(BAR * min(score, 1.0), 1)
        parts += [
            _text(BARS, bar_y + 15, name, "small"),
            _box(BARS + 92, bar_y + 4, BAR, 13, "#e6e9f0"),
            _box(BARS + 92, bar_y + 4, length, 13, "#3f51b5" if name == "average" else "#8c96d3"),
            _text(BESIDE - MARGIN, bar_y + 15, f"{score:.2f}", "figure"),
        ]
    return parts


def _runs(cover: list[float]) -> Iterator[tuple[int, int, str]]:
    """Neighbouring characters of the same shade: first, end, shade."""
    shades = [next(shade for limit, shade in SHADES if share >= limit) for share in cover]
    start = 0
    for end in range(1, len(shades) + 1):
        if end == len(shades) or shades[end] != shades[start]:
            yield start, end, shades[start]
            start = end


def _box(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="2" fill="{fill}"/>'


def _text(x: float, y: float, text: str, kind: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}"{more}>{escape(text)}</text>'


if __name__ == "__main__":
    main()
