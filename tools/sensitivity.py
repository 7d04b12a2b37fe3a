"""`python tools/sensitivity.py [--measure]`: the figures of docs/what_the_score_sees.md, and its picture.

With --measure it damages answers of GPT-4o, scores them, and writes docs/figures/sensitivity.csv; this needs a checkout
of pfgen-bench (PFGEN_BENCH). From this file, which the repository has, it makes the table of the page and the picture.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from pfgen_fast import Scorer, Suite
from pfgen_fast.lab.discernment.discern import discern
from pfgen_fast.lab.discernment.originals import from_run
from pfgen_fast.lab.evaluators.ngram_evaluator import NgramEvaluator
from pfgen_fast.suite.rules import Profile

DOCS = Path(__file__).resolve().parent.parent / "docs"
FIGURES = DOCS / "figures" / "sensitivity.csv"
PICTURE = DOCS / "pictures" / "what_the_score_sees.svg"
PAGE = DOCS / "what_the_score_sees.md"
BEGIN, END = "<!-- what tools/sensitivity.py wrote -->", "<!-- end of what it wrote -->"
RUN = "result/openai/gpt-4o"
COLUMNS = {"n_items": 0, "n": 0, "mean_original": 5, "mean_perturbed": 5, "mean_drop": 5, "d": 2, "reverse_d": 2}
METRICS = ("average", "fluency", "truthfulness", "helpfulness")

# The damage, what it is in words, and whether a reader would mind it.
ROWS = (
    ("answer_swap/1000", "an answer to another question", True),
    ("term_swap/1000", "every term replaced by another", True),
    ("truncate/800", "the last 80 % cut off", True),
    ("sentence_delete/400", "two of five sentences missing", True),
    ("number_change/1000", "every number changed", True),
    ("word_swap/500", "half of the words in another place", True),
    ("char_typo/30", "a typing error in three characters of a hundred", True),
    ("function_word/400", "two of five particles wrong", True),
    ("negate/1000", "every statement denied", True),
    ("sentence_reorder/1000", "sentences in another order", True),
    ("loop/1000", "the end repeated until the answer is twice as long", True),
    ("width", "letters and digits in full width", False),
    ("punctuation", "`，．` in the place of `、。`", False),
    ("newline", "a line break at the end", False),
)

Row = dict[str, str]
"""A perturbation and a metric: the columns of the file, as text."""


def main(arguments: Sequence[str]) -> None:
    """Measures on request, then fills the page and draws the picture."""
    if "--measure" in arguments:
        write(FIGURES, measure(Path(os.environ.get("PFGEN_BENCH", "../shared/pfgen-bench"))))
    rows = read(FIGURES)
    fill(PAGE, (BEGIN, END), table(rows))
    PICTURE.write_text(draw(rows), encoding="utf-8")


def measure(checkout: Path, profile: Profile = "leaderboard") -> list[Row]:
    """A row for each perturbation and metric, with the drop of the scores of damaged answers."""
    suite = Suite.load(checkout / "data")
    cells = discern(NgramEvaluator(Scorer(suite, profile=profile)), from_run(checkout / RUN, suite)).cells
    listed = []
    for cell in cells:
        kind, degree = cell["kind"], cell["degree"]
        figures = {name: rounded(cell[name], digits) for name, digits in COLUMNS.items()}
        damage = f"{kind}/{degree}" if degree else str(kind)
        listed.append({"damage": damage, "metric": cell["metric"], **figures})
    return listed


def rounded(value: object, digits: int) -> str:
    """A figure of the file; nothing for a missing value."""
    return "" if value is None else f"{float(str(value)):.{digits}f}"


def fill(page: Path, marks: tuple[str, str], lines: Iterable[str]) -> None:
    """Writes lines between the two marks of a page."""
    begin, end = marks
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    content = "\n".join([f"{before}{begin}\n", *lines, f"\n{end}{rest.partition(end)[2]}"])
    page.write_text(content, encoding="utf-8")


def write(path: Path, rows: Sequence[Row]) -> None:
    """Writes the figures."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read(path: Path) -> dict[tuple[str, str], Row]:
    """The figures by damage and metric."""
    with path.open(encoding="utf-8", newline="") as file:
        return {(row["damage"], row["metric"]): row for row in csv.DictReader(file)}


def table(rows: dict[tuple[str, str], Row]) -> Iterator[str]:
    """The table of the page."""
    yield "| damage | kind | n | average | fluency | truthfulness | helpfulness |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for damage, words, harmful in ROWS:
        drops = [signed(float(rows[damage, metric]["mean_drop"])) for metric in METRICS]
        what = words if harmful else f"*{words}*"
        yield f"| {what} | `{damage}` | {rows[damage, 'average']['n_items']} | {' | '.join(drops)} |"


def signed(drop: float, digits: int = 3) -> str:
    """A drop as the docs show it, with a minus sign (U+2212); zero has no sign."""
    text = f"{drop:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def draw(rows: dict[tuple[str, str], Row]) -> str:
    """The drops of the average as bars, in plain SVG."""
    left, width, line = 362, 660, 26
    parts, y = [], 58
    for damage, words, harmful in sorted(ROWS, key=lambda row: -float(rows[row[0], "average"]["mean_drop"])):
        drop = float(rows[damage, "average"]["mean_drop"])
        length, fill = round(drop * 300, 1), "#3f51b5" if harmful else "#e07a5f"
        parts += [
            f'<text x="{left - 10}" y="{y + 14}" text-anchor="end">{escape(words.replace("`", ""))}</text>',
            f'<rect x="{left}" y="{y + 2}" width="{max(length, 1):g}" height="15" rx="2" fill="{fill}"/>',
            f'<text x="{left + max(length, 1) + 6:g}" y="{y + 14}">{drop:.3f}</text>',
        ]
        y += line
    original = float(rows["loop/1000", "average"]["mean_original"])
    label = "How far the average falls with each kind of damage"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y + 34}" role="img" aria-label="{label}">',
            "<style>text{font:13px system-ui,'DejaVu Sans',sans-serif;fill:#1f2430}",
            ".h{font-weight:600;font-size:15px}",
            "@media(prefers-color-scheme:dark){text{fill:#e6edf3}[fill='#fbfcfe']{fill:#161b22}[fill='#3f51b5']{fill:#8c9eff}}",
            "</style>",
            f'<rect width="{width}" height="{y + 34}" rx="10" fill="#fbfcfe"/>',
            f'<text x="20" y="34" class="h">{label} (of {original:.3f})</text>',
            *parts,
            f'<rect x="20" y="{y + 8}" width="13" height="13" rx="2" fill="#3f51b5"/>',
            f'<text x="40" y="{y + 19}">harms the answer</text>',
            f'<rect x="190" y="{y + 8}" width="13" height="13" rx="2" fill="#e07a5f"/>',
            f'<text x="210" y="{y + 19}">harms nobody</text>',
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    main(sys.argv[1:])
