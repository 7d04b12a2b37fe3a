"""Tasks for lm-evaluation-harness: `pfgen` for base models, `pfgen_qa` and `pfgen_chat` for chat models.

The harness finds them with `--include_path "$(python -m pfgen_fast.integrations.lm_eval)"`. `ReferenceMetrics` is for
tasks whose documents contain references.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...base.errors import TrialsError
from ...rewards.references.reference_scorer import ReferenceScorer

TASKS = Path(__file__).parent
"""The directory of the tasks, for the option `--include_path` of the harness."""


class ReferenceMetrics:
    """Scores the answer to a document with the references in it; for `process_results` of a task.

    The functions of `metric_list` get one reference at a time, and their values are reduced to 0 or 1; this function
    gets all references of a document.

    Args:
        metrics: The metrics, such as `["bleu", "chrf"]`, or a `ReferenceScorer`; the entries of `metric_list` have the
            names of its columns.
        references: The key of the references in a document: a list of texts, or a text.

    Example:
        >>> process_results = ReferenceMetrics(["chrf", "exact_match"], references="answers")
        >>> process_results({"question": "Does ice float?", "answers": ["Yes.", "It floats."]}, ["Yes."])
        {'chrf': 100.0, 'exact_match': 1.0}
    """

    def __init__(self, metrics: Sequence[str] | ReferenceScorer, *, references: str = "references") -> None:
        self.scorer = metrics if isinstance(metrics, ReferenceScorer) else ReferenceScorer(metrics, threads=1)
        self.references = references

    def __call__(self, document: dict[str, Any], results: Sequence[str]) -> dict[str, float]:
        """The metrics of an answer, which is the first of the results."""
        references = document.get(self.references)
        if not isinstance(references, str | Sequence):
            problem = f"expected a list of texts, got {type(references).__name__}"
            raise TrialsError(f"a document of the task, key {self.references!r}: {problem}")
        table = self.scorer.score([results[0]], [[references] if isinstance(references, str) else list(references)])
        return {name: float(table[name][0]) for name in self.scorer.columns}
