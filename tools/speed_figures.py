"""`python tools/speed_figures.py`: writes the figures of bench/results.json into the tables of pages that show them.

To be called after `make bench`; a test says when that was forgotten.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for bench

from bench.figures import Row  # noqa: E402
from bench.table import rows_of, shown  # noqa: E402

BEGIN, END = "<!-- what tools/speed_figures.py wrote -->", "<!-- end of what it wrote -->"
BUILDING = "build a set of 1,000 references: pfgen-fast"
SCORING = "score 100 answers to one question (3 sets): pfgen-fast"
LOOKING_UP = "look up in one set: pfgen-fast (10 orders, and scores)"
PARTS = {
    BUILDING: "Count the n-grams of 1,000 reference answers",
    SCORING: "Score 100 answers to one question, with three reference sets",
    LOOKING_UP: "Look up a text in one set",
}
PEER, SERVER = "  peer: ", "server, "


def main() -> None:
    """Fills the tables."""
    saved = json.loads((ROOT / "bench" / "results.json").read_text(encoding="utf-8"))
    for page, table in TABLES.items():
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        content = "\n".join([f"{before}{BEGIN}\n", *table(saved), f"\n{END}{rest.partition(END)[2]}"])
        page.write_text(content, encoding="utf-8")


def beside_peers(saved: dict) -> Iterator[str]:
    """The time of each measurement, compared with its peers."""
    yield f"{measured_on(saved)}, one thread:\n"
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


def of_server(saved: dict) -> Iterator[str]:
    """The rates of the reward server, each with the two rows of its latencies."""
    yield f"{measured_on(saved)}:\n"
    yield "| what | rate | times that of the scorer in process | p50 | p99 |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    rows = list(rows_of(saved))
    for place, row in enumerate(rows):
        if row.what.startswith(SERVER):
            ratio = "" if row.ratio is None else shown(row.ratio)
            latencies = " | ".join(map(figure, rows[place + 1 : place + 3]))
            yield f"| {row.what.removeprefix(SERVER)} | {figure(row)} | {ratio} | {latencies} |"


def measured_on(saved: dict) -> str:
    """The command, and the machine."""
    machine = saved["machine_info"]["pfgen_fast"]
    return f"`make bench`, {machine['processor']}, {machine['cores']} cores, {machine['python']}"


def figure(row: Row) -> str:
    """A figure with its unit; a missing figure has its reason."""
    return row.note if row.value is None else f"{shown(row.value)} {row.unit}"


TABLES: dict[Path, Callable[[dict], Iterator[str]]] = {
    ROOT / "docs" / "comparison.md": beside_peers,
    ROOT / "docs" / "serving.md": of_server,
}


if __name__ == "__main__":
    main()
