"""`python tools/speed_figures.py`: writes the figures of bench/results.json into the table of docs/comparison.md.

To be called after `make bench`; a test says when that was forgotten.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for bench

from bench.figures import Row  # noqa: E402
from bench.table import rows_of, shown  # noqa: E402

PAGE = ROOT / "docs" / "comparison.md"
BEGIN, END = "<!-- what tools/speed_figures.py wrote -->", "<!-- end of what it wrote -->"
BUILDING = "build a set of 1,000 references: pfgen-fast"
SCORING = "score 100 answers to one question (3 sets): pfgen-fast"
LOOKING_UP = "look up in one set: pfgen-fast (10 orders, and scores)"
PARTS = {
    BUILDING: "Count the n-grams of 1,000 reference answers",
    SCORING: "Score 100 answers to one question, with three reference sets",
    LOOKING_UP: "Look up a text in one set",
}
PEER = "  peer: "


def main() -> None:
    """Fills the table."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    saved = json.loads((ROOT / "bench" / "results.json").read_text(encoding="utf-8"))
    page = "\n".join([f"{before}{BEGIN}\n", *table(saved), f"\n{END}{rest.partition(END)[2]}"])
    PAGE.write_text(page, encoding="utf-8")


def table(saved: dict) -> Iterator[str]:
    """The machine, and what each measure takes beside its peers."""
    machine = saved["machine_info"]["pfgen_fast"]
    yield f"`make bench`, {machine['processor']}, {machine['cores']} cores, {machine['python']}, one thread:\n"
    yield "| what | by | figure | times slower |"
    yield "| --- | --- | ---: | ---: |"
    part = ""
    for row in rows_of(saved):
        if row.what in PARTS:
            part = PARTS[row.what]
            yield f"| {part} | pfgen-fast | {figure(row)} | |"
        elif part and row.what.startswith(PEER):
            name = row.what.removeprefix(PEER)
            yield f"| | {name} | {figure(row)} | {'' if row.ratio is None else shown(row.ratio)} |"
        else:
            part = ""


def figure(row: Row) -> str:
    """A figure with its unit; what there is none of says why."""
    return row.note if row.value is None else f"{shown(row.value)} {row.unit}"


if __name__ == "__main__":
    main()
