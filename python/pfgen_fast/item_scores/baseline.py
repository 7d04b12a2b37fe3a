"""Comparison of several models with one baseline, by paired approximate randomization over items.

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
from ..statistics.paired import MIN_QUESTIONS
from ..statistics.paired_randomization import against_baseline, default_draws, draws_needed, takes_all_ways
from .comparison import WORDS, clusters_of, columns_of
from .table import ItemScores


@dataclass(frozen=True)
class ComparedRun:
    """A run compared with the baseline; for the baseline itself, all fields from `difference` on are None."""

    run: str
    value: float  # mean over questions; as in the run's result.json if no question is left out
    # half of its 95 % interval over questions, as `pfgen-fast score` prints it; None without spread
    half_width: float | None
    difference: float | None = None  # mean of run - baseline
    low: float | None = None  # lower end of Student's 95 % interval of the difference; None without spread
    high: float | None = None  # upper end of the interval; None as `low`
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

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence."""
        others, model = self.runs[1:], WORDS[self.of].model
        if self._n_drawn < MIN_QUESTIONS:
            return f"no verdict from {self._drawn}, at least {MIN_QUESTIONS} are needed"
        if others[0].p_corrected is None:
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
        comparisons = counted(len(self.runs) - 1, "comparison")
        draws = f"{self.n_draws:,} draws of {self._drawn}, seed {self.seed}"
        if self._takes_all_ways:
            draws = f"all {2**self._n_drawn:,} ways to swap {self._drawn}"
        return f"paired approximate randomization, {draws}; corrected by Holm for {comparisons} with the baseline"

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
    found = against_baseline(values[0], values[1:], n_draws=n_draws, seed=seed, clusters=clusters)
    to_itself: list[tuple[Any, ...]] = [()]
    differences = [(one.mean, one.low, one.high, one.p_value, one.corrected, one.differs()) for one in found]
    rows = []
    for model, row, difference in zip(table.models, values.tolist(), to_itself + differences, strict=True):
        interval = mean_interval(row, clusters)
        rows.append(ComparedRun(model, interval.mean, interval.half_width, *difference))
    n_all = len(table.items)
    left_out = f"{n_all - len(items)} of {counted(n_all, words.item)} left out"
    left_out = "" if len(items) == n_all else f"{left_out}, for which a {words.model} has no {words.score.split()[-1]}."
    n_clusters = None if clusters is None else len(set(clusters))
    return BaselineComparison(metric, n_draws, seed, len(items), tuple(rows), left_out, n_clusters, of)
