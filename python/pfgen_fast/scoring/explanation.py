"""Explains the score of one answer: its best prefix, n-gram orders, 3-grams and keyword rules.

Supports the profiles `leaderboard` and `normalised`. The figures come from the oracle and add up to the scores of the
core.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..oracle import (
    NormalisedReading,
    Oracle,
    Reading,
    ReferenceCounts,
    Units,
    covers,
    marked,
    position_and_name,
)
from ..suite.questions import Question
from ..suite.rules import MAX_ORDER, Profile, add_up, check_choice
from ..suite.suite import Suite
from .normalisation import aligned


@dataclass(frozen=True)
class SetExplanation:
    """The scores of an answer against one reference set."""

    name: str  # name of the reference set
    fluency: float  # Fluency, not yet divided by the number of sets
    truthfulness: float  # Truthfulness, not yet divided by the number of sets
    best_prefix: int  # length of the prefix with the highest fluency
    discount: float  # length discount of that prefix
    baseline: float  # mean raw fluency of the set's own answers
    by_order: tuple[int, ...]  # sum of document frequencies of the prefix's distinct n-grams, for orders 1 to 10
    # for each order, how many of these n-grams the set has, and how many there are
    known_by_order: tuple[tuple[int, int], ...]
    # for each unit of the answer, the largest share of reference answers that hold one of the 3-grams that cover it
    cover: tuple[float, ...]


@dataclass(frozen=True)
class KeywordExplanation:
    """One keyword rule."""

    name: str
    position: int | None  # position in the answer; None if the rule is not met
    left_without: float  # factor of helpfulness if the rule is not met


@dataclass(frozen=True)
class Explanation:
    """The explanation of an answer's score; `scores` is the object of docs/scoring.md, section 5."""

    question: Question
    answer: str
    scores: dict[str, Any]
    sets: tuple[SetExplanation, ...]
    keywords: tuple[KeywordExplanation, ...]
    reading: Reading  # the answer as the profile reads it

    @property
    def _look_ahead(self) -> int:
        return self.question.lengths.look_ahead

    @property
    def cover(self) -> list[float | None]:
        """The mean `SetExplanation.cover` over the sets, for each code point that is read; None if it is left out."""
        unit_cover = [add_up(values) / len(values) for values in zip(*(part.cover for part in self.sets), strict=True)]
        spelling = self.question.spelling
        if spelling is not None:
            unit_cover = spelling.read(self.reading.text).by_character(unit_cover, 0.0)
        if self.normalised is None:
            return list(unit_cover)
        # A character that becomes several units is as common as the most common of them.
        units = aligned(self.reading.cut(self._look_ahead), has_spaces=spelling is not None)
        return [max((unit_cover[i] for i in indexes if i < len(unit_cover)), default=None) for indexes in units]

    @property
    def normalised(self) -> str | None:
        """The normalised text that is read; None in profile leaderboard."""
        return Reading.cut(self.reading, self._look_ahead) if isinstance(self.reading, NormalisedReading) else None

    @property
    def left_out(self) -> list[tuple[int, int]]:
        """The beginning and the end of each run of code points that are read, but left out by profile normalised."""
        marks = "".join("x" if cover is None else " " for cover in self.cover)
        return [run.span() for run in re.finditer("x+", marks)]

    def n_characters(self, n_units: int) -> int:
        """The length in code points of the first `n_units` units of the answer."""
        return len(self.reading.cut(n_units))


def explain(suite: Suite, question: str, answer: str, *, profile: Profile = "leaderboard") -> Explanation:
    """Explains the score of one answer; ValueError for profile paper."""
    check_choice("profile", profile, ("leaderboard", "normalised"))
    oracle = Oracle(suite, profile=profile)
    asked = suite[question]
    reading = oracle.reading(asked, answer)
    searched = oracle.searched(asked, reading)
    sets = tuple(_explain_set(name, table, reading.units) for name, table in oracle.tables(asked).items())
    lengths = asked.lengths
    cut = searched.cut(lengths.look_ahead)
    rules = [(rule, *position_and_name(rule, cut, searched.position, lengths.missing)) for rule in asked.keywords]
    keywords = tuple(
        KeywordExplanation(name, None if position > lengths.look_ahead else position, 1 - rule.importance)
        for rule, position, name in rules
    )
    return Explanation(asked, answer, oracle.score_one(question, answer), sets, keywords, reading)


def _explain_set(name: str, table: ReferenceCounts, answer: Units) -> SetExplanation:
    text = answer[: table.rules.lengths.look_ahead]
    scores = enumerate(table.rules.prefix_scores(text, table), start=1)
    # Of several prefixes with the highest fluency, the longest is closest to the whole answer.
    fluency, n = max(((score, n) for n, score in scores if score > 0), default=(0.0, 0))
    ngrams = [{text[i : i + order] for i in range(n - order + 1)} for order in range(1, MAX_ORDER + 1)]
    frequency = table.document_frequency
    return SetExplanation(
        name=name,
        fluency=fluency,
        truthfulness=table.rules.truthfulness(answer, table),
        best_prefix=n,
        discount=table.rules.discount(n),
        baseline=table.baseline,
        by_order=tuple(sum(frequency.get(ngram, 0) for ngram in group) for group in ngrams),
        known_by_order=tuple((sum(ngram in frequency for ngram in group), len(group)) for group in ngrams),
        cover=tuple(cover / table.n_answers for cover in covers(marked(text), table)[1:-1]),
    )
