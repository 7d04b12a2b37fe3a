"""Sources of a reward's scores: a suite, or reference answers in the rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import RewardError
from ..files.untrusted_text import unknown_name
from ..native.threads import cached_property, default_threads
from ..scoring.scorer import Scorer
from ..scoring.spec import ScorerSpec
from ..suite.rules import SCORES, column_of
from ..suite.suite import Suite
from .batch import Batch, Floats, TextGroups, grouped

_OF_A_SET = 20  # answers of each set are scored for the mean score of the reference answers of a question


class Source(Protocol):
    """A source of scores."""

    metric: str

    @property
    def signature(self) -> str:
        """Identifies how the scores are computed."""

    @property
    def n_threads(self) -> int:
        """The number of threads."""

    def score(self, questions: Any, batch: Batch, references: Any) -> Floats:
        """Scores a batch, and completes it with references."""


class SuiteSource:
    """The score of a suite, or one of its parts."""

    def __init__(self, scorer: Scorer | ScorerSpec, metric: str | None) -> None:
        self.metric = metric or "score"
        if self.metric not in SCORES:
            raise RewardError(unknown_name("metric", self.metric, SCORES))
        self._given = scorer

    def __reduce__(self) -> tuple[Any, ...]:
        return SuiteSource, (self._given, self.metric)

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer of this process."""
        return self._given if isinstance(self._given, Scorer) else self._given.scorer

    @property
    def signature(self) -> str:
        """See `Source`."""
        return f"{self._given.signature}|metric:{self.metric}"

    @property
    def n_threads(self) -> int:
        """See `Source`."""
        return self.scorer._threads

    def score(self, questions: Any, batch: Batch, references: Any) -> Floats:
        """See `Source`."""
        if references is not None:
            raise RewardError("references: the suite has the reference answers; expected none in the rows")
        table = self.scorer.score(questions, batch.answers, nulls="null")
        codes = table._codes
        batch.references = self._groups, codes
        batch.reference_means = partial(self._means_of, codes)
        return table[column_of(self.metric)]

    @cached_property
    def _groups(self) -> TextGroups:
        suite = self.scorer.suite
        return TextGroups([[text for texts in one.answers.values() for text in texts] for one in suite])

    def _means_of(self, codes: NDArray[np.int32]) -> Floats:
        means = self._means[codes]
        if len(means) and not means.min() > 0:
            question = self.scorer.suite.questions[codes[means.argmin()]].question_id
            raise RewardError(f"question {question}: the mean {self.metric} of its reference answers is 0")
        return means

    @cached_property
    def _means(self) -> Floats:
        """The mean score of some reference answers of each question."""
        asked, answers, n_answers = [], [], []
        for question in self.scorer.suite:
            chosen = [text for texts in question.answers.values() for text in texts[:: -(-len(texts) // _OF_A_SET)]]
            asked += [question.question_id] * len(chosen)
            answers += chosen
            n_answers.append(len(chosen))
        scores = self.scorer.score(asked, answers)[column_of(self.metric)]
        return _means_of_parts(scores, n_answers)


class ReferenceSource:
    """A metric of a `ReferenceScorer`, which compares each answer with the references in its row."""

    def __init__(self, scorer: Any, metric: str | None) -> None:
        self._scorer = scorer
        names = tuple(scorer.metrics)
        if metric is None and len(names) != 1:
            raise RewardError(f"metric: expected one of {', '.join(names)}")
        self.metric = names[0] if metric is None else metric
        if self.metric not in names:
            raise RewardError(unknown_name("metric", metric, names))

    @property
    def signature(self) -> str:
        """See `Source`."""
        return f"{self._scorer.signature}|metric:{self.metric}"

    @property
    def n_threads(self) -> int:
        """See `Source`."""
        return getattr(self._scorer, "threads", None) or default_threads()

    def score(self, questions: Any, batch: Batch, references: Any) -> Floats:
        """See `Source`."""
        if references is None:
            raise RewardError(f"references are missing; the metric {self.metric} needs a list for each answer")
        values = self._values(batch.answers, references)
        batch.references = lists, rows = grouped_references(references, len(batch.answers))
        batch.reference_means = lambda: self._means(lists)[rows]
        return values

    def _values(self, answers: Any, references: Any) -> Floats:
        return np.asarray(self._scorer.score(answers, references)[self.metric], dtype=np.float64)

    def _means(self, lists: TextGroups) -> Floats:
        """The mean score of the references of each list, each compared with the others of its list."""
        answers: list[str] = []
        others: list[list[str]] = []
        for texts in lists.groups:
            if len(texts) < 2:
                raise RewardError(f"references: the part scale needs at least two for each answer, not {len(texts)}")
            answers.extend(texts)
            others += [[*texts[:i], *texts[i + 1 :]] for i in range(len(texts))]
        means = _means_of_parts(self._values(answers, others), list(map(len, lists.groups)))
        if not (means > 0).all():
            raise RewardError(f"references: the mean {self.metric} of a list is 0 when its texts are compared")
        return means


def grouped_references(references: Any, n_answers: int) -> tuple[TextGroups, NDArray[np.int32]]:
    """The distinct lists of references, and the number of the list of each row."""
    lists = references.to_pylist() if hasattr(references, "to_pylist") else list(references)
    if len(lists) != n_answers:
        raise RewardError(f"{len(lists)} references for {n_answers} answers; expected a list for each answer")
    for row, texts in enumerate(lists):
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise RewardError(f"references[{row}]: expected a list of texts")
    return grouped(lists)


def _means_of_parts(values: Floats, n_values: Sequence[int]) -> Floats:
    """The mean of each part of an array; the parts have these numbers of values, of at least 1."""
    if not len(n_values):
        return np.zeros(0)
    begins = np.cumsum([0, *n_values[:-1]])
    return np.add.reduceat(values, begins) / np.array(n_values)


def source_of(source: Any, metric: str | None) -> Source:
    """The source for the arguments of `Reward`."""
    if isinstance(source, (Suite, str, Path)):
        return SuiteSource(ScorerSpec(source), metric)
    if isinstance(source, (Scorer, ScorerSpec)):
        return SuiteSource(source, metric)
    if hasattr(source, "score") and hasattr(source, "metrics"):
        return ReferenceSource(source, metric)
    raise RewardError(f"source: expected a suite, a Scorer, a ScorerSpec or a ReferenceScorer, not {source!r}")
