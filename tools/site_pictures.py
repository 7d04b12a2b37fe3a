"""`python tools/site_pictures.py` draws docs/pictures/speed.svg: answers scored per second, from bench/results.json."""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for bench

from bench.table import rows_of  # noqa: E402

SPEED = ROOT / "docs" / "pictures" / "speed.svg"
MEASURED = "score, 57,100 answers, lists of str, 1 thread"
WIDTH, MARGIN = 520, 24
DARK = {"#fbfcfe": "#161b22", "#3f51b5": "#8c9eff"}
"""The colours that are others on a dark ground."""


def main() -> None:
    """Draws the picture."""
    saved = json.loads((ROOT / "bench" / "results.json").read_text(encoding="utf-8"))
    SPEED.write_text(draw_speed(saved), encoding="utf-8")
    print(SPEED)


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


def _picture(height: int, message: str, parts: list[str]) -> str:
    """The parts on a ground, with the styles of texts."""
    style = (
        "text{font:15px system-ui,'DejaVu Sans',sans-serif;fill:#1f2430}.small{font-size:13px;fill:#4d5566}"
        ".figure{text-anchor:end;font-variant-numeric:tabular-nums}"
    )
    dark = "".join(f'[fill="{light}"]{{fill:{shade}}}' for light, shade in DARK.items())
    style += f"@media(prefers-color-scheme:dark){{text{{fill:#e6edf3}}.small{{fill:#b3bac4}}{dark}}}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{message}">'
    ground = f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#fbfcfe"/>'
    return "\n".join([head, f"<style>{style}</style>", ground, *parts, "</svg>\n"])


def _box(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="2" fill="{fill}"/>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>'


if __name__ == "__main__":
    main()
