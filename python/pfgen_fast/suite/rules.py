"""Names and constants of docs/scoring.md: profiles, float sums and lengths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from ..base.native import _core

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
TARGET_LENGTH = 100  # the length, in units of the question, up to which a score is not discounted
LIMIT = 150  # the length at which the discount reaches 0
LOOK_PAST_LIMIT = 50  # how many units past the limit are read
LOOK_AHEAD = LIMIT + LOOK_PAST_LIMIT  # how many units of an answer are read; later units have no effect
THRESHOLD = 0.005  # a 3-gram counts in full in truthfulness if at least this share of the reference answers holds it
MAX_LIMIT = 1000  # the largest limit


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raises ValueError if the value of an argument is not one of the choices."""
    if value not in choices:
        *others, last = map(repr, choices)
        raise ValueError(f"{name}: expected {', '.join(others)} or {last}, not {value!r}")


def column_of(metric: str) -> str:
    """The column of a `ScoreTable` that holds one of `SCORES`."""
    return "average" if metric == "score" else metric


def add_up(values: Iterable[float], float_sum: FloatSum = "compensated") -> float:
    """Adds up floats in their order (docs/scoring.md, section 5); Python 3.12 changed the result of `sum`."""
    return _core.sum(list(values), getattr(_core.FloatSum, float_sum))


@dataclass(frozen=True)
class Constants:
    """The lengths of profile leaderboard (docs/scoring.md, section 9)."""

    target_length: int = TARGET_LENGTH  # length up to which a score is not discounted
    limit: int = LIMIT  # length at which the discount reaches 0

    def __post_init__(self) -> None:
        if not 1 <= self.target_length < self.limit <= MAX_LIMIT:
            raise ValueError(
                f"target length {self.target_length} and limit {self.limit}: expected a target length of at least "
                f"1, and a limit above it and up to {MAX_LIMIT}"
            )

    @property
    def look_ahead(self) -> int:
        """How many units of an answer are read."""
        return self.limit + LOOK_PAST_LIMIT
