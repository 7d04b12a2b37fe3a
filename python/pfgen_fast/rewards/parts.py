"""The parts of a shape. Most parts multiply each reward by a factor from 0 to 1, and never raise a reward.

`Reward` calls `_shaped` with a batch. A part can also be called alone, with arrays or texts.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from ..base.arrays import Floats
from ..base.errors import RewardError
from ..base.native import _core, worded
from ..base.untrusted_text import shown_value, unknown_name
from .references.reference_lists import read_lists
from .score_sources import Batch, TextGroups, batch_of_texts, missing

Unit = Literal["characters", "tokens", "references"]
UNITS = ("characters", "tokens", "references")
SOURCES = ("prompts", "references")
_LARGEST_COUNT = 1_000_000


_CHOICES = {"unit": UNITS, "source": SOURCES, "to": ("references",), "how": ("z_score", "rank")}


class Part(ABC):
    """A part of a shape, a dataclass of its settings; `name` is its name in files and columns."""

    name: ClassVar[str]
    bounds: ClassVar[tuple[float, float]] = (-math.inf, math.inf)  # of its numbers
    rising: ClassVar[tuple[str, str] | None] = None  # two numbers, of which the first must be the lower one

    def __post_init__(self) -> None:
        for setting in fields(self):  # type: ignore[arg-type]  # all parts are dataclasses
            problem = self._problem(setting.name, str(setting.type), getattr(self, setting.name))
            if problem:
                raise RewardError(f"{self.name}: {problem}")
        if self.rising:
            (low, lower), (high, higher) = ((name, getattr(self, name)) for name in self.rising)
            if not lower < higher:
                raise RewardError(f"{self.name}: {low} {lower:g} and {high} {higher:g}: expected {low} below {high}")

    def _problem(self, name: str, kind: str, value: Any) -> str:
        """What is wrong with a setting; empty if it is valid."""
        low, high = self.bounds
        if name in _CHOICES:
            return "" if value in _CHOICES[name] else unknown_name(name, value, _CHOICES[name])
        if kind == "bool":
            is_valid, expected = isinstance(value, bool), "true or false"
        elif kind == "int":
            is_valid = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _LARGEST_COUNT
            expected = f"an integer from 1 to {_LARGEST_COUNT:,}"
        else:
            is_number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
            is_valid = is_number and low <= value <= high
            to = "" if low == -math.inf else f" from {low:g} on" if high == math.inf else f" from {low:g} to {high:g}"
            expected = f"a number{to}"
        return "" if is_valid else f"{name}: expected {expected}, not {shown_value(value)}"

    @abstractmethod
    def _shaped(self, rewards: Floats, batch: Batch) -> tuple[Floats, Floats]:
        """The column of this part in `details`, and the rewards after this part."""


class Factor(Part):
    """A part that multiplies rewards by factors, which are its column."""

    @abstractmethod
    def _factors(self, batch: Batch) -> Floats:
        """The factor of each answer, from 0 to 1."""

    def _shaped(self, rewards: Floats, batch: Batch) -> tuple[Floats, Floats]:
        factors = self._factors(batch)
        return factors, np.minimum(rewards, rewards * factors)  # does not raise a reward below 0


class Bound(Part):
    """A part that bounds rewards; its column has the bounded rewards."""

    @abstractmethod
    def __call__(self, rewards: Any) -> Floats:
        """The bounded rewards."""

    def _shaped(self, rewards: Floats, batch: Batch) -> tuple[Floats, Floats]:
        bounded = self(rewards)
        return bounded, bounded


@dataclass(frozen=True)
class Overlong(Factor):
    """A factor against long answers: 1 up to the length `soft`, then linearly down to 0 at the length `hard`.

    Args:
        soft: The length up to which an answer keeps its reward.
        hard: The length from which an answer gets no reward.
        unit: `"characters"`, `"tokens"` (needs `n_tokens`), or `"references"`: multiples of the median length of the
            reference answers of the question.
        minus: Whether to add 0 to -1 instead of multiplying by 1 to 0: the soft overlong punishment of DAPO.

    Raises:
        RewardError: A number or the unit is invalid.

    Example:
        >>> Overlong(100, 200)([50, 150, 250]).tolist()
        [1.0, 0.5, 0.0]
        >>> Overlong(100, 200, minus=True)([50, 150, 250]).tolist()
        [0.0, -0.5, -1.0]
    """

    name = "overlong"
    bounds = (0.0, math.inf)
    rising = ("soft", "hard")
    soft: float
    hard: float
    unit: Unit = "characters"
    minus: bool = False

    def __call__(self, lengths: Any) -> Floats:
        """The factors (with `minus`, the penalties) for these lengths."""
        factors = _falling(np.asarray(lengths, dtype=np.float64), self.soft, self.hard)
        return factors - 1.0 if self.minus else factors

    def _factors(self, batch: Batch) -> Floats:
        return self(batch.lengths(self.unit, self.hard, has_punctuation=True))

    def _shaped(self, rewards: Floats, batch: Batch) -> tuple[Floats, Floats]:
        factors, shaped = super()._shaped(rewards, batch)
        return (factors, rewards + factors) if self.minus else (factors, shaped)


@dataclass(frozen=True)
class TooShort(Factor):
    """A factor against short and cut answers: 1 from the length `soft` on, then linearly down to 0 at `hard`.

    Only characters that profile `normalised` reads count, so punctuation and white space do not lengthen an answer.

    Args:
        soft: The length from which on an answer keeps its reward.
        hard: The length up to which an answer gets no reward; below `soft`.
        unit: The unit of both; see `Overlong`.

    Raises:
        RewardError: A number or the unit is invalid.

    Example:
        >>> TooShort(80, 40)([100, 60, 10]).tolist()
        [1.0, 0.5, 0.0]
    """

    name = "too_short"
    bounds = (0.0, math.inf)
    rising = ("hard", "soft")
    soft: float
    hard: float
    unit: Unit = "characters"

    def __call__(self, lengths: Any) -> Floats:
        """The factors for these lengths."""
        return 1.0 - _falling(np.asarray(lengths, dtype=np.float64), self.hard, self.soft)

    def _factors(self, batch: Batch) -> Floats:
        return self(batch.lengths(self.unit, self.soft, has_punctuation=False))


@dataclass(frozen=True)
class Repetition(Factor):
    """A factor against repetition: 1 up to a share of repeated n-grams, then linearly down to 0 at `hard`.

    The share is 1 - different / all n-grams of the code points of the answer.
    Of an answer of more than 20,000 characters, only the first and the last 10,000 are read, joined.

    Args:
        n: The length of the n-grams.
        from_share: The share up to which an answer keeps its reward.
        hard: The share from which an answer gets no reward.

    Raises:
        RewardError: A number is invalid.

    Example:
        >>> Repetition(3, 0.2)(["It floats on water.", "It floats. It floats. It floats."]).round(2).tolist()
        [1.0, 0.46]
    """

    name = "repetition"
    bounds = (0.0, 1.0)
    rising = ("from_share", "hard")
    n: int
    from_share: float
    hard: float = 1.0

    def __call__(self, answers: Any) -> Floats:
        """The factors for these texts."""
        return self._factors(batch_of_texts(answers))

    def _factors(self, batch: Batch) -> Floats:
        with worded():
            shares = _core.repeated_shares(batch.answers, self.n, batch.n_threads)
        return _falling(shares, self.from_share, self.hard)


@dataclass(frozen=True)
class Copying(Factor):
    """A factor against copies: 1 up to a share of copied characters, then linearly down to 0 at `hard`.

    A character is copied if it lies in a run of at least `run` characters of the prompt, or of one reference answer;
    the reference answer with the most copied characters counts.
    Of an answer of more than 20,000 characters, only the first and the last 10,000 are read, joined.

    Args:
        run: The length of the shortest run that counts.
        from_share: The share up to which an answer keeps its reward.
        hard: The share from which an answer gets no reward.
        source: `"prompts"` (needs `prompts`) or `"references"`.

    Raises:
        RewardError: A number or the source is invalid.

    Example:
        >>> answers = ["Why does ice float? It is light.", "It is less dense."]
        >>> Copying(10, 0.25)(answers, ["Why does ice float?"] * 2).round(2).tolist()
        [0.54, 1.0]
    """

    name = "copying"
    bounds = (0.0, 1.0)
    rising = ("from_share", "hard")
    run: int
    from_share: float
    hard: float = 1.0
    source: Literal["prompts", "references"] = "prompts"

    def __call__(self, answers: Any, sources: Any) -> Floats:
        """The factors for these texts, with one prompt or one list of reference answers for each text."""
        if self.source == "prompts":
            return self._factors(batch_of_texts(answers, prompts=sources))
        lists = read_lists(sources, len(answers), "error")
        groups = TextGroups(lists.texts, lists.begins), lists.numbers.astype(np.int32)
        return self._factors(batch_of_texts(answers, references=lambda: groups))

    def _factors(self, batch: Batch) -> Floats:
        groups, rows = batch.prompt_groups if self.source == "prompts" else batch.reference_groups
        with worded():
            shares = groups.copied_shares(batch.answers, rows, self.run, batch.n_threads)
        return _falling(shares, self.from_share, self.hard)


@dataclass(frozen=True)
class Unfinished(Factor):
    """A factor for answers that did not end: at the limit of tokens, or within their reasoning.

    All answers count as finished if `Reward` is called without `finished`.

    Args:
        value: The factor of an unfinished answer, from 0 to 1.

    Raises:
        RewardError: The value is invalid.

    Example:
        >>> Unfinished()([True, False]).tolist()
        [1.0, 0.0]
    """

    name = "unfinished"
    bounds = (0.0, 1.0)
    value: float = 0.0

    def __call__(self, finished: Any) -> Floats:
        """The factors, given whether each answer is finished."""
        return np.where(np.asarray(finished, dtype=np.bool_), 1.0, self.value)

    def _factors(self, batch: Batch) -> Floats:
        return np.ones(len(batch.answers)) if batch.finished is None else self(batch.finished)


@dataclass(frozen=True)
class Floor(Bound):
    """A lowest reward.

    Args:
        value: The reward of answers whose reward is lower.

    Raises:
        RewardError: The value is invalid.

    Example:
        >>> Floor(0.1)([0.05, 0.5]).tolist()
        [0.1, 0.5]
    """

    name = "floor"
    value: float

    def __call__(self, rewards: Any) -> Floats:
        """The rewards with this floor."""
        return np.maximum(np.asarray(rewards, dtype=np.float64), self.value)


@dataclass(frozen=True)
class Clip(Bound):
    """A lowest and a highest reward.

    Args:
        low: The lowest reward.
        high: The highest reward.

    Raises:
        RewardError: A value is invalid.

    Example:
        >>> Clip(0.1, 0.9)([0.05, 0.5, 1.0]).tolist()
        [0.1, 0.5, 0.9]
    """

    name = "clip"
    rising = ("low", "high")
    low: float
    high: float

    def __call__(self, rewards: Any) -> Floats:
        """The rewards within these bounds."""
        return np.clip(np.asarray(rewards, dtype=np.float64), self.low, self.high)


@dataclass(frozen=True)
class Scale(Part):
    """Divides a reward by the mean score of the reference answers of the question: 1 is as good as the references.

    The column has these means. Reference answers of a suite are scored by the suite; a reference in a row is scored by
    the other references of the row.

    Args:
        to: `"references"`.

    Raises:
        RewardError: `to` is invalid.

    Example:
        >>> Scale()([0.3, 0.9], [0.6, 0.6]).tolist()
        [0.5, 1.5]
    """

    name = "scale"
    to: Literal["references"] = "references"

    def __call__(self, rewards: Any, means: Any) -> Floats:
        """The rewards, divided by these means."""
        return np.asarray(rewards, dtype=np.float64) / np.asarray(means, dtype=np.float64)

    def _shaped(self, rewards: Floats, batch: Batch) -> tuple[Floats, Floats]:
        if batch.reference_means is None:
            raise missing("references", "the part scale")
        means = batch.reference_means()
        return means, self(rewards, means)


def _falling(values: Floats, begin: float, end: float) -> Floats:
    """1 up to `begin`, then linearly down to 0 at `end`."""
    return np.minimum(np.maximum((end - values) / (end - begin), 0.0), 1.0)  # faster than np.clip
