"""Comparison of several models with one baseline, by paired approximate randomization over items.

Scores of 0 and 1 have Tango's score test instead, as in all comparisons.

All models are compared over the items that all of them have. The p-values of all models are corrected together, by
Holm. Definition and simulation: docs/statistics.md.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from ..errors import TrialsError
from ..files.notebook import NotebookTable
from ..files.untrusted_text import counted, unknown_name
from ..statistics.mean_interval import mean_interval
from ..statistics.paired import MIN_QUESTIONS, TESTS, Test, paired_difference
from ..statistics.paired_randomization import against_baseline, default_draws, draws_needed, takes_all_ways
from ..statistics.verdicts import decided
from .comparison import WORDS, clusters_of, columns_of
from .table import ItemScores


@dataclass(frozen=True)
class ComparedRun:
    """A run compared with the baseline; for the baseline itself, all fields from `difference` on are None."""

    run: str
    value: float  # mean over questions; as in the run's result.json if no question is left out
    # its 95 % interval over questions, as in a leaderboard; None without spread
    value_low: float | None
    value_high: float | None
    spread: str  # the interval in words
    difference: float | None = None  # mean of run - baseline
    low: float | None = None  # ends of the interval of the difference, corrected as the p-value; see `Verdict`
    high: float | None = None
    p_value: float | None = None  # Two-sided p-value of "there is no difference"
    p_corrected: float | None = None  # corrected by Holm over all runs; None if questions or draws are too few
    differs: bool | None = None  # whether run and baseline differ at the level 0.05, corrected; None as `p_corrected`


@dataclass(frozen=True)
class BaselineComparison(NotebookTable):
    """The result of `compare_with_baseline`."""

    metric: str  # what is compared; `average` is the score
    n_draws: int
    seed: int
    n_questions: int  # number of questions that all runs have
    runs: tuple[ComparedRun, ...]  # baseline, and the runs (models) in the order in which they were given
    left_out: str  # which questions are left out and why, in a sentence; empty if no question is left out
    n_clusters: int | None = None  # number of clusters of the questions, which are swapped whole; None without clusters
    of: Literal["runs", "models"] = "models"
    test: Test = "swapping"

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence."""
        others, model = self.runs[1:], WORDS[self.of].model
        if self._n_drawn < MIN_QUESTIONS:
            return f"no verdict from {self._drawn}, at least {MIN_QUESTIONS} are needed"
        if others[0].p_corrected is None and self.test == "swapping":
            n_models, needed = f"{len(others):,} {model}s", draws_needed(len(others))
            if self._takes_all_ways:
                return f"no verdict: {self._drawn} are too few to compare {n_models} by swapping"
            return f"no verdict: {self.n_draws:,} draws are too few for {n_models}, {needed:,} are needed"
        n_above = sum(bool(run.differs) and (run.difference or 0) > 0 for run in others)
        n_below = sum(bool(run.differs) for run in others) - n_above
        return (
            f"of {counted(len(others), model)}, {n_above} above the baseline, {n_below} below, "
            f"{len(others) - n_above - n_below} without significant difference"
        )

    @property
    def method(self) -> str:
        """How the p-values were made, in one sentence."""
        comparisons = f"{counted(len(self.runs) - 1, 'comparison')} with the baseline"
        if self.test != "swapping":
            over = f"{TESTS[self.test]} over {self._drawn}, because all scores are 0 or 1"
            return f"{over}; p-values and intervals are corrected by Holm for {comparisons}"
        draws = f"{self.n_draws:,} draws of {self._drawn}, seed {self.seed}"
        if self._takes_all_ways:
            draws = f"all {2**self._n_drawn:,} ways to swap {self._drawn}"
        return f"{TESTS[self.test]}, {draws}; p-values and intervals are corrected by Holm for {comparisons}"

    @property
    def _n_drawn(self) -> int:
        return self.n_questions if self.n_clusters is None else self.n_clusters

    @property
    def _drawn(self) -> str:
        questions = counted(self.n_questions, WORDS[self.of].item)
        return questions if self.n_clusters is None else f"{counted(self.n_clusters, 'cluster')} of {questions}"

    @property
    def _takes_all_ways(self) -> bool:
        return takes_all_ways(self._n_drawn, self.n_draws)

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.runs)

    def _words(self) -> list[str]:
        return [self.verdict, self.method, *filter(None, [self.left_out])]

    def to_dict(self) -> dict[str, Any]:
        """The verdict and all figures, for JSON."""
        return {"verdict": self.verdict, "method": self.method, **asdict(self)}


def compare_by_swapping(
    table: ItemScores,
    *,
    metric: str,
    n_draws: int | None = None,
    seed: int = 0,
    of: Literal["runs", "models"] = "models",
) -> BaselineComparison:
    """Compares all other models with the first over the same items, and with the same draws of items."""
    words = WORDS[of]
    if metric not in table.metrics:
        raise TrialsError(unknown_name("metric", metric, table.metrics))
    if len(table.models) < 2:
        raise TrialsError(f"1 {words.model}: a comparison needs at least two")
    all_values = table.values[metric]
    items = np.flatnonzero(~np.isnan(all_values).any(axis=0)).tolist()
    if not items:
        raise TrialsError(f"the {words.model}s have no {words.item} in common")
    n_draws = default_draws(len(table.models) - 1) if n_draws is None else n_draws
    values, of_items = all_values[:, items], clusters_of(table)
    clusters = None if of_items is None else [of_items[at] for at in items]
    is_binary = metric in table.binary
    if is_binary:
        verdicts = decided([paired_difference(row, values[0], binary=True) for row in values[1:]])
    else:
        verdicts = against_baseline(values[0], values[1:], n_draws=n_draws, seed=seed, clusters=clusters)
    to_itself: list[tuple[Any, ...]] = [()]
    differences = [(of.difference, of.low, of.high, of.p_value, of.p_corrected, of.differs) for of in verdicts]
    rows = []
    for model, row, difference in zip(table.models, values.tolist(), to_itself + differences, strict=True):
        mean = mean_interval(row, clusters, binary=is_binary)
        rows.append(ComparedRun(model, mean.mean, mean.low, mean.high, mean.shown(), *difference))
    n_all = len(table.items)
    left_out = f"{n_all - len(items)} of {counted(n_all, words.item)} left out"
    left_out = "" if len(items) == n_all else f"{left_out}, for which a {words.model} has no {words.score.split()[-1]}."
    n_clusters = None if clusters is None else len(set(clusters))
    test = verdicts[0].test
    return BaselineComparison(metric, n_draws, seed, len(items), tuple(rows), left_out, n_clusters, of, test)
