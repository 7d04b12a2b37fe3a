"""The published judgements of HelloBench, where they are: beside the published runs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from .published import FOLDER as PFGEN_BENCH

_FOLDER = PFGEN_BENCH.parent / "hellobench"


def folder() -> Path:
    """Where the data are, if they are there."""
    return _FOLDER


def is_there() -> bool:
    """Whether the data are there; they must be if PFGEN_BENCH_REQUIRED is set."""
    if _FOLDER.is_dir():
        return True
    assert not os.environ.get("PFGEN_BENCH_REQUIRED"), f"{_FOLDER}: the published judgements are missing"
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
