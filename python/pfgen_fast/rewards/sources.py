"""Sources of a reward's scores: a suite, or reference answers in the rows."""

from __future__ import annotations

from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import RewardError, TrialsError
from ..base.native import _core
from ..base.threads import cached_property, checked_threads
from ..base.untrusted_text import unknown_name
from ..scoring.scorer import Scorer
from ..scoring.spec import ScorerSpec
from ..suite.questions import some_references
from ..suite.rules import PARTS, SCORES, Profile, column_of
from ..suite.suite import Suite
from .batch import Batch, Floats, Rows, TextGroups
from .references.reference_lists import A_NULL, read_lists
from .references.reference_scorer import ReferenceScorer


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
        """Identifies how the scores are computed."""
        metric = "" if self.metric == "score" else f"|metric:{self.metric}"
        return self._given.signature + metric

    @property
    def n_threads(self) -> int:
        """The number of threads."""
        return self.scorer._threads

    def score(self, questions: Any, batch: Batch, references: Any) -> dict[str, Floats]:
        """The columns of a batch, of which `score` is the score; completes the batch with references."""
        if references is not None:
            raise RewardError("references: the suite has the reference answers; expected none in the rows")
        table = self.scorer.score(questions, batch.answers, nulls="null")
        codes = table._codes
        batch.references = lambda: (self._groups, codes)
        batch.reference_means = partial(self._means_of, codes)
        return {**{name: table[name] for name in PARTS}, "score": table[column_of(self.metric)]}

    @cached_property
    def _groups(self) -> TextGroups:
        groups = [[text for texts in question.answers.values() for text in texts] for question in self.scorer.suite]
        texts = _core.TextColumn([text for group in groups for text in group], "references")
        return TextGroups(texts, np.array([0, *accumulate(map(len, groups))]))

    def _means_of(self, codes: Rows) -> Floats:
        means = self._means[codes]
        if len(means) and not means.min() > 0:
            question = self.scorer.suite.questions[codes[means.argmin()]].question_id
            raise RewardError(f"question {question}: the mean {self.metric} of its reference answers is 0")
        return means

    @cached_property
    def _means(self) -> Floats:
        """The mean score of some reference answers of each question."""
        means = []
        for question in self.scorer.suite:
            chosen = some_references(question)
            scores = self.scorer.score(question.question_id, chosen)[column_of(self.metric)]
            means.append(scores.mean() if chosen else 0.0)
        return np.array(means)


class ReferenceSource:
    """A column of a `ReferenceScorer`, which compares each answer with the references in its row."""

    scorer = None

    def __init__(self, reference_scorer: ReferenceScorer, metric: str | None) -> None:
        self._reference_scorer, columns = reference_scorer, reference_scorer.columns
        if metric is None and len(reference_scorer.metrics) != 1:
            raise RewardError(f"metric: expected one of {', '.join(columns)}")
        self.metric = columns[0] if metric is None and columns else metric or ""
        if self.metric not in columns:
            raise RewardError(unknown_name("metric", self.metric, columns))

    @property
    def signature(self) -> str:
        """Identifies how the scores are computed."""
        return f"{self._reference_scorer.signature}|metric:{self.metric}"

    @property
    def n_threads(self) -> int:
        """The number of threads."""
        return checked_threads(self._reference_scorer.threads)

    def score(self, questions: Any, batch: Batch, references: Any) -> dict[str, Floats]:
        """The columns of a batch, of which `score` is the score; completes the batch with references.

        An answer without n-grams has a share of 0 repeated or distinct n-grams, and a missing list is an error.
        """
        if references is None and not len(batch.answers):
            references = []
        values = self._reference_scorer.score(batch.answers, references, nulls="null")[self.metric]
        is_missing = np.isnan(values)
        if is_missing.any():
            is_missing &= [text is not None for text in batch.answers.tolist()]
            if self.metric.startswith(("rep_", "distinct_")):
                values[is_missing] = 0.0
            elif is_missing.any():
                raise TrialsError(A_NULL, column="references", row=int(is_missing.argmax()))

        def groups() -> tuple[TextGroups, Rows]:
            lists = read_lists(references, len(batch.answers), "error")
            return TextGroups(lists.texts, lists.begins), lists.numbers.astype(np.int32)

        if references is not None:
            batch.references = groups
            batch.reference_means = lambda: self._means_of(*groups())
        return {"score": values}

    def _means_of(self, groups: TextGroups, rows: Rows) -> Floats:
        """The mean score of the references of each row, each compared with the other references of the row."""
        texts, begins = groups.texts.tolist(), groups.begins
        if len(begins) > 1 and np.diff(begins).min() < 2:
            row = int(np.isin(rows, np.flatnonzero(np.diff(begins) < 2)).argmax())
            raise RewardError(f"references[{row}]: the part scale needs at least two references")
        others = [texts[begin:i] + texts[i + 1 : end] for begin, end in pairwise(begins) for i in range(begin, end)]
        scores = self._reference_scorer.score(groups.texts, others)[self.metric]
        means = (np.add.reduceat(scores, begins[:-1]) / np.diff(begins))[rows] if len(texts) else np.zeros(0)
        if len(means) and not means.min() > 0:
            raise RewardError(f"references[{means.argmin()}]: their mean {self.metric} is 0, so nothing can be scaled")
        return means


Source = SuiteSource | ReferenceSource
"""A source of scores."""


def source_of(source: Any, metric: str | None, profile: Profile | None) -> Source:
    """The source for the arguments of `Reward`; a suite is scored with this profile, or with the default profile."""
    if isinstance(source, (Suite, str, Path)):
        return SuiteSource(ScorerSpec(source, profile=profile or "leaderboard"), metric)
    if isinstance(source, (Scorer, ScorerSpec)):
        return SuiteSource(source, metric)
    if isinstance(source, ReferenceScorer):
        return ReferenceSource(source, metric)
    expected = "expected a suite, a Scorer, a ScorerSpec or a ReferenceScorer"
    raise RewardError(f"source: {expected}, not one {type(source).__name__}")
