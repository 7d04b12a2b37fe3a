"""`python -m bench.checklists`: the figures of checklists alone, after the results are compared.

It prints the table, and writes nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .agreement import Disagreement
from .checklist_scores import checklist_scores
from .machine import machine
from .published import VARIABLE, checkout_folder
from .table import Row, render, verdict
from .weight_fits import weight_fits


def published_judgements() -> Path | None:
    """The folder of published judgements beside the pfgen-bench checkout; None if it is not there."""
    folder = checkout_folder().parent / "hellobench"
    return folder if (folder / "judgements").is_dir() else None


def checklists(folder: Path) -> list[Row]:
    """Measures scoring and the fit of weights.

    Raises:
        Disagreement: Results differ from those computed without this package.
    """
    return [*checklist_scores(folder), *weight_fits()]


def main() -> int:
    """Prints the rows; returns 1 if results differ."""
    folder = published_judgements()
    if folder is None:
        print(f"no folder hellobench with judgements beside {checkout_folder()}: set {VARIABLE} to its neighbour")
        return 0
    try:
        rows = checklists(folder)
    except Disagreement as error:
        print(f"NOT EQUAL, so nothing is shown: {error}", file=sys.stderr)
        return 1
    about = ", ".join(f"{key} {value}" for key, value in machine().items())
    print("\n".join([about, "", *render(rows), "", verdict(rows)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
