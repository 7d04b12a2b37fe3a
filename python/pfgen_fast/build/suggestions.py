"""Suggests keyword rules: n-grams that distinguish the reference answers to a question from those to the others.

Suggestions are a draft; a human decides what an answer must contain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..base.errors import SuiteError
from ..suite.keywords import REGEX_SYNTAX
from ..suite.questions import Question
from ..suite.suite import Suite
from .selection import document_frequencies

MAX_ORDER = 10
_MIN_SHARE = 0.1
_N_OUTSIDE = 100
_PRIOR = 0.5


@dataclass(frozen=True)
class Suggestion:
    """An n-gram that might be a keyword."""

    ngram: str
    share: float  # share of the question's reference answers that contain it
    share_elsewhere: float  # share of the reference answers to the other questions that contain it
    log_odds: float  # log-odds that an answer to the question contains it, minus the same for the others

    @property
    def rule(self) -> dict[str, Any]:
        """A keyword rule that requires the n-gram, in the form of a question file."""
        return {"t": "".join(f"\\{character}" if character in REGEX_SYNTAX else character for character in self.ngram)}


def suggest_keywords(
    suite: Suite, question: str, *, n: int = 20, min_share: float = _MIN_SHARE, threads: int | None = None
) -> list[Suggestion]:
    """The n-grams with the highest log-odds in a question's reference answers (docs/building.md)."""
    if n < 1:
        raise ValueError(f"n: expected at least 1, not {n}")
    if not 0 < min_share <= 1:
        raise ValueError(f"min_share: expected a number above 0 and up to 1, not {min_share}")
    asked = suite[question]
    here = [answer for answers in asked.answers.values() for answer in answers]
    elsewhere = _answers_elsewhere(suite, asked)
    least = math.ceil(min_share * len(here))
    inside = document_frequencies(here, max_order=MAX_ORDER, least=least, threads=threads)
    outside = document_frequencies(elsewhere, max_order=MAX_ORDER, threads=threads)
    suggestions = []
    for ngram, count in _maximal({ngram: n for ngram, n in inside.items() if _may_be_a_keyword(ngram)}).items():
        others = outside.get(ngram, 0)
        log_odds = _log_odds(count, len(here)) - _log_odds(others, len(elsewhere))
        suggestions.append(Suggestion(ngram, count / len(here), others / len(elsewhere), log_odds))
    suggestions.sort(key=lambda row: (-row.log_odds, -len(row.ngram), row.ngram))
    return _unrelated(suggestions, n)


def _answers_elsewhere(suite: Suite, asked: Question) -> list[str]:
    others = [question for question in suite if question.question_id != asked.question_id]
    if not others:
        raise SuiteError(f"suite {suite.name}: only one question; suggestions need answers to other questions")
    return [
        answer
        for question in others
        for answers in question.answers.values()
        for answer in answers[:: max(1, math.ceil(len(answers) / _N_OUTSIDE))]
    ]


def _may_be_a_keyword(ngram: str) -> bool:
    """Whether both ends are letters or digits, and the n-gram is longer than one ASCII character."""
    return ngram[0].isalnum() and ngram[-1].isalnum() and (len(ngram) > 1 or not ngram.isascii())


def _maximal(counts: Mapping[str, int]) -> dict[str, int]:
    """Drops n-grams that are part of a longer n-gram with the same count, and so with the same answers."""
    parts = {part for ngram, count in counts.items() for part in (ngram[1:], ngram[:-1]) if counts.get(part) == count}
    return {ngram: count for ngram, count in counts.items() if ngram not in parts}


def _log_odds(count: int, total: int) -> float:
    return math.log((count + _PRIOR) / (total - count + _PRIOR))


def _unrelated(ranked: Sequence[Suggestion], n: int) -> list[Suggestion]:
    """The first `n` suggestions, without suggestions that look like a part of the same phrase as an earlier one."""
    taken: list[Suggestion] = []
    for suggestion in ranked:
        if len(taken) < n and not any(_touch(suggestion.ngram, other.ngram) for other in taken):
            taken.append(suggestion)
    return taken


def _touch(first: str, second: str) -> bool:
    """Whether one contains the other, or one ends as the other begins."""
    shorter = min(len(first), len(second))
    return (
        first in second
        or second in first
        or any(first.endswith(second[:size]) or second.endswith(first[:size]) for size in range(1, shorter))
    )
