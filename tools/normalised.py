"""`python tools/normalised.py [--measure]`: the figures of profile normalised in docs/what_the_score_sees.md.

With --measure it scores all published runs in both profiles, and damaged answers as tools/sensitivity.py does, and
writes docs/figures/profiles.csv and docs/figures/sensitivity_normalised.csv; this needs a checkout of pfgen-bench
(PFGEN_BENCH). From these files, which the repository has, it makes the tables of the pages and the picture.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import sensitivity
from pfgen_fast import Suite
from pfgen_fast.lab.statistics.correlation import kendall, pearson
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs

DOCS = sensitivity.DOCS
RUNS = DOCS / "figures" / "profiles.csv"
DAMAGE = DOCS / "figures" / "sensitivity_normalised.csv"
PICTURE = DOCS / "pictures" / "profiles.svg"
PAGES = (DOCS / "what_the_score_sees.md", DOCS / "ja" / "what_the_score_sees.md")
BEGIN, END = "<!-- what tools/normalised.py wrote -->", "<!-- end of what tools/normalised.py wrote -->"
PROFILES = ("leaderboard", "normalised")
SHOWN = ("width", "punctuation", "newline", "negate/1000", "loop/1000", "sentence_delete/400", "answer_swap/1000")
COLOURS = ("#3f51b5", "#e07a5f")

Runs = dict[str, dict[str, float]]
"""The score of each run in each profile."""


def main(arguments: Sequence[str]) -> None:
    """Measures on request, then fills the pages and draws the picture."""
    if "--measure" in arguments:
        checkout = Path(os.environ.get("PFGEN_BENCH", "../shared/pfgen-bench"))
        sensitivity.write(DAMAGE, sensitivity.measure(checkout, "normalised"))
        sensitivity.write(RUNS, [{"run": run, **scores} for run, scores in measure(checkout).items()])
    for page in PAGES:
        head, *rows = table()
        if "ja" in page.parts:
            head = head.replace("damage", "劣化")
        sensitivity.fill(page, (BEGIN, END), [head, *rows])
    PICTURE.write_text(draw(read()), encoding="utf-8")


def measure(checkout: Path) -> dict[str, dict[str, str]]:
    """The score of each published run in each profile, as text."""
    by_name: dict[str, dict[str, str]] = {}
    runs = find_runs([checkout / "result"])
    for profile in PROFILES:
        with tempfile.TemporaryDirectory() as folder:
            scorer = RunScorer(suite=Suite.load(checkout / "data"), profile=profile, force=True, output=Path(folder))
            for run, outcome in zip(runs, scorer.score(runs), strict=True):
                assert outcome.summary, outcome.error
                name = run.folder.relative_to(checkout / "result").as_posix()
                by_name.setdefault(name, {})[profile] = f"{outcome.summary.score:.4f}"
    return by_name


def read() -> Runs:
    """The scores of the file."""
    with RUNS.open(encoding="utf-8", newline="") as file:
        return {row["run"]: {profile: float(row[profile]) for profile in PROFILES} for row in csv.DictReader(file)}


def agreement(runs: Runs) -> tuple[float, float]:
    """Pearson's and Kendall's coefficient between the profiles."""
    x, y = ([scores[profile] for scores in runs.values()] for profile in PROFILES)
    result = pearson(x, y), kendall(x, y)
    assert result[0] is not None
    assert result[1] is not None
    return result[0], result[1]


def table() -> Iterator[str]:
    """How far the scores fall with each kind of damage, in both profiles."""
    files = [sensitivity.read(path) for path in (sensitivity.FIGURES, DAMAGE)]
    yield "| damage | `leaderboard` | `normalised` | fluency | truthfulness | helpfulness |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for damage in SHOWN:
        leaderboard_drop = files[0][damage, "average"]["mean_drop"]
        drops = [leaderboard_drop, *(files[1][damage, metric]["mean_drop"] for metric in sensitivity.METRICS)]
        yield f"| `{damage}` | {' | '.join(sensitivity.signed(float(drop)) for drop in drops)} |"


def draw(runs: Runs) -> str:
    """The scores of each run in both profiles as two points on a line, in plain SVG."""
    left, right, line, top = 330, 640, 24, 92
    low, high = 0.0, 1.2

    def x(score: float) -> str:
        return f"{left + (score - low) / (high - low) * (right - left):.1f}"

    parts, y = [], top
    for run, scores in sorted(runs.items(), key=lambda item: -item[1][PROFILES[0]]):
        name = run if len(run) <= 44 else f"{run[:43]}…"
        ends = [x(scores[profile]) for profile in PROFILES]
        parts += [
            f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{escape(name)}</text>',
            f'<line x1="{ends[0]}" x2="{ends[1]}" y1="{y}" y2="{y}" stroke="#8892a6"/>',
            *(
                f'<circle cx="{end}" cy="{y}" r="4.5" fill="{colour}"/>'
                for end, colour in zip(ends, COLOURS, strict=True)
            ),
        ]
        y += line
    axis = [
        f'<text x="{x(tick / 5)}" y="{y + 10}" text-anchor="middle">{tick / 5:.1f}</text>'
        f'<line x1="{x(tick / 5)}" x2="{x(tick / 5)}" y1="{top - 14}" y2="{y - 8}" stroke="#8892a6" stroke-width=".4"/>'
        for tick in range(7)
    ]
    label = f"The score of {len(runs)} published runs in both profiles"
    legend = [
        f'<circle cx="{26 + 130 * i}" cy="58" r="5" fill="{colour}"/><text x="{38 + 130 * i}" y="62">{profile}</text>'
        for i, (profile, colour) in enumerate(zip(PROFILES, COLOURS, strict=True))
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 {y + 26}" role="img" aria-label="{label}">',
            "<style>text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#1f2430}.h{font-weight:600;font-size:15px}",
            "@media(prefers-color-scheme:dark){text{fill:#e6edf3}[fill='#fbfcfe']{fill:#161b22}[fill='#3f51b5']{fill:#8c9eff}}",
            "</style>",
            f'<rect width="660" height="{y + 26}" rx="10" fill="#fbfcfe"/>',
            f'<text x="20" y="34" class="h">{label}</text>',
            *legend,
            *axis,
            *parts,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    main(sys.argv[1:])
