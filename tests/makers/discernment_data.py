"""The worked examples of discernment, in the folder `discernment` beside the published runs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from .published import FOLDER as PFGEN_BENCH
from .published import needs


def folder() -> Path:
    return PFGEN_BENCH.parent / "discernment"


needs_discernment_data = needs(folder() / "vectors.json", "no worked examples of discernment (beside PFGEN_BENCH)")


@cache
def perturbations() -> dict[str, Any]:
    """Texts, the damaged texts by the rules, and the first numbers of the generator."""
    return json.loads((folder() / "perturbations.json").read_bytes())


@cache
def vectors() -> dict[str, Any]:
    """Worked examples of all statistics."""
    return json.loads((folder() / "vectors.json").read_bytes())
