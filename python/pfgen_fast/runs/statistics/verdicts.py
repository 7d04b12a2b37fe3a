"""Whether the first of two runs is better than the second: decided for a family of pairs, and said in one sentence.

The p-values of a family are corrected together by Holm, and each interval has the level at which Holm's procedure
decides its pair, so a verdict and its interval never disagree. The sign is that of first minus second. Rules:
docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...base.untrusted_text import counted, signed
from .paired import ALPHA, MIN_QUESTIONS, PairedDifference, Test, corrected, holm_levels


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

    def outcome(self, *, higher_is_better: bool = True) -> str:
        """What the first is: `better`, `worse`, `tied` (no significant difference), or `undecided` (no verdict)."""
        if self.differs is None:
            return "undecided"
        if not self.differs:
            return "tied"
        return "better" if (self.difference > 0) == higher_is_better else "worse"

    def over(self, item: str = "question") -> str:
        """The numbers of questions and clusters in words."""
        clusters = "" if self.n_clusters is None else f" in {counted(self.n_clusters, 'cluster')}"
        return counted(self.n_questions, item) + clusters

    def interval_words(self, pair: str = "", item: str = "question") -> str:
        """The interval in words, such as `95 % interval +0.0100 to +0.0300 over 50 questions`."""
        if self.low is None or self.high is None:
            return f"the same on all {self.over(item)}"
        family = f" (Holm, {self.n_in_family:,} comparisons)" if self.n_in_family > 1 else ""
        ends = f"{signed(self.low, 4)} to {signed(self.high, 4)}"
        return f"{100 * (1 - self.alpha):.6g} % interval{pair}{family} {ends} over {self.over(item)}"

    def sentence(
        self, first: str = "A", second: str = "B", *, higher_is_better: bool = True, item: str = "question"
    ) -> str:
        """The verdict in words, such as `A is better by 0.0200, 95 % interval of A - B +0.0100 to +0.0300 over ...`."""
        pair = f"{first} - {second}"
        if self.differs is None:
            few = f"no verdict from {self.over(item)}, at least {MIN_QUESTIONS} are needed"
            return f"{few}: {pair} is {signed(self.difference, 4)}"
        interval = self.interval_words(f" of {pair}", item)
        if not self.differs:
            return f"no significant difference: {pair} is {signed(self.difference, 4)}, {interval}"
        better = first if self.outcome(higher_is_better=higher_is_better) == "better" else second
        lower = "" if higher_is_better else " (lower is better)"
        return f"{better} is better by {abs(self.difference):.4f}{lower}, {interval}"


def decided(pairs: Sequence[PairedDifference], *, alpha: float = ALPHA) -> list[Verdict]:
    """Decides the pairs of one family, corrected by Holm; pairs without a verdict are in no family."""
    p_values = [pair.p_value if pair.has_verdict else None for pair in pairs]
    family = [p for p in p_values if p is not None]
    after, levels = iter(corrected(family, "holm").tolist()), iter(holm_levels(family, alpha).tolist())
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
                None if p_corrected is None else p_corrected <= alpha + 1e-12,
                pair.n,
                pair.n_clusters,
                pair.test,
                1 if p is None else len(family),
                alpha,
            )
        )
    return verdicts
