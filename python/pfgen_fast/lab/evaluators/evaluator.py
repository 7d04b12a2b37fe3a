"""The protocol `Evaluator` for everything that scores texts, such as n-gram scores or a judge.

A score depends only on the item, the text and the evaluator's signature. Other texts in a call do not affect it. The
scores of every evaluator are checked: a value that is not a number, not finite, larger than `LARGEST` or outside of the
metric's scale becomes NaN, which means that the score is missing. A wrong number of values is an error.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from numbers import Complex, Real
from typing import Any, Protocol, SupportsFloat

import numpy as np

from ...base.arrays import Floats
from ...base.errors import DiscernmentError, PfgenError
from ...base.native import _core, worded
from ...base.untrusted_text import in_one_line, nearest_names, unknown_name

Texts = _core.TextColumn | Sequence[str | None]
"""The texts that our evaluators take; a user's evaluator always gets a column."""


@dataclass(frozen=True)
class Metric:
    """One score of an evaluator.

    Attributes:
        name: The metric's name, which is its key in the result of `score`.
        higher_is_better: Whether higher values are better.
        low: The lower bound; None without a bound.
        high: The upper bound; None without a bound.
        combined: Whether the metric is used when metrics are combined into one; False for a mean of other metrics.
    """

    name: str
    higher_is_better: bool = True
    low: float | None = None
    high: float | None = None
    combined: bool = True


@dataclass(frozen=True)
class Item:
    """A text with its context.

    Attributes:
        id: Unique within a collection.
        text: The text itself. An evaluator may be called with a variant of it.
        task: The kind of text: `answers`, `summarization` or any other name.
        language: `ja` or `en`; None if unknown.
        question: The question that the text answers, by ID or text.
        context: A text that an evaluator sees together with the text, such as the source of a summary.
        references: Good texts, with which the text can be compared.
    """

    id: str
    text: str
    task: str
    language: str | None = None
    question: str | None = None
    context: str | None = None
    references: tuple[str, ...] = ()


class Evaluator(Protocol):
    """Scores texts.

    Two further members are optional:

    * `again()`: Returns an evaluator that scores all texts again, without stored scores and, if possible, with other
      seeds. Without this member, the evaluator itself is called again.
    * `notes_on(items)`: Returns notes for readers of the scores of these items, one sentence each.
    """

    @property
    def name(self) -> str:
        """The evaluator's name."""

    @property
    def signature(self) -> str:
        """Everything that affects scores besides item and text. Equal signatures mean equal scores."""

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics that `score` returns."""

    def score(self, items: Sequence[Item], texts: _core.TextColumn) -> Mapping[str, Floats]:
        """Scores a batch of texts.

        Args:
            items: One item for each text.
            texts: The texts to score, `texts[i]` instead of `items[i].text`. A null gets no score.

        Returns:
            For each metric, one float per text; NaN for a missing score.
        """


def text_column(texts: Any) -> _core.TextColumn:
    """Creates a column of texts, possibly with nulls; takes the same types as the answers of `Scorer.score`."""
    with worded():
        return _core.TextColumn(texts, "texts", True)


def column_of(items: Sequence[Item], texts: Texts) -> _core.TextColumn:
    """The texts as a column; raises ValueError unless there is exactly one text for each item."""
    column = texts if isinstance(texts, _core.TextColumn) else text_column(texts)
    if len(items) != len(column):
        raise ValueError(f"{len(items)} items for {len(column)} texts; expected one text for each item")
    return column


LARGEST = 1e100
"""The largest absolute value of a score. Sums, differences and squares of such scores are finite numbers."""


def valid_scores(evaluator: Evaluator, items: Sequence[Item], texts: _core.TextColumn) -> dict[str, Floats]:
    """Calls an evaluator and checks its result."""
    texts = column_of(items, texts)
    where = f"evaluator {in_one_line(evaluator.name, 200)}"
    try:
        returned = evaluator.score(items, texts)
    except PfgenError:
        raise
    except Exception as error:
        raise DiscernmentError(f"{where}: raised {raised(error)}") from error
    try:
        columns = checked_columns(returned, len(texts))
    except DiscernmentError as problem:
        raise DiscernmentError(f"{where}: {problem}") from None
    for name in columns:
        if name not in {metric.name for metric in evaluator.metrics}:
            names = [metric.name for metric in evaluator.metrics]
            raise DiscernmentError(f"{where}: returned an {unknown_name('metric', name, names)}")
    scores = {}
    for metric in evaluator.metrics:
        if metric.name not in columns:
            raise DiscernmentError(f"{where}: returned no scores of the metric {in_one_line(metric.name)}")
        scores[metric.name] = on_scale(metric, columns[metric.name])
    return scores


def checked_columns(returned: Any, n_texts: int) -> dict[str, Floats]:
    """The scores by metric in the result of an evaluator; NaN for invalid values."""
    if not isinstance(returned, Mapping):
        raise DiscernmentError(f"returned {type(returned).__name__}; expected a sequence of scores by metric")
    columns = {}
    for name, column in returned.items():
        if not isinstance(name, str) or not name:
            raise DiscernmentError(f"returned scores of {in_one_line(repr(name))}; expected a metric's name")
        if isinstance(column, str | bytes | Mapping) or not (
            hasattr(column, "__len__") and hasattr(column, "__iter__")
        ):
            what = f"{type(column).__name__} as scores of the metric {in_one_line(name)}"
            raise DiscernmentError(f"returned {what}; expected a sequence of numbers")
        if len(column) != n_texts:
            what = f"{len(column):,} scores of the metric {in_one_line(name)} for {n_texts:,} texts"
            raise DiscernmentError(f"returned {what}; expected one score for each text")
        if isinstance(column, np.ndarray) and column.dtype == np.float64 and column.ndim == 1:
            # As a whole, because our own evaluators have millions of scores.
            columns[name] = np.where(np.isfinite(column), column, np.nan)
        else:
            columns[name] = np.array([score_of(value) for value in column], dtype=np.float64)
    return columns


def score_of(value: Any) -> float:
    """A value as a score; NaN if it is not a finite number."""
    if type(value) is float:
        return value if math.isfinite(value) else math.nan
    is_number = isinstance(value, Real) or (
        # Scalars of tensors are numbers although their class is not a number; an array with one entry is not a number.
        isinstance(value, SupportsFloat) and not isinstance(value, Complex) and getattr(value, "ndim", 0) == 0
    )
    if not is_number:
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def on_scale(metric: Metric, scores: Floats) -> Floats:
    """The scores, with NaN for values above `LARGEST` or outside of the metric's scale."""
    low = -LARGEST if metric.low is None else max(metric.low, -LARGEST)
    high = LARGEST if metric.high is None else min(metric.high, LARGEST)
    with np.errstate(invalid="ignore"):
        is_valid = (scores >= low) & (scores <= high)
    return np.where(is_valid, scores, np.nan)


