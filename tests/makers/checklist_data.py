"""The published judgements of HelloBench, where they are: beside the published runs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def folder() -> Path:
    """Where the data are, if they are there."""
    bench = Path(os.environ.get("PFGEN_BENCH", ROOT / "../shared/pfgen-bench"))
    return bench.parent / "hellobench"


def is_there() -> bool:
    """Whether the data are there; they must be if PFGEN_BENCH_REQUIRED is set."""
    if folder().is_dir():
        return True
    assert not os.environ.get("PFGEN_BENCH_REQUIRED"), f"{folder()}: the published judgements are missing"
    return False


needs_hellobench = pytest.mark.skipif(
    not is_there(), reason="no published judgements of HelloBench (beside PFGEN_BENCH)"
)


def vectors(name: str) -> Any:
    """A file of worked examples."""
    return json.loads((folder() / "vectors" / f"{name}.json").read_text(encoding="utf-8"))


def expected() -> Any:
    """The scores of the 20 models."""
    return json.loads((folder() / "expected.json").read_text(encoding="utf-8"))
