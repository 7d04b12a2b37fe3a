"""`python -m bench.table JSON [--readme]`: the table of the figures that pytest-benchmark has saved.

With --readme, figures of the published runs are written into this folder: README.md, results.json and pictures/.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .figures import Row

FOLDER = Path(__file__).resolve().parent
HEAD = ("what", "value", "ratio")
BEGIN, END = "<!-- what `make bench` printed last -->", "<!-- end of what it printed -->"


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table, and writes it into the README if that is requested and allowed."""
    parser = argparse.ArgumentParser(prog="python -m bench.table", description=__doc__)
    parser.add_argument("json", type=Path, help="what `pytest bench --benchmark-json=...` wrote")
    parser.add_argument("--readme", action="store_true", help="write figures of the published runs into bench/")
    options = parser.parse_args(arguments)
    saved = json.loads(options.json.read_text(encoding="utf-8"))
    print("\n".join(table(saved)))
    about = saved["pfgen_fast"]
    if options.readme and about["published"] and not about["quick"]:
        write(saved, FOLDER)
    elif options.readme:
        print("\nbench/README.md stays as it is: it shows whole measurements of the published runs")


def write(saved: dict[str, Any], folder: Path) -> None:
    """Writes the table into the README of a folder, and its data and pictures next to it."""
    (folder / "results.json").write_text(json.dumps(_without_single_times(saved), indent=1) + "\n", encoding="utf-8")
    readme = folder / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    readme.write_text("\n".join([f"{before}{BEGIN}\n", *table(saved), f"\n{END}{after}"]), encoding="utf-8")
    try:
        from . import pictures
    except ImportError:
        print("no pictures: matplotlib is not installed")
    else:
        pictures.draw(saved, folder / "pictures")


def _without_single_times(saved: dict[str, Any]) -> dict[str, Any]:
    """The JSON without the times of each round."""
    benchmarks = []
    for benchmark in saved["benchmarks"]:
        kept = {key: dict(value) if isinstance(value, dict) else value for key, value in benchmark.items()}
        kept.get("stats", {}).pop("data", None)
        kept["extra_info"].pop("in_turns_with", None)
        benchmarks.append(kept)
    return {**saved, "benchmarks": benchmarks}


def rows_of(saved: dict[str, Any]) -> list[Row]:
    return [Row.from_json(row) for item in saved["benchmarks"] for row in item["extra_info"].get("rows", ())]


def table(saved: dict[str, Any]) -> list[str]:
    machine = ", ".join(f"{key} {value}" for key, value in saved["machine_info"]["pfgen_fast"].items())
    about = saved["pfgen_fast"]
    quick = ["A quick run of little work: no figure here means anything.", ""] if about["quick"] else []
    return [machine, "", f"On {about['inputs']}.", "", *quick, *render(rows_of(saved))]


def render(rows: Iterable[Row]) -> list[str]:
    """The lines of the table, in Markdown that is also readable as plain text."""
    cells = [HEAD, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rule = " | ".join(["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    return [_line(cells[0], widths), f"| {rule} |", *(_line(row, widths) for row in cells[1:])]


def shown(figure: float) -> str:
    digits = 0 if figure >= 99.95 else 1 if figure >= 9.995 else 2 if figure >= 0.095 else 3
    return f"{figure:,.{digits}f}"


def _cells(row: Row) -> tuple[str, ...]:
    value = row.note if row.value is None else f"{shown(row.value)} {row.unit}".strip()
    ratio = "" if row.ratio is None else f"{shown(row.ratio)} x {row.to}"
    return (row.what, value, ratio)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    what, *others = cells
    return f"| {' | '.join([what.ljust(widths[0]), *map(str.rjust, others, widths[1:])])} |"


if __name__ == "__main__":
    main()
