"""The published judgements of HelloBench, in the folder `hellobench` beside the published runs."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from .published import FOLDER as PFGEN_BENCH
from .published import needs


def folder() -> Path:
    return PFGEN_BENCH.parent / "hellobench"


needs_hellobench = needs(folder(), "no published judgements of HelloBench (beside PFGEN_BENCH)")


def vectors(name: str) -> Any:
    """A file of worked examples."""
    return json.loads((folder() / "vectors" / f"{name}.json").read_text(encoding="utf-8"))


def table(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with (folder() / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def expected() -> Any:
    """The scores of the 20 models."""
    return json.loads((folder() / "expected.json").read_text(encoding="utf-8"))
