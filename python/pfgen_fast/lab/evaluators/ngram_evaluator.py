"""Our own scores as evaluators: n-grams and keyword rules of a suite; BLEU, chrF and ROUGE-L against references.

Sentence BLEU (effective order, exponential smoothing) and chrF equal those of sacrebleu. ROUGE-L is the F1 of the
longest common subsequence, of code points in Japanese and of words in English; the highest value over the references
counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from ...base.arrays import Floats
from ...base.errors import DiscernmentError, TrialsError
from ...base.native import _core
from ...base.untrusted_text import in_one_line, unknown_name
from ...rewards.references.reference_scorer import ReferenceScorer
from ...rewards.reward import Reward, ShapeLike, shape_of
from ...scoring.scorer import Scorer
from ...suite.questions import language_of
from ...suite.suite import Suite
from .evaluator import Evaluator, Item, Metric, Texts, column_of

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


def _questions(items: Sequence[Item]) -> list[str]:
    questions = [item.question for item in items]
    if None in questions:
        item = items[questions.index(None)]
        raise TrialsError(f"item {item.id}: has no question, which the evaluator ngram needs")
    return cast("list[str]", questions)


_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_TOKENIZERS: Mapping[str, tuple[str, Callable[[str], list[str]]]] = {"ja": ("char", list), "en": ("13a", _WORD.findall)}
"""By language: the tokenizers of BLEU and chrF, and of ROUGE-L."""
_AT_ONCE_ROWS = 4096

References = tuple[str, list[str]]
"""A language and texts in it."""


@cache
def _scorers(language: str) -> tuple[ReferenceScorer, ReferenceScorer]:
    """The scorers of BLEU and chrF, and of ROUGE-L."""
    bleu, rouge_l = _TOKENIZERS[language]
    return ReferenceScorer(["bleu", "chrf"], tokenize=bleu), ReferenceScorer("rouge_l", tokenize=rouge_l)


class MetricsEvaluator:
    """Compares texts with the references of their items."""

    name = "metrics"
    metrics = (Metric("bleu", low=0, high=100), Metric("chrf", low=0, high=100), Metric("rouge_l", low=0, high=1))

    @property
    def signature(self) -> str:
        """The metrics, their settings and the version of this package."""
        return (
            f"metrics:bleu,chrf,rouge_l|pfgen-fast:{_core.__version__}|tokenize:ja=char,en=13a|effective_order"
            "|rouge_l:ja=code_points,en=words"
        )

    def check(self, items: Sequence[Item]) -> None:
        """Raises DiscernmentError unless each item has references that its text can be compared with."""
        for item in items:
            self._references(item)

    def score(self, items: Sequence[Item], texts: Texts) -> Mapping[str, Floats]:
        """Compares each text with the references of its item.

        Raises:
            DiscernmentError: An item has no references, an unknown language, or its text is one of its references.
        """
        texts = column_of(items, texts)
        columns = {metric.name: np.full(len(texts), np.nan) for metric in self.metrics}
        known = {id(item): self._references(item) for item in items}
        rows: dict[str, list[int]] = {language: [] for language in _TOKENIZERS}
        for row, (item, text) in enumerate(zip(items, texts.tolist(), strict=True)):
            if text is not None:
                rows[known[id(item)][0]].append(row)
        for language, own in rows.items():
            for begin in range(0, len(own), _AT_ONCE_ROWS):
                some = own[begin : begin + _AT_ONCE_ROWS]
                answers, references = [texts[row] for row in some], [known[id(items[row])][1] for row in some]
                scores = [scorer.score(answers, references) for scorer in _scorers(language)]
                for metric, table in zip(self.metrics, (scores[0], *scores), strict=True):
                    # sacrebleu's best score is slightly above 100, which is outside of the scale.
                    columns[metric.name][some] = np.clip(table[metric.name], None, metric.high)
        return columns

    def _references(self, item: Item) -> References:
        where = f"item {in_one_line(item.id)}"
        if not item.references:
            raise DiscernmentError(f"{where}: has no references, which the evaluator metrics needs")
        language = item.language or language_of(item.text)
        if language not in _TOKENIZERS:
            raise DiscernmentError(f"{where}: {unknown_name('language', language, _TOKENIZERS)}")
        if item.text.strip() in {reference.strip() for reference in item.references}:
            problem = "its text is one of its references, so that each damage lowers its scores"
            raise DiscernmentError(f"{where}: {problem}; expected other references")
        return language, list(item.references)


def open_ngram(suite: Suite | str | Path, shape: ShapeLike = None, **options: Any) -> Evaluator:
    """The n-gram scores of a suite, and with a shape the reward; the options are those of `Scorer`.

    Only the reward uses the profile of the shape, unless the options name a profile, which all metrics use.
    """
    scorer = Scorer(suite, **options)
    if shape is None:
        return NgramEvaluator(scorer)
    read = shape_of(shape)
    reward_scorer = scorer
    if "profile" not in options and read.profile not in (None, scorer.profile):
        reward_scorer = Scorer(scorer.suite, **{**options, "profile": read.profile, "index": None})
    return NgramEvaluator(scorer, Reward(reward_scorer, read))
