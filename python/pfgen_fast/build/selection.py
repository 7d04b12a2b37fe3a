"""Selects a small subset of answers with nearly the same n-gram distribution; suggests keyword rules.

Rules: docs/selection.md. All sums are integers, so errors are exact and do not depend on the number of threads.
Suggestions are a draft; a human decides what an answer must contain.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import SuiteError, TrialsError
from ..base.native import _core, checked_threads, whole_number, worded
from ..suite.keywords import REGEX_SYNTAX
from ..suite.questions import Question
from ..suite.suite import Suite


def find_rare_ngrams(answers: Any, *, order: int = 5, below: int = 2, threads: int | None = None) -> _core.RareNgrams:
    """Finds the n-grams that occur fewer than `below` times, and the first place of one in each answer (or -1)."""
    order, below = whole_number("order", order), whole_number("below", below)
    n_threads = checked_threads(threads)
    with worded():
        return _core.find_rare_ngrams(_core.TextColumn(answers, "answers"), order, below, n_threads)


def document_frequencies(
    answers: Any, *, max_order: int = 10, least: int = 1, threads: int | None = None
) -> dict[str, int]:
    """The n-grams of orders 1 to `max_order` in at least `least` answers, sorted by code points, with their numbers."""
    max_order, n_threads = whole_number("max_order", max_order, most=_core.__longest_ngram__), checked_threads(threads)
    with worded():
        column = _core.TextColumn(answers, "answers")
        counted = _core.document_frequencies(column, max_order, n_threads)
    frequencies = counted.frequencies
    chosen = np.flatnonzero(frequencies >= least)
    rows, *parts = (values[chosen].tolist() for values in (counted.rows, counted.offsets, counted.orders, frequencies))
    texts = {row: column[row] for row in set(rows)}
    ngrams = zip(rows, *parts, strict=True)
    return {texts[row][offset : offset + order]: count for row, offset, order, count in ngrams}


@dataclass(frozen=True)
class Selection:
    """The result of `select`."""

    rows: NDArray[np.int64]  # rows of the selected answers, sorted
    error: float  # their `distribution_error`
    initial_error: float  # error of the random subset that the climb started from
    curve: list[tuple[int, float]]  # `(proposals, error)` along the climb, from start to end, at growing intervals
    proposals: int  # number of swaps that were tried, over all climbs
    accepted: int  # number of swaps in this climb that lowered its error
    restart: int  # index of this climb
    finished: bool  # True if no swap could lower the error; False if a limit ended the climb


@dataclass(frozen=True)
class OrderCoverage:
    """The n-grams of one order that the selected answers contain."""

    order: int
    n_ngrams: int  # number of distinct n-grams of all answers
    n_held: int  # number of these n-grams that at least one selected answer contains
    # share of all pairs of an answer and an n-gram in this answer whose n-gram occurs in a selected answer; 1 if there
    # are no pairs
    share: float


def select_answers(
    answers: Any,
    size: int,
    *,
    max_order: int = 10,
    seed: str = "",
    restarts: int = 1,
    proposals: int | None = None,
    seconds: float | None = None,
    threads: int | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Selection:
    """Selects answers with nearly the same n-gram frequencies as all answers, by hill climbing from random subsets.

    Each step replaces one selected answer by the best of all other answers. A climb ends when no swap lowers the error.

    Args:
        answers: A column of texts, as `Scorer.score` takes it.
        size: The number of answers to select.
        max_order: The highest order of the n-grams whose distribution is matched.
        seed: Determines the random subsets.
        restarts: The number of climbs, run one after another; the best is returned, the first one in case of ties.
        proposals: Start no step after this many swaps were tried, over all climbs.
        seconds: Start no step after this time. To reproduce the result, pass its `proposals` instead.
        threads: Number of threads, each of which runs one climb at a time; 1 with `proposals` or `seconds`.
        progress: Called regularly with the number of tried swaps and the error of the climb.

    Raises:
        TrialsError: An answer is not a text, there are fewer than `size` answers, or there are too many n-grams.
        ValueError: An option is out of range.

    Example:
        >>> select_answers(["rain falls", "rain fell", "snow falls", "snow fell", "42"], 2).rows.tolist()
        [0, 3]
    """
    size, max_order = whole_number("size", size), whole_number("max_order", max_order, most=_core.__longest_ngram__)
    restarts = whole_number("restarts", restarts)
    proposals = None if proposals is None else whole_number("proposals", proposals, most=2**63 - 1)
    seconds, n_threads = _checked_seconds(seconds), checked_threads(threads)
    with worded():
        column = _core.TextColumn(answers, "answers")
        n_all = len(column)
        if n_all < size:
            raise TrialsError(f"expected at least {size} answers to select from, not {n_all}", column="answers")
        report = None if progress is None else (lambda at: progress(at.n_proposals, _error(at.sums, size, n_all)))
        stream = int(hashlib.sha1(seed.encode("utf-8", "surrogatepass")).hexdigest()[:16], 16)
        climbs = _core.climb(column, size, max_order, stream, restarts, proposals, seconds, n_threads, report)
    # All subsets have the same size, so the smallest sum also has the smallest error.
    restart = min(range(len(climbs)), key=lambda i: _squares(climbs[i].curve[-1].sums, size, n_all))
    best = climbs[restart]
    curve = [(point.n_proposals, _error(point.sums, size, n_all)) for point in best.curve]
    return Selection(
        rows=best.rows.astype(np.int64),
        error=curve[-1][1],
        initial_error=curve[0][1],
        curve=curve,
        proposals=sum(climb.n_proposals for climb in climbs),
        accepted=best.n_accepted,
        restart=restart,
        finished=best.is_finished,
    )


def distribution_error(answers: Any, rows: Iterable[int] | NDArray[Any], *, max_order: int = 10) -> float:
    """The difference between the n-gram distributions of some answers and of all answers.

    For each distinct n-gram of the orders 1 to `max_order`, take the share of the selected answers that contain it,
    minus the share of all answers that contain it. The error is the mean of the squares.
    """
    chosen, n_all, comparison = _compare(answers, rows, max_order)
    return _error(comparison.sums, chosen, n_all)


def coverage(answers: Any, rows: Iterable[int] | NDArray[Any], *, max_order: int = 10) -> list[OrderCoverage]:
    """The share of all n-grams that the selected answers contain, by order.

    The arguments and errors are those of `distribution_error`.
    """
    *_, comparison = _compare(answers, rows, max_order)
    return [
        OrderCoverage(
            order, row.n_ngrams, row.n_held, row.held_frequencies / row.frequencies if row.frequencies else 1.0
        )
        for order, row in enumerate(comparison.orders, 1)
    ]


def _compare(answers: Any, rows: Iterable[int] | NDArray[Any], max_order: int) -> tuple[int, int, _core.Comparison]:
    max_order = whole_number("max_order", max_order, most=_core.__longest_ngram__)
    with worded():
        column = _core.TextColumn(answers, "answers")
        chosen = _checked_rows(rows, len(column))
        return len(chosen), len(column), _core.compare_with_all(column, chosen, max_order)


def _squares(sums: _core.DistributionSums, size: int, n_all: int) -> int:
    """The sum of (n_all * chosen - size * all)**2 over all n-grams."""
    return n_all**2 * sums.chosen_squares - 2 * n_all * size * sums.products + size**2 * sums.all_squares


def _error(sums: _core.DistributionSums, size: int, n_all: int) -> float:
    # A quotient of integers, which Python rounds only once.
    return _squares(sums, size, n_all) / (max(sums.n_ngrams, 1) * (size * n_all) ** 2)


def _checked_seconds(seconds: float | None) -> float | None:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < math.inf:
        raise ValueError(f"seconds: expected a number above 0, not {seconds!r}")
    return float(seconds)


def _checked_rows(rows: Iterable[int] | NDArray[Any], n_all: int) -> NDArray[np.uint32]:
    chosen = [operator.index(row) for row in rows]
    if not chosen:
        raise ValueError("rows: expected at least one row")
    for row in chosen:
        if not 0 <= row < n_all:
            raise ValueError(f"rows: expected numbers from 0 to {n_all - 1}, not {row}")
    if len(set(chosen)) < len(chosen):
        raise ValueError("rows: expected each row once")
    return np.array(chosen, np.uint32)


MAX_ORDER = 10
_MIN_SHARE = 0.1
_N_OUTSIDE = 100
_PRIOR = 0.5
_N_TRIED, _MOST_ALTERNATIVES = 100, 2
_MOST_ELSEWHERE, _LEAST_GAIN, _MOST_FAILED = 0.05, 0.02, 0.1  # shares of reference answers
NO_RULE = "no one or two words are in 90 % of the references, but not in those to most other questions or in the prompt"
"""Why `suggest_rule` suggests nothing."""


@dataclass(frozen=True)
class Suggestion:
    """An n-gram that might be a keyword."""

    ngram: str
    share: float  # share of the question's reference answers that contain it
    share_elsewhere: float  # share of the reference answers to the other questions that contain it
    log_odds: float  # log-odds that an answer to the question contains it, minus the same for the others
    is_word: bool = False  # whether it is a whole word

    @property
    def rule(self) -> dict[str, Any]:
        """A keyword rule that requires the n-gram, in the form of a question file."""
        return {"t": rf"\b{self.pattern}\b" if self.is_word else self.pattern}

    @property
    def pattern(self) -> str:
        """The n-gram as a pattern."""
        return "".join(f"\\{character}" if character in REGEX_SYNTAX else character for character in self.ngram)


def suggest_keywords(
    suite: Suite, question: str, *, n: int = 20, min_share: float = _MIN_SHARE, threads: int | None = None
) -> list[Suggestion]:
    """The n-grams, or words if the unit is tokens, with the highest log-odds in a question's reference answers.

    Rules: docs/building.md.
    """
    if n < 1:
        raise ValueError(f"n: expected at least 1, not {n}")
    if not 0 < min_share <= 1:
        raise ValueError(f"min_share: expected a number above 0 and up to 1, not {min_share}")
    asked = suite[question]
    here = [answer for answers in asked.answers.values() for answer in answers]
    elsewhere = [*itertools.chain(*_answers_elsewhere(suite, asked))]
    least = math.ceil(min_share * len(here))
    has_words = asked.tokenizer is not None
    if has_words:
        inside, outside = _word_frequencies(here, least), _word_frequencies(elsewhere)
    else:
        inside = document_frequencies(here, max_order=MAX_ORDER, least=least, threads=threads)
        outside = document_frequencies(elsewhere, max_order=MAX_ORDER, threads=threads)
        inside = _maximal({ngram: n for ngram, n in inside.items() if _may_be_a_keyword(ngram)})
    suggestions = []
    for ngram, count in inside.items():
        others = outside.get(ngram, 0)
        log_odds = _log_odds(count, len(here)) - _log_odds(others, len(elsewhere))
        suggestions.append(Suggestion(ngram, count / len(here), others / len(elsewhere), log_odds, has_words))
    suggestions.sort(key=lambda row: (-row.log_odds, -len(row.ngram), row.ngram))
    return suggestions[:n] if has_words else _unrelated(suggestions, n)


@dataclass(frozen=True)
class SuggestedRule:
    """A keyword rule that most references of a question pass, and few of those to other questions."""

    rule: dict[str, Any]  # in the form of a question file
    share: float  # share of the question's reference answers that pass it
    share_elsewhere: float  # share of the reference answers to other questions that pass it

    def __str__(self) -> str:
        """The rule and the shares, for people."""
        return f"{self.rule['t']} ({self.share:.0%} of the references, {self.share_elsewhere:.0%} of others)"


def suggest_rule(suite: Suite, question: str) -> SuggestedRule | None:
    """A rule of one or two alternatives, which occur in references to few other questions; None without a good rule."""
    asked = suite[question]
    left = {answer for answers in asked.answers.values() for answer in answers}
    here, by_question = [*left], _answers_elsewhere(suite, asked)
    suggestions = suggest_keywords(suite, question, n=_N_TRIED)
    echoed = asked.question.casefold()  # an answer that only repeats the question has these words, too
    usable = [
        suggestion
        for suggestion in suggestions
        if suggestion.share_elsewhere <= _MOST_ELSEWHERE and suggestion.ngram.casefold() not in echoed
    ]
    finders = {suggestion: re.compile(suggestion.rule["t"]).search for suggestion in usable}
    taken: list[Suggestion] = []
    while finders and left and len(taken) < _MOST_ALTERNATIVES:
        best = max(finders, key=lambda suggestion: sum(map(bool, map(finders[suggestion], left))))
        find = finders.pop(best)
        n_questions = sum(any(map(find, answers)) for answers in by_question)
        if 2 * n_questions > len(by_question):  # a function word, or a usual verb
            continue
        passing = {answer for answer in left if find(answer)}
        if len(passing) < _LEAST_GAIN * len(here):
            break
        taken.append(best)
        left -= passing
    if not taken or len(left) > _MOST_FAILED * len(here):
        return None
    pattern = "|".join(suggestion.pattern for suggestion in taken)
    pattern = rf"\b(?:{pattern})\b" if taken[0].is_word else pattern
    elsewhere = [*itertools.chain(*by_question)]
    n_elsewhere = sum(map(bool, map(re.compile(pattern).search, elsewhere)))
    rule = {"t": pattern, "name": taken[0].ngram}
    return SuggestedRule(rule, 1 - len(left) / len(here), n_elsewhere / len(elsewhere))


def _answers_elsewhere(suite: Suite, asked: Question) -> list[list[str]]:
    """Evenly spaced answers to each other question."""
    others = [question for question in suite if question.question_id != asked.question_id]
    if not others:
        raise SuiteError(f"suite {suite.name}: only one question; suggestions need answers to other questions")
    return [
        [
            answer
            for answers in question.answers.values()
            for answer in answers[:: max(1, math.ceil(len(answers) / _N_OUTSIDE))]
        ]
        for question in others
    ]


def _word_frequencies(texts: Iterable[str], least: int = 1) -> dict[str, int]:
    """The words of two letters or more in at least `least` texts, with their numbers."""
    counts = Counter(word for text in texts for word in {*re.findall(r"\w\w+", text)})
    return {word: count for word, count in counts.items() if count >= least}


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
