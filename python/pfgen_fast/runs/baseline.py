"""Comparison of several runs with one baseline, by resampling questions: what sacrebleu calls paired tests.

All runs are scored again, and compared over the questions that all of them have. The p-values of all runs are
corrected together, by Holm. Definition and simulation: docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import TrialsError
from ..files.notebook import NotebookTable
from ..files.untrusted_text import counted
from ..scoring.scorer import Scorer
from ..statistics.mean_interval import mean_interval
from ..statistics.paired import MIN_QUESTIONS
from ..statistics.paired_resampling import PairedTest, against_baseline, default_draws, draws_needed, takes_all_ways
from .aggregation import UnknownQuestions
from .comparison import METRICS, columns_of, means_of
from .trials import RunFolder

TESTS: dict[PairedTest, str] = {"bootstrap": "paired bootstrap", "randomization": "paired approximate randomization"}
"""The tests, with their full names."""


@dataclass(frozen=True)
class ComparedRun:
    """A run compared with the baseline; for the baseline itself, all fields from `difference` on are None."""

    run: str
    value: float  # mean over questions; as in the run's result.json if no question is left out
    # half of its 95 % interval over questions, as `pfgen-fast score` prints it; None without spread
    half_width: float | None
    difference: float | None = None  # mean of run - baseline
    # lower end of the 95 % interval of the difference; None if the test or the questions allow no interval
    low: float | None = None
    high: float | None = None  # upper end of the interval; None as `low`
    p_value: float | None = None  # Two-sided p-value of "there is no difference"
    p_corrected: float | None = None  # corrected by Holm over all runs; None if questions or draws are too few
    differs: bool | None = None  # whether run and baseline differ at the level 0.05, corrected; None as `p_corrected`


@dataclass(frozen=True)
class BaselineComparison(NotebookTable):
    """The result of `compare_with_baseline`."""

    metric: str  # what is compared; `average` is the score
    test: PairedTest
    n_draws: int
    seed: int
    n_questions: int  # number of questions that all runs have
    runs: tuple[ComparedRun, ...]  # baseline, and the runs in the order in which they were given
    left_out: str  # which questions are left out and why, in a sentence; empty if no question is left out

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence."""
        others, of_questions = self.runs[1:], counted(self.n_questions, "question")
        if self.n_questions < MIN_QUESTIONS:
            return f"no verdict from {of_questions}, at least {MIN_QUESTIONS} are needed"
        if others[0].p_corrected is None:
            n_runs, needed = f"{len(others):,} runs", draws_needed(len(others))
            if self._takes_all_ways:
                return f"no verdict: {of_questions} are too few to compare {n_runs} by swapping; use --paired"
            return f"no verdict: {self.n_draws:,} draws are too few for {n_runs}, {needed:,} are needed"
        n_above = sum(bool(run.differs) and (run.difference or 0) > 0 for run in others)
        n_below = sum(bool(run.differs) for run in others) - n_above
        return (
            f"of {counted(len(others), 'run')}, {n_above} above the baseline, {n_below} below, "
            f"{len(others) - n_above - n_below} without significant difference"
        )

    @property
    def method(self) -> str:
        """How p-values and intervals were made, in one sentence."""
        of_questions, comparisons = counted(self.n_questions, "question"), counted(len(self.runs) - 1, "comparison")
        draws = f"{self.n_draws:,} draws of {of_questions}, seed {self.seed}"
        if self._takes_all_ways:
            draws = f"all {2**self.n_questions:,} ways to swap {of_questions}"
        return f"{TESTS[self.test]}, {draws}; corrected by Holm for {comparisons} with the baseline"

    @property
    def _takes_all_ways(self) -> bool:
        return self.test == "randomization" and takes_all_ways(self.n_questions, self.n_draws)

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.runs)

    def _words(self) -> list[str]:
        return [self.verdict, self.method, *filter(None, [self.left_out])]

    def to_dict(self) -> dict[str, Any]:
        """The verdict and all figures, for JSON."""
        return {"verdict": self.verdict, "method": self.method, **asdict(self)}


def compare_with_baseline(
    baseline: RunFolder,
    runs: Sequence[RunFolder],
    scorer: Scorer,
    *,
    metric: str = "average",
    test: PairedTest = "bootstrap",
    n_draws: int | None = None,
    seed: int = 0,
    unknown: UnknownQuestions = "error",
) -> BaselineComparison:
    """Compares runs with a baseline over the same questions, and with the same draws of questions."""
    if not runs:
        raise TrialsError(f"{baseline.folder}: no other run to compare with it")
    if metric not in METRICS:
        raise TrialsError(f"metric {metric!r}: expected one of {', '.join(METRICS)}")
    all_runs = (baseline, *runs)
    means = [means_of(run, scorer, unknown) for run in all_runs]
    texts = [question.question for question in scorer.suite if all(question.question in of.by_question for of in means)]
    if not texts:
        raise TrialsError(f"{baseline.folder} and the runs compared with it have no question in common")
    n_draws = default_draws(len(runs)) if n_draws is None else n_draws
    values = np.array([[of.by_question[text][metric] for text in texts] for of in means])
    found = against_baseline(values[0], values[1:], test=test, n_draws=n_draws, seed=seed)
    to_itself: list[tuple[Any, ...]] = [()]
    differences = [(of.mean, of.low, of.high, of.p_value, of.corrected, of.differs()) for of in found]
    rows = tuple(
        ComparedRun(str(run.folder), of.mean(metric, row), mean_interval(row).half_width, *difference)
        for run, of, row, difference in zip(all_runs, means, values.tolist(), to_itself + differences, strict=True)
    )
    left_out = f"{len(scorer.suite) - len(texts)} of {counted(len(scorer.suite), 'question')} left out"
    left_out = "" if len(texts) == len(scorer.suite) else f"{left_out}, for which a run has no answer."
    return BaselineComparison(metric, test, n_draws, seed, len(texts), rows, left_out)