def turned(metrics: Iterable[Metric], lower_is_better: Collection[str], where: str) -> tuple[Metric, ...]:
    """The metrics; for the named metrics, lower values are better."""
    known = tuple(metrics)
    for name in lower_is_better:
        if name not in {metric.name for metric in known}:
            raise DiscernmentError(f"{where}: {unknown_name('metric', name, [metric.name for metric in known])}")
    return tuple(
        replace(metric, higher_is_better=False) if metric.name in lower_is_better else metric for metric in known
    )


def raised(error: BaseException) -> str:
    """The type and the message of an exception, in one short line."""
    message = in_one_line(error, 200)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


_OPENERS: Mapping[str, tuple[str, str]] = {
    "ngram": (".ngram_evaluator", "open_ngram"),
    "metrics": (".ngram_evaluator", "MetricsEvaluator"),
    "judge": (".judge_evaluator", "open_judge"),
    "checklists:SUITE": ("..checklists.checklist_evaluator", "open_checklists"),
    "python:MODULE:FUNCTION": (".function_evaluator", "open_function"),
    "command:PROGRAM ...": (".command_evaluator", "CommandEvaluator"),
    "table:FILE": (".table_evaluator", "TableScores"),
}
"""Module and name of the function or class that opens each kind; imported on demand."""


def open_evaluator(what: str, **options: Any) -> Any:
    """Opens an evaluator, or a table of scores, by its name on the command line, such as `ngram` or `table:FILE`.

    The options are those of the function or class that opens the kind.
    """
    kind, colon, rest = what.partition(":")
    spellings = {spelling.partition(":")[0]: spelling for spelling in _OPENERS}
    if kind not in spellings or bool(colon) != (":" in spellings[kind]) or (colon and not rest.strip()):
        nearest = [spellings[spelling] for spelling in nearest_names(kind, spellings)]
        raise DiscernmentError(unknown_name("evaluator", what, _OPENERS, nearest=nearest))
    module, name = _OPENERS[spellings[kind]]
    return getattr(import_module(module, __package__), name)(*([rest] if colon else []), **options)
