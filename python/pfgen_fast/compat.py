"""The scorer of pfgen-bench by its own names, for programs that have a copy of `pfgen_eval.py`.

Replace `from pfgen_eval import Scorer` with `from pfgen_fast.compat import Scorer`. The scores have the same keys and
values, bit for bit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from .base.errors import SuiteError
from .base.untrusted_text import shown_value
from .scoring import scorer as fast
from .suite.suite import Suite, parse_question
from .suite.suite_reading import OPTIONAL_KEYS


class Scorer:
    """Scores answers to one question.

    A question is prepared once in a process, so a `Scorer` for each answer costs microseconds, too.

    Args:
        data: The object in a question file: `answers`, `keywords`, and optionally `question_id` and `question`. Keys
            that no score depends on may be anything.
        fluency_n_gram: 10; upstream's other values have no counterpart.
        truthfulness_n_gram: 3.

    Raises:
        SuiteError: The question breaks the rules of docs/scoring.md, section 1.

    Example:
        >>> scorer = Scorer({"answers": {"A": ["Ice floats.", "It is light."]}, "keywords": [{"t": "light"}]})
        >>> scores = scorer.score("Ice is light.")
        >>> scores["average"], scores["helpfulness"], scores["helpfulness_results"]
        (0.97092, 1.0, [])
    """

    def __init__(self, data: Mapping[str, Any], *, fluency_n_gram: int = 10, truthfulness_n_gram: int = 3) -> None:
        if (fluency_n_gram, truthfulness_n_gram) != (10, 3):
            raise SuiteError(f"n-grams: expected the lengths 10 and 3, not {fluency_n_gram} and {truthfulness_n_gram}")
        if not isinstance(data, Mapping) or not isinstance(data.get("answers"), Mapping):
            raise SuiteError(f"data: expected a question with 'answers', not {shown_value(data)}")
        self.data = data
        names = [str(data.get(key) or "question") for key in ("question_id", "question")]
        answers = tuple((name, tuple(texts)) for name, texts in data["answers"].items())
        self._scorer = _scorer_of(*names, answers, json.dumps({key: data[key] for key in OPTIONAL_KEYS if key in data}))

    def score(self, answer: str) -> dict[str, Any]:
        """The scores of an answer; `fluency` and `truthfulness` are by reference set."""
        scores = self._scorer.score_one(self._scorer.suite.questions[0].question_id, answer)
        scores["helpfulness_results"] = list(map(tuple, scores["helpfulness_results"]))
        return scores

    def __reduce__(self) -> tuple[Any, ...]:
        return Scorer, (self.data,)


@lru_cache(maxsize=1024)
def _scorer_of(
    question_id: str, question: str, answers: tuple[tuple[str, tuple[str, ...]], ...], others: str
) -> fast.Scorer:
    source = {"question_id": question_id, "question": question, "answers": dict(answers)}
    content = json.dumps({**source, **json.loads(others)}).encode()
    return fast.Scorer(Suite("data", (parse_question(content, Path("data")),)), threads=1)
