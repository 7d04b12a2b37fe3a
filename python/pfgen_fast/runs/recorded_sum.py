"""The float sum that an existing result was made with: the one that gives its figures again.

A result.json does not say its float sum (docs/scoring.md, section 5), and the published ones were made with both.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import PfgenError
from ..files.untrusted_json import any_object, checked, read_json
from ..scoring.score_table import ScoreTable
from ..scoring.scorer import Scorer
from ..suite.rules import FLOAT_SUMS
from .aggregation import aggregate
from .result import RunResult
from .trials import Trials


def with_recorded_sum(
    path: Path, trials: Trials, table: ScoreTable, config: Mapping[str, Any] | None
) -> tuple[RunResult, ScoreTable, str | None]:
    """Aggregates trials with the float sum of an earlier result of them."""
    usual = table.scorer.float_sum
    result = aggregate(trials, table, config)
    recorded = _figures_of(path, result)
    if recorded is None or recorded == _figures(result.to_dict()):
        return result, table, None
    (other,) = (float_sum for float_sum in FLOAT_SUMS if float_sum != usual)
    scorer = Scorer(table.scorer.suite, profile=table.scorer.profile, float_sum=other)
    other_table = scorer.score(trials.lines.questions, trials.lines.answers)
    found = aggregate(trials, other_table, config)
    if recorded == _figures(found.to_dict()):
        return found, other_table, None
    return result, table, f"{path}: neither float sum gives its figures again; the {usual} sum is used"


def _figures_of(path: Path, result: RunResult) -> Mapping[str, Any] | None:
    """The figures of a result.json; None if it was not made from the inputs of `result`."""
    try:
        recorded = checked(read_json(path), any_object, str(path))
    except PfgenError:
        return None
    hashes = recorded.get("input_hash"), recorded.get("metadata_hash")
    return _figures(recorded) if hashes == (result.input_hash, result.metadata_hash) else None


def _figures(result: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in result.items() if key != "config"}
