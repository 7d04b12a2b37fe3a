"""The reference metrics. `evaluate` copies this file and runs the copy, so the file has no relative imports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pfgen_fast.files.optional import optional
from pfgen_fast.references.reference_scorer import ReferenceScorer

evaluate = optional("evaluate", extra="evaluate", needed_for="the metric for evaluate")
datasets = optional("datasets", extra="evaluate", needed_for="the metric for evaluate")

_DESCRIPTION = "BLEU, chrF, ROUGE and other metrics that compare answers with references."
_INPUTS = """
Args:
    predictions: The answers.
    references: The references of each answer: a list of texts, or a text.
    per_answer: Whether to return the values of each answer, in lists, instead of their means.

Returns:
    The columns of the metrics, `corpus_bleu` if it is one of them, and the `signature` of the values.
"""


class References(evaluate.Metric):  # type: ignore[misc, name-defined]  # evaluate is optional
    """Compares answers with references; load it with `evaluate.load(REFERENCE_METRICS, metrics=[...])`.

    Args:
        metrics: The metrics, such as `["bleu", "chrf"]`.
        tokenize: See `ReferenceScorer`.
        lowercase: See `ReferenceScorer`.
        others: The arguments of every metric.

    Example:
        >>> import evaluate
        >>> from pfgen_fast.integrations.evaluate import REFERENCE_METRICS
        >>> metric = evaluate.load(REFERENCE_METRICS, metrics=["chrf", "exact_match"])
        >>> metric.compute(predictions=["It floats."], references=[["Ice floats.", "It floats."]])["chrf"]
        100.0
    """

    def __init__(
        self,
        metrics: Sequence[str] = ("bleu", "chrf"),
        tokenize: str | None = None,
        lowercase: bool = False,
        **others: Any,
    ) -> None:
        self._scorer = ReferenceScorer(metrics, tokenize=tokenize, lowercase=lowercase)
        super().__init__(**others)

    def _info(self) -> Any:
        text = datasets.Value("string")
        kinds = (datasets.Sequence(text), text)
        features = [datasets.Features({"predictions": text, "references": kind}) for kind in kinds]
        return evaluate.MetricInfo(description=_DESCRIPTION, citation="", inputs_description=_INPUTS, features=features)

    def _compute(
        self, predictions: Sequence[str], references: Sequence[Any], per_answer: bool = False
    ) -> dict[str, Any]:
        listed = [[given] if isinstance(given, str) else list(given) for given in references]
        table = self._scorer.score(predictions, listed)
        columns = {name: table[name] for name in self._scorer.columns}
        found = {name: column.tolist() if per_answer else float(column.mean()) for name, column in columns.items()}
        if "corpus_bleu" in self._scorer.metrics:
            found["corpus_bleu"] = table.corpus_bleu
        return {**found, "signature": self._scorer.signature}
