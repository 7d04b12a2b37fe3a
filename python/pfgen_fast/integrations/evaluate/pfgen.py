"""The metric. `evaluate` copies this file and runs the copy, so the file has no relative imports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pfgen_fast
from pfgen_fast.files.optional import optional
from pfgen_fast.suite.rules import AVERAGE_FIRST

evaluate = optional("evaluate", extra="evaluate", needed_for="the metric for evaluate")
datasets = optional("datasets", extra="evaluate", needed_for="the metric for evaluate")

_DESCRIPTION = "Fluency, truthfulness and helpfulness of free-form answers from reference n-grams."
_INPUTS = """
Args:
    predictions: The answers.
    references: The id or exact text of the question of each answer; the reference answers are in the suite.
    per_answer: Whether to return the scores of each answer, in lists, instead of their means.

Returns:
    `average`, `fluency`, `truthfulness`, `helpfulness`, and the `signature` of the scores.
"""


class Pfgen(evaluate.Metric):  # type: ignore[misc, name-defined]  # evaluate is optional
    """Scores answers; load it with `evaluate.load(METRIC, suite=...)`.

    Args:
        suite: An argument of `Suite.load`.
        others: The arguments of every metric.

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
        scores = {name: table[name].tolist() if per_answer else float(table[name].mean()) for name in AVERAGE_FIRST}
        return {**scores, "signature": table.signature}
