"""Checks the scores of every evaluator: an invalid value becomes NaN, which means that the score is missing.

A value is invalid if it is not a number, not finite, larger than `LARGEST`, or outside of the metric's scale. A wrong
number of values is an error, because it is unknown to which text each value belongs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Complex, Real
from typing import Any, SupportsFloat

import numpy as np

from ...base.errors import DiscernmentError, PfgenError
from ...base.native import _core
from ...base.untrusted_text import in_one_line, unknown_name
from .evaluator import Evaluator, Floats, Item, Metric, column_of

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
        columns[name] = _scores_of(column)
    return columns


def _scores_of(column: Any) -> Floats:
    """The scores of a sequence. An array is checked as a whole, because our own evaluators have millions of scores."""
    if isinstance(column, np.ndarray) and column.dtype == np.float64 and column.ndim == 1:
        return np.where(np.isfinite(column), column, np.nan)
    return np.array([score_of(value) for value in column], dtype=np.float64)


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
