"""Decides whether runs differ, and says it in words: every command, page, gate and notebook uses these verdicts.

The p-values of a family are corrected together by Holm, and each interval has the level at which Holm's procedure
decides its pair, so a verdict and its interval never disagree. The sign is that of first minus second, in sentences
as in tables. Rules: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...base.arrays import Floats
from ...base.mean_interval import ROUNDING
from ...base.table import bearing_digits, figure, signed
from ...base.untrusted_text import counted
from .paired_tests import ALPHA, MIN_QUESTIONS, PairedDifference, Test, all_pairs

if TYPE_CHECKING:
    from typing_extensions import Self

Outcome = Literal["better", "worse", "not distinguished", "no verdict"]
"""What the first of two runs is, compared with the second."""

SENTENCES = {
    "differs": "{first} is {outcome} by {size}{direction}, {interval}",
    "not distinguished": "not distinguished: {pair} is {difference}, {interval}",
    "no verdict": "no verdict: {over}, at least {least} are needed",
    "without": "{few}; {pair} is {difference}",
    "interval": "{level} % interval{pair}{family} {low} to {high} over {over}",
    "equal": "the same on all {over}",
    "family": " (Holm, {n} comparisons)",
    "lower": " (lower is better)",
}
"""The sentences about a pair; the scripts of a page fill the same ones."""


@dataclass(frozen=True)
class Verdict:
    """The verdict about a pair of a family."""

    difference: float  # mean of first - second
    # ends of the interval at the level at which Holm's procedure decides the pair: 95 % for a family of one; None with
    # one question, or if all questions have the same difference
    low: float | None
    high: float | None
    p_value: float | None  # of this pair alone
    p_corrected: float | None  # corrected by Holm for the family; None without a verdict
    differs: bool | None  # whether first and second differ significantly; None without a verdict
    n_questions: int  # number of questions that both have
    n_clusters: int | None
    test: Test
    n_in_family: int  # number of pairs that are corrected together; 1 without a verdict
    alpha: float = ALPHA

    def outcome(self, *, higher_is_better: bool = True) -> Outcome:
        """What the first is."""
        if self.differs is None:
            return "no verdict"
        if not self.differs:
            return "not distinguished"
        return "better" if (self.difference > 0) == higher_is_better else "worse"

    @property
    def digits(self) -> int:
        """The decimals for readers; a difference of shares has those that its interval bears and that decide it."""
        if self.test != "Tango" or self.low is None or self.high is None:
            return 4
        digits = bearing_digits((self.high - self.low) / 2)
        while digits < 4 and min(abs(self.low), abs(self.high)) < 0.5 / 10**digits:
            digits += 1
        return digits

    def reversed(self) -> Self:
        """The same as second minus first."""
        low, high = (end and -end for end in (self.high, self.low))
        return replace(self, difference=-self.difference, low=low, high=high)

    def over(self, item: str = "question") -> str:
        """The numbers of questions and clusters in words."""
        clusters = "" if self.n_clusters is None else f" in {counted(self.n_clusters, 'cluster')}"
        return counted(self.n_questions, item) + clusters

    def too_few(self, item: str = "question") -> str:
        """Why there is no verdict."""
        return SENTENCES["no verdict"].format(over=self.over(item), least=MIN_QUESTIONS)

    def interval_words(self, pair: str = "", item: str = "question") -> str:
        """The interval in words, such as `95 % interval +0.0100 to +0.0300 over 50 questions`."""
        if self.low is None or self.high is None:
            return SENTENCES["equal"].format(over=self.over(item))
        family = SENTENCES["family"].format(n=f"{self.n_in_family:,}") if self.n_in_family > 1 else ""
        ends = {"low": signed(self.low, self.digits), "high": signed(self.high, self.digits)}
        level = f"{100 * (1 - self.alpha):.6g}"
        return SENTENCES["interval"].format(level=level, pair=pair, family=family, over=self.over(item), **ends)

    def sentence(
        self, first: str = "A", second: str = "B", *, higher_is_better: bool = True, item: str = "question"
    ) -> str:
        """The verdict in words, such as `A is better by 0.0200, 95 % interval of A - B +0.0100 to +0.0300 over ...`."""
        outcome = self.outcome(higher_is_better=higher_is_better)
        pair = f"{first} - {second}"
        difference = signed(self.difference, self.digits)
        if outcome == "no verdict":
            return SENTENCES["without"].format(few=self.too_few(item), pair=pair, difference=difference)
        interval = self.interval_words(f" of {pair}", item)
        if outcome == "not distinguished":
            return SENTENCES[outcome].format(pair=pair, difference=difference, interval=interval)
        direction = "" if higher_is_better else SENTENCES["lower"]
        figures = {"size": figure(abs(self.difference), self.digits), "direction": direction, "interval": interval}
        return SENTENCES["differs"].format(first=first, outcome=outcome, **figures)


def decided(pairs: Sequence[PairedDifference], *, alpha: float = ALPHA) -> list[Verdict]:
    """Decides the pairs of one family, corrected by Holm; pairs without a verdict are in no family."""
    p_values = [pair.p_value if pair.has_verdict else None for pair in pairs]
    family = [p for p in p_values if p is not None]
    after, levels = iter(corrected(family).tolist()), iter(holm_levels(family, alpha).tolist())
    verdicts = []
    for pair, p in zip(pairs, p_values, strict=True):
        p_corrected, level = (None, alpha) if p is None else (next(after), next(levels))
        low, high = pair.interval(level)
        verdicts.append(
            Verdict(
                pair.mean,
                low,
                high,
                pair.p_value,
                p_corrected,
                None if p_corrected is None else p_corrected <= alpha + ROUNDING,
                pair.n,
                pair.n_clusters,
                pair.test,
                1 if p is None else len(family),
                alpha,
            )
        )
    return verdicts


def outcomes_of(
    differences: Floats, p_values: Floats, n_units: Any, *, higher_is_better: bool = True, alpha: float = ALPHA
) -> tuple[Floats, list[Outcome]]:
    """The same for one run against many: p-values corrected by Holm (NaN without a verdict), and what the run is.

    `n_units` are the numbers of common questions, or of their clusters.
    """
    has_verdict = (n_units >= MIN_QUESTIONS) & ~np.isnan(p_values)
    after = np.full(len(p_values), math.nan)
    after[has_verdict] = corrected(p_values[has_verdict])
    is_better = (differences > 0) == higher_is_better
    words = np.where(after <= alpha + ROUNDING, np.where(is_better, "better", "worse"), "not distinguished")
    return after, np.where(has_verdict, words, "no verdict").tolist()


def rank_range(outcomes: Sequence[Outcome]) -> tuple[int, int] | None:
    """The ranks that a run may have: 1 + the number of better runs, to the number of runs that are not worse.

    None if there are other runs, but no verdict about any of them.
    """
    if outcomes and outcomes.count("no verdict") == len(outcomes):
        return None
    return 1 + outcomes.count("worse"), len(outcomes) + 1 - outcomes.count("better")


def rank_ranges(
    *strata: Any,
    higher_is_better: bool = True,
    alpha: float = ALPHA,
    clusters: Sequence[Hashable] | None = None,
    binary: bool = False,
) -> list[tuple[int, int] | None]:
    """The `rank_range` of each run (row); strata are those of `all_pairs`.

    The comparisons of a run with all others are one family, so with a probability of 95 % the range holds the rank of
    the run.
    """
    pairs = all_pairs(*strata, clusters=clusters, binary=binary)
    figures = pairs.differences, pairs.p_values, pairs.n_units
    rows = ([np.delete(values[row], row) for values in figures] for row in range(len(pairs.n_units)))
    return [rank_range(outcomes_of(*row, higher_is_better=higher_is_better, alpha=alpha)[1]) for row in rows]


def tied_ranks(
    run_ranks: Sequence[int | None], scores: Sequence[Sequence[float | None]]
) -> list[tuple[int, int] | None]:
    """The rank range of each run among the runs with a rank; None without a rank or a verdict."""
    values = [
        [math.nan if score is None else score for score in by_question]
        for rank, by_question in zip(run_ranks, scores, strict=True)
        if rank is not None
    ]
    ranges = iter(rank_ranges(values) if values else ())
    return [None if rank is None else next(ranges) for rank in run_ranks]


def shown_range(ranks: tuple[int, int] | None) -> str:
    """A range of ranks, such as `3–7`."""
    return "–" if ranks is None else str(ranks[0]) if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


def sentence_of_many(outcomes: Sequence[Outcome], noun: str, *, first: str = "A") -> str:
    """What the first is, compared with others."""
    words: dict[Outcome, str] = {
        "better": "better than",
        "worse": "worse than",
        "not distinguished": "not distinguished from",
        "no verdict": "no verdict about",
    }
    parts = [
        f"{relation} {outcomes.count(outcome):,}"
        for outcome, relation in words.items()
        if outcome in outcomes or outcome != "no verdict"
    ]
    return f"of {counted(len(outcomes), noun)}, {first} is {', '.join(parts)}"


def sentence_of_pairs(outcomes: Sequence[Outcome]) -> str:
    """How many pairs differ."""
    n_close, n_without = outcomes.count("not distinguished"), outcomes.count("no verdict")
    without = f", no verdict about {n_without:,}" if n_without else ""
    n_differ = len(outcomes) - n_close - n_without
    differ = f"{n_differ:,} differ{'s' * (n_differ == 1)}"
    return f"of {counted(len(outcomes), 'pair')}, {differ}, {n_close:,} not distinguished{without}"


def shown_p(p_value: float | None) -> str:
    """A p-value with four digits; – for None and NaN."""
    if p_value is None or p_value != p_value:
        return "–"
    return f"{p_value:.4f}" if p_value >= 0.0001 else "< 0.0001"


def corrected(p_values: Any) -> Floats:
    """Corrects the p-values of a family for multiple comparisons by Holm's method, which SciPy does not have."""
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    after = np.empty(len(values))
    after[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)), 1.0)
    return after


def holm_levels(p_values: Any, alpha: float = ALPHA) -> Floats:
    """The level at which Holm's procedure decides each p-value of a family.

    It is `alpha` divided by the number of p-values that are left when the procedure reaches this one; all p-values
    after the first one that is not significant have the level of that one. So the interval at this level, by the same
    test, excludes 0 exactly if the corrected p-value is at most `alpha`.
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    n_left = np.arange(len(values), 0, -1)
    is_stop = corrected(values)[order] > alpha + ROUNDING
    first = int(is_stop.argmax()) if is_stop.any() else len(values)
    n_left[first:] = n_left[first : first + 1]
    levels = np.empty(len(values))
    levels[order] = alpha / n_left
    return levels
