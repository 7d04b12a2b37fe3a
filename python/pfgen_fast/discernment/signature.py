"""The signature of a test of an evaluator: everything that its figures depend on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache

from ..files.reading import read_stored
from ..native import _core
from .items import Collection
from .plan import Plan
from .tables import FILE


def signature_of(
    collection: Collection,
    plan: Plan,
    *,
    seed: int,
    evaluator: str,
    zeros: str = "drop",
    weights: str | None = None,
    made: Mapping[str, Sequence[str | None]] | None = None,
) -> str:
    """Names the version, the items, the plan, the seed, the evaluator and how scores are compared and combined."""
    plan_hash = plan.hash(tables=tables_hash(), made=made or {})
    return (
        f"discernment:{_core.__version__}|collection:{collection.hash}|plan:{plan_hash}|seed:{seed}"
        f"|evaluator:{evaluator}|zeros:{zeros}|combine:harmonic|weights:{weights or 'none'}"
    )


@cache
def tables_hash() -> str:
    """The SHA-256 of the tables of the rules, such as which keys are neighbours."""
    return hashlib.sha256(read_stored(FILE)).hexdigest()
