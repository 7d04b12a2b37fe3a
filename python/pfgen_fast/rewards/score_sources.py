"""The scores that a reward shapes, of a suite or of references in the rows, and the batch that its parts see."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, count, pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Floats
from ..base.errors import RewardError, TrialsError
from ..base.native import _core, cached_property, checked_threads, default_threads, worded
from ..base.untrusted_text import shown_value, unknown_name
from ..scoring.scorer import Scorer, ScorerSpec
from ..suite.questions import Question, some_references
from ..suite.rules import COLUMNS, PARTS, SCORES, Profile, column_of
from ..suite.suite import Suite
from .references.reference_lists import A_NULL, read_lists
from .references.reference_scorer import ReferenceScorer

if TYPE_CHECKING:
    from .answer_spans import SpanFinder

Rows = NDArray[np.int32]
Count = Callable[..., Floats]
_MOST_COUNTED = 2**31 - 1
CHARACTERS_OF_END = 10_000  # as in the core


class TextGroups:
    """Groups of texts: the reference answers of a question or a row, or a prompt.

    Group g has the texts from `begins[g]` up to `begins[g + 1]`. What is computed from the groups is kept, so the
    reference answers of a suite are prepared once.
    """

    def __init__(self, texts: _core.TextColumn, begins: NDArray[Any]) -> None:
        self.texts, self.begins = texts, begins.astype(np.int64)
        self._sources: dict[int, _core.CopySources] = {}
        self._medians: dict[Count, tuple[Floats, float]] = {}

    def median_lengths(self, count: Count) -> tuple[Floats, float]:
        """The median length of the texts of each group, at least 1, and the largest; NaN for a group without texts."""
        if count not in self._medians:
            parts = np.split(count(self.texts, default_threads()), self.begins[1:-1])
            medians = np.array([max(median(part), 1.0) if part else np.nan for part in map(np.ndarray.tolist, parts)])
            self._medians[count] = medians, float(medians.max(initial=1))  # NaN if one of them is NaN
        return self._medians[count]

    def copied_shares(self, answers: _core.TextColumn, groups: Rows, run: int, n_threads: int) -> Floats:
        """The share of each answer that is copied in runs of at least `run` characters from one text of its group."""
        sources = self._sources.get(run)
        if sources is None:  # two threads may both make it
            sources = self._sources.setdefault(run, _core.CopySources(self.texts, self.begins[1:], run))
        return sources.copied_shares(answers, groups, n_threads)


@dataclass
class Batch:
    """A batch of answers; each figure is computed once."""

    answers: _core.TextColumn
    prompts: Any = None
    finished: Any = None
    n_tokens: Any = None
    groups: Any = None
    references: Callable[[], tuple[TextGroups, Rows]] | None = None  # the groups, and the group of each row
    reference_means: Callable[[], Floats] | None = None  # the mean score of the references of each row
    n_threads: int = 0
    has_parts: bool = True  # whether the parts of a score are wanted, too

    def __post_init__(self) -> None:
        self.n_threads = self.n_threads or default_threads()
        if not len(self.answers):  # without answers nothing is missing
            self.prompts = [] if self.prompts is None else self.prompts
            self.n_tokens = [] if self.n_tokens is None else self.n_tokens
            self.groups = [] if self.groups is None else self.groups
        for name in ("prompts", "finished", "n_tokens", "groups"):
            values = getattr(self, name)
            if values is None:
                continue
            if isinstance(values, str) or not hasattr(values, "__len__"):
                raise TrialsError(f"{name}: expected one value for each answer, not one {type(values).__name__}")
            if len(values) != len(self.answers):
                problem = f"{len(values)} {name} for {len(self.answers)} answers; expected one for each answer"
                raise TrialsError(problem)
        if self.finished is not None:
            self.finished = np.asarray(self.finished)
            if self.finished.ndim != 1 or (self.finished.dtype != np.bool_ and len(self.finished)):
                raise TrialsError("finished: expected True or False for each answer")
        if self.n_tokens is not None:
            try:
                self.n_tokens = np.asarray(self.n_tokens, dtype=np.float64)
            except (TypeError, ValueError):
                self.n_tokens = np.zeros((0, 0))
            if self.n_tokens.ndim != 1:
                raise TrialsError("n_tokens: expected a number for each answer")
            is_valid = np.isfinite(self.n_tokens) & (self.n_tokens >= 0)
            if not is_valid.all():
                row = int(is_valid.argmin())
                problem = f"expected a number of at least 0, not {self.n_tokens[row]:g}"
                raise TrialsError(problem, column="n_tokens", row=row)

    def lengths(self, unit: str, most: float, *, has_punctuation: bool) -> Floats:
        """The lengths of the answers in a unit of `parts.UNITS`; NaN for a missing answer.

        An answer is read only as far as its length may be below `most`, so larger lengths are not exact. Without
        punctuation, only characters that profile `normalised` reads count.
        """
        if unit == "tokens":
            if self.n_tokens is None:
                raise missing("n_tokens", "lengths in tokens")
            return self.n_tokens  # type: ignore[no-any-return]
        count = _core.count_code_points if has_punctuation else _core.count_units
        if unit == "references":
            groups, rows = self.reference_groups
            medians, largest = groups.median_lengths(count)
            most *= largest
        with worded():
            lengths = count(self.answers, self.n_threads, int(most) + 2 if most < _MOST_COUNTED - 2 else _MOST_COUNTED)
        if unit == "references":
            lengths = lengths / (largest if len(medians) == 1 else medians[rows])
        return lengths

    @cached_property
    def reference_groups(self) -> tuple[TextGroups, Rows]:
        """The groups of reference answers, and the group of each row."""
        if self.references is None:
            raise missing("references", "the shape")
        return self.references()

    @cached_property
    def prompt_groups(self) -> tuple[TextGroups, Rows]:
        """A group for each different prompt, and the group of each row."""
        if self.prompts is None:
            raise missing("prompts", "the part copying")
        with worded():
            prompts = _core.TextColumn(self.prompts, "prompts", False).tolist()
        numbers: defaultdict[str, int] = defaultdict(count().__next__)  # equal prompts are prepared once
        rows = np.array(list(map(numbers.__getitem__, prompts)), dtype=np.int32)
        return TextGroups(_core.TextColumn(list(numbers), "prompts"), np.arange(len(numbers) + 1)), rows

    def rows_of_groups(self, part: str) -> list[NDArray[np.intp]]:
        """The rows of each group; `part` is the part that needs them."""
        if self.groups is None:
            raise missing("groups", f"the part {part}")
        rows: defaultdict[Any, list[int]] = defaultdict(list)
        read = getattr(self.groups, "to_pylist", None) or getattr(self.groups, "tolist", None)
        for row, group in enumerate(read() if read else self.groups):
            if not isinstance(group, (str, int)):
                raise TrialsError(f"expected a text or an integer, got {shown_value(group)}", column="groups", row=row)
            rows[group].append(row)
        for group, (first, *others) in rows.items():
            if not others:
                problem = f"the group {shown_value(group)} has one answer; the part {part} needs at least two"
                raise TrialsError(problem, column="groups", row=first)
        return list(map(np.array, rows.values()))


def batch_of_texts(answers: Any, **known: Any) -> Batch:
    """A batch of these texts, for a part that is called alone."""
    with worded():
        return Batch(_core.TextColumn(answers, "answers", False), **known)


def missing(name: str, needed_for: str) -> RewardError:
    """The error about a column that a part needs."""
    return RewardError(f"{name} are missing; {needed_for} needs them for each answer")


class SuiteSource:
    """The score of a suite, or one of its parts."""

    def __init__(self, scorer: Scorer | ScorerSpec, metric: str | None) -> None:
        self.metric = metric or "score"
        if self.metric not in SCORES:
            raise RewardError(unknown_name("metric", self.metric, SCORES))
        self._given = scorer
        self._groups_of: dict[str, TextGroups] = {}  # by question

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
        batch.references = partial(self._references, questions, len(batch.answers))  # no cycle: faster than a closure
        batch.reference_means = partial(self._means_of, questions, len(batch.answers))
        if self.metric == "score" and not batch.has_parts:
            return {"score": self.scorer.reward(questions, batch.answers)}
        scores, _ = self.scorer.score(questions, batch.answers, nulls="null").part
        names = {**dict(zip(PARTS, PARTS, strict=True)), "score": column_of(self.metric)}
        return {name: scores.column(COLUMNS.index(column)) for name, column in names.items()}

    def _references(self, questions: Any, n_rows: int) -> tuple[TextGroups, Rows]:
        """The reference answers; if the batch has one question, those of the others are not read."""
        keys = [questions] if isinstance(questions, str) else _core.TextColumn(questions, "questions").tolist()
        if len(set(keys)) == 1:
            groups = self._groups_of.get(keys[0]) or self._read_groups([self.scorer.suite[keys[0]]])
            self._groups_of[keys[0]] = groups
            return groups, np.zeros(n_rows, np.int32)
        return self._groups, self._codes_of(questions, n_rows)

    def _codes_of(self, questions: Any, n_rows: int) -> Rows:
        """The number in the suite of the question of each row."""
        keys = [questions] * n_rows if isinstance(questions, str) else _core.TextColumn(questions, "questions").tolist()
        return np.fromiter(map(self._codes.__getitem__, keys), np.int32, n_rows)

    @cached_property
    def _codes(self) -> dict[str, int]:
        questions = enumerate(self.scorer.suite)
        return {key: code for code, question in questions for key in (question.question_id, question.question)}

    @cached_property
    def span_finder(self) -> SpanFinder:
        """Finds the spans of answers."""
        from .answer_spans import SpanFinder  # few programs need it, and workers must start quickly

        return SpanFinder(self.scorer)

    @cached_property
    def _groups(self) -> TextGroups:
        return self._read_groups(self.scorer.suite)

    @staticmethod
    def _read_groups(questions: Iterable[Question]) -> TextGroups:
        groups = [[text for texts in question.answers.values() for text in texts] for question in questions]
        texts = _core.TextColumn([text for group in groups for text in group], "references")
        return TextGroups(texts, np.array([0, *accumulate(map(len, groups))]))

    def _means_of(self, questions: Any, n_rows: int) -> Floats:
        codes = self._codes_of(questions, n_rows)
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
        self.signature = f"{reference_scorer.signature}|metric:{self.metric}"

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
