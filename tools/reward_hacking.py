"""`python tools/reward_hacking.py`: the tables of docs/reward_hacking.md, and its picture.

It makes them from the files that tools/reward_search.py and tools/reward_training.py write.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from statistics import fmean
from typing import Any

import reward_search
import reward_training
from reward_measures import FIGURES, ROOT

PAGE = ROOT / "docs" / "reward_hacking.md"
PICTURE = ROOT / "docs" / "pictures" / "reward_hacking.svg"
BEGIN, END = "<!-- what tools/reward_hacking.py wrote -->", "<!-- end of what it wrote -->"

# The columns of the tables and the panels of the picture: the key, the head, and the number of decimals.
COLUMNS = (
    ("reward", "reward", 2),
    ("score", "score", 2),
    ("held_out", "held-out chrF", 2),
    ("well_formed", "well-formed", 2),
    ("characters", "characters", 0),
    ("repetition", "repetition", 2),
)
FINISHED = ("finished", "finished", 2)
LAST = "Last answers to “Why does ice float on water?”"
COLOURS = ("#e07a5f", "#3f51b5")
WIDTH, HEIGHT, PLOT, GAP = 760, 440, 200, 40

Figures = Mapping[str, Any]


def main() -> None:
    """Fills the page, and draws the picture."""
    search, training = read(reward_search.FILE), read(reward_training.FILE)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), search, training), encoding="utf-8")
    PICTURE.write_text(draw(training["runs"]), encoding="utf-8")


def read(name: str) -> Any:
    """The content of a file of figures."""
    return json.loads((FIGURES / name).read_text(encoding="utf-8"))


def filled(page: str, search: Sequence[Figures], training: Figures) -> str:
    """The page with its two tables."""
    tables = iter((training_table(training), search_table(search)))
    written = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    return written.sub(lambda _: "\n".join((f"{BEGIN}\n", *next(tables), f"\n{END}")), page)


def search_table(rows: Sequence[Figures]) -> Iterator[str]:
    """Good answers before and after the search; the reward before it follows from the optimised reward."""
    columns, listed = COLUMNS[1:5], [row for row in rows if row["start"] == "good"]
    yield f"| optimised | reward | {' | '.join(head for _, head, _ in columns)} |"
    yield f"| --- |{' ---: |' * (len(columns) + 1)}"
    yield f"| *nothing yet* | | {' | '.join(_cells(listed[0]['before'], columns))} |"
    for row in listed:
        reward = f"{row['before']['reward']:.2f}&nbsp;→&nbsp;{row['after']['reward']:.2f}"
        yield f"| {row['name']} | {reward} | {' | '.join(_cells(row['after'], columns))} |"


def _cells(row: Figures, columns: Sequence[tuple[str, str, int]]) -> list[str]:
    return [f"{row[key]:.{n}f}" for key, _, n in columns]


def answer(name: str, text: str) -> str:
    """An entry of a list with the beginning of an answer, whose white space becomes single spaces."""
    entry = f"* {name}: `{textwrap.shorten(text, 160, placeholder=' …')}`"
    return "\n".join(textwrap.wrap(entry, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))


def training_table(training: Figures) -> Iterator[str]:
    """The first and the last steps of each reward, as means over the seeds."""
    columns = (*COLUMNS, FINISHED)
    yield f"| trained with | steps | {' | '.join(head for _, head, _ in columns)} |"
    yield f"| --- | --- |{' ---: |' * len(columns)}"
    for name, runs in training["runs"].items():
        for place in (0, -1):
            means = {
                key: fmean(run["rows"][place][key] for run in runs) for key in ("step", *(key for key, _, _ in columns))
            }
            begin = runs[0]["rows"][-2]["step"] + 1 if place else 1
            yield f"| {name} | {begin} to {means['step']:g} | {' | '.join(_cells(means, columns))} |"
    versions = ", ".join(f"{name} {version}" for name, version in training["versions"].items())
    yield f"\nMeasured on {training['date']} with {versions}.\n{LAST}:\n"
    for name, runs in training["runs"].items():
        yield answer(name, runs[0]["answer"])


def draw(trainings: Mapping[str, Sequence[Figures]]) -> str:
    """A panel for each measure, with a line for each training run, in plain SVG."""
    coloured = [(run, colour) for runs, colour in zip(trainings.values(), COLOURS, strict=True) for run in runs]
    parts = []
    for number, (key, head, digits) in enumerate((*COLUMNS[1:], FINISHED)):
        x, y = 40 + number % 3 * (PLOT + GAP), 84 + number // 3 * (130 + 56)
        highest = max(row[key] for run, _ in coloured for row in run["rows"])
        parts.append(f'<text x="{x}" y="{y - 12}" class="h">{escape(head)}</text>')
        parts.append(f'<path d="M{x} {y}v130h{PLOT}" fill="none" stroke="#9aa3b2"/>')
        for value in (0.0, highest):
            height = y + 130 * (1 - value / highest)
            parts.append(f'<text x="{x - 5}" y="{height + 4:g}" class="n">{value:.{digits}f}</text>')
        for run, colour in coloured:
            last = run["rows"][-1]["step"]
            points = " ".join(
                f"{x + PLOT * row['step'] / last:.1f},{y + 130 * (1 - row[key] / highest):.1f}" for row in run["rows"]
            )
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        parts.append(f'<text x="{x + PLOT}" y="{y + 146}" class="n">step {last}</text>')
    for number, (name, colour) in enumerate(zip(trainings, COLOURS, strict=True)):
        x = 40 + 230 * number
        parts.append(f'<path d="M{x} 40h22" stroke="{colour}" stroke-width="2.5"/>')
        parts.append(f'<text x="{x + 30}" y="44">trained with the {escape(name)}</text>')
    label = "What three trainings with GRPO each learned, by step: with the score, and with the recommended shape"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">',
            "<style>text{font:13px system-ui,'DejaVu Sans',sans-serif;fill:#1f2430}",
            ".h{font-weight:600}.n{font-size:11px;text-anchor:end}",
            "@media(prefers-color-scheme:dark){text{fill:#e6edf3}[fill='#fbfcfe']{fill:#161b22}"
            "[stroke='#3f51b5']{stroke:#8c9eff}}</style>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#fbfcfe"/>',
            *parts,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    main()
