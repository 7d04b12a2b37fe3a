"""The metric itself, as `evaluate` loads it: it copies this file and runs the copy, so nothing here is relative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pfgen_fast
from pfgen_fast.files.optional import optional
from pfgen_fast.suite.rules import PARTS

evaluate = optional("evaluate", extra="evaluate", needed_for="the metric for evaluate")
datasets = optional("datasets", extra="evaluate", needed_for="the metric for evaluate")

_DESCRIPTION = "Fluency, truthfulness and helpfulness of free-form answers from reference n-grams."
_INPUTS = """
Args:
    predictions: The answers.
    references: For each answer its question, by id or exact text; the reference answers are in the suite.
    per_answer: Whether to return lists with the scores of each answer instead of their means.

Returns:
    `average`, `fluency`, `truthfulness`, `helpfulness`, and the `signature` that says what made them.
"""
_SCORES = ("average", *PARTS)


class Pfgen(evaluate.Metric):  # type: ignore[misc, name-defined]  # evaluate need not be there
    """Scores answers; `evaluate.load(METRIC, suite=...)` makes it.

    Args:
        suite: What `Suite.load` takes.
        others: What every metric takes.

    Example:
        >>> import evaluate
        >>> from pfgen_fast.integrations.evaluate import METRIC
        >>> metric = evaluate.load(METRIC, suite="mini")
        >>> metric.compute(predictions=["Ice floats."], references=["Q07"])["average"]
        0.02259
    """

    def __init__(self, suite: str = "mini", **others: Any) -> None:
        self._spec = pfgen_fast.ScorerSpec(suite)
        super().__init__(**others)

    def _info(self) -> Any:
        texts = datasets.Features({"predictions": datasets.Value("string"), "references": datasets.Value("string")})
        return evaluate.MetricInfo(
            description=_DESCRIPTION, citation="", inputs_description=_INPUTS, features=texts, format="arrow"
        )

    def _compute(
        self, predictions: Sequence[str], references: Sequence[str], per_answer: bool = False
    ) -> dict[str, Any]:
        table = self._spec.scorer.score(references, predictions)
        scores = {name: table[name].tolist() if per_answer else float(table[name].mean()) for name in _SCORES}
        return {**scores, "signature": table.signature}
