"""Our own scores as an evaluator: n-grams and keyword rules of a suite, with one call of the core for each batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from ...base.errors import TrialsError
from ...rewards.reward import Reward
from ...scoring.scorer import Scorer
from ...suite.questions import some_references
from ...suite.suite import Suite
from .evaluator import Floats, Item, Metric, Texts, column_of

_METRICS = (
    Metric("fluency", low=0.0),
    # There is no upper bound, because the sum of six rounded shares may be 1.000002.
    Metric("truthfulness", low=0.0),
    Metric("helpfulness", low=0.0, high=1.0),
    Metric("average", low=0.0, combined=False),
)


class NgramEvaluator:
    """Scores texts as answers to the questions of a suite; with a reward, also by the metric `reward`.

    The reward must have the same suite, and may have another profile. It gets no prompts, and all texts count as
    finished.

    Example:
        >>> from pfgen_fast.lab.evaluators.evaluator import text_column
        >>> evaluator = NgramEvaluator(Scorer("mini"))
        >>> item = Item("1", "Ice floats because it is less dense than water.", "answers", question="Q07")
        >>> scores = evaluator.score([item, item], text_column([item.text, None]))
        >>> scores["average"].round(2).tolist()
        [0.35, nan]
    """

    name = "ngram"
    is_deterministic = True

    def __init__(self, scorer: Scorer, reward: Reward | None = None) -> None:
        self._scorer, self._reward = scorer, reward
        self.metrics = _METRICS if reward is None else (*_METRICS, Metric("reward", combined=False))

    @property
    def suite(self) -> Suite:
        """The suite whose questions the texts answer."""
        return self._scorer.suite

    @property
    def signature(self) -> str:
        """The signature of the scorer, and of the reward."""
        return self._scorer.signature + (f"|reward:{self._reward.signature}" if self._reward else "")

    def score(self, items: Sequence[Item], texts: Texts) -> Mapping[str, Floats]:
        """Scores each text as an answer to the question of its item."""
        texts = column_of(items, texts)
        questions = _questions(items)
        table = self._scorer.score(questions, texts, nulls="null")
        scores = {metric.name: table[metric.name] for metric in _METRICS}
        return (
            scores if self._reward is None else {**scores, "reward": self._reward.details(questions, texts)["reward"]}
        )

    def reference_means(self, questions: Iterable[str]) -> dict[str, float]:
        """The mean scores of reference answers, for comparison with other answers; NaN without questions."""
        asked: list[str] = []
        answers: list[str] = []
        for question in questions:
            chosen = some_references(self.suite[question])
            asked += [question] * len(chosen)
            answers += chosen
        table = self._scorer.score(asked, answers)
        return {metric.name: float(table[metric.name].mean()) if asked else float("nan") for metric in _METRICS}


def _questions(items: Sequence[Item]) -> list[str]:
    questions = [item.question for item in items]
    if None in questions:
        item = items[questions.index(None)]
        raise TrialsError(f"item {item.id}: has no question, which the evaluator ngram needs")
    return cast("list[str]", questions)
