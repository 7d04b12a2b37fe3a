"""Names and constants of docs/scoring.md: profiles, float sums and lengths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..base.native import _core
from ..base.untrusted_text import shown_value

Profile = Literal["leaderboard", "paper", "normalised"]
PROFILES: tuple[Profile, ...] = get_args(Profile)

FloatSum = Literal["compensated", "naive"]
FLOAT_SUMS: tuple[FloatSum, ...] = get_args(FloatSum)

PARTS = ("fluency", "truthfulness", "helpfulness")  # the parts of a score
COLUMNS = (*PARTS, "average")  # the scores of an answer, in the order of the core
AVERAGE_FIRST = ("average", *PARTS)  # the same, in the order for readers
SCORES = ("score", *PARTS)  # the score and its parts; the score is their average
METRICS = (*SCORES, "length")  # all metrics that an answer, a question or a run has
MAX_ORDER = 10  # the order of the longest n-grams
THRESHOLD = 0.005  # a 3-gram counts in full in truthfulness if at least this share of the reference answers holds it
MAX_LIMIT = 20_000  # the largest limit of a question


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raises ValueError if the value of an argument is not one of the choices."""
    if value not in choices:
        *others, last = map(repr, choices)
        raise ValueError(f"{name}: expected {', '.join(others)} or {last}, not {value!r}")


def column_of(metric: str) -> str:
    """The column of a `ScoreTable` that holds one of `SCORES`."""
    return "average" if metric == "score" else metric


def shown_metric(metric: str, metrics: Iterable[str] = ()) -> str:
    """The name of a metric for readers, who know the average of an answer as its score, unless another has the name."""
    return "score" if metric == "average" and "score" not in metrics else metric


def add_up(values: Iterable[float], float_sum: FloatSum = "compensated") -> float:
    """Adds up floats in their order (docs/scoring.md, section 5); Python 3.12 changed the result of `sum`."""
    return _core.sum(list(values), getattr(_core.FloatSum, float_sum))


@dataclass(frozen=True)
class Lengths:
    """The lengths of the answers to a question, in its units (docs/scoring.md, section 9); ValueError if invalid.

    Attributes:
        target: The length up to which a score is not discounted.
        limit: The length at which the discount reaches 0; at most 20,000.

    Example:
        >>> Lengths(400, 600).look_ahead
        800
    """

    target: int = 100
    limit: int = 150

    def __post_init__(self) -> None:
        if not (type(self.target) is type(self.limit) is int and 1 <= self.target < self.limit <= MAX_LIMIT):
            raise ValueError(
                f"expected a target of at least 1, and a limit above it and up to {MAX_LIMIT:,}, in whole numbers, not "
                f"{shown_value(self.target)} and {shown_value(self.limit)}"
            )

    @classmethod
    def frozen(cls, source: Mapping[str, Any]) -> Lengths:
        """The lengths in a question file; the usual ones if it has neither key."""
        pair: Any = (source.get("target"), source.get("limit"))
        return cls() if pair == (None, None) else cls(*pair)

    @classmethod
    def fitting(cls, median: float) -> Lengths:
        """Twice and three times the median length of answers, in round numbers."""
        step = 20 if median >= 50 else 2
        target = min(max(10, step * round(2 * median / step)), MAX_LIMIT * 2 // 3)
        return cls(target, target * 3 // 2)

    @property
    def source(self) -> dict[str, int]:
        """The keys that set them in a question file; none for the usual lengths."""
        return {} if self == Lengths() else {"target": self.target, "limit": self.limit}

    @property
    def native(self) -> _core.Lengths:
        """The same for the core."""
        return _core.Lengths(self.target, self.limit)

    @property
    def look_ahead(self) -> int:
        """How many units of an answer are read; later units have no effect."""
        return 2 * self.limit - self.target

    @property
    def missing(self) -> int:
        """The position of a keyword that does not occur."""
        return max(9999, self.look_ahead + 1)
