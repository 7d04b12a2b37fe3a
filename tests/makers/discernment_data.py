"""The worked examples of discernment: the folder `discernment` beside the checkout of pfgen-bench.

Without them, tests that need them are skipped with a message; if PFGEN_BENCH_REQUIRED is set (as in CI), they fail.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from .published import FOLDER as PFGEN_BENCH

_FOLDER = PFGEN_BENCH.parent / "discernment"


def folder() -> Path:
    """The folder of the examples."""
    return _FOLDER


needs_discernment_data = pytest.mark.skipif(
    not (_FOLDER / "vectors.json").is_file() and "PFGEN_BENCH_REQUIRED" not in os.environ,
    reason="no worked examples of discernment (beside PFGEN_BENCH)",
)


@cache
def perturbations() -> dict[str, Any]:
    """Texts and what the rules make of them, with the first numbers of the generator."""
    return json.loads((folder() / "perturbations.json").read_bytes())


@cache
def vectors() -> dict[str, Any]:
    """Worked examples of all statistics."""
    return json.loads((folder() / "vectors.json").read_bytes())
