"""Comparison of several runs with one baseline, by resampling questions: what sacrebleu calls paired tests.

All runs are scored again, and compared over the questions that all of them have; the p-values of all runs are one
family, corrected by Holm. Definition and simulation: docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import TrialsError
from ..scoring.scorer import Scorer
from ..statistics.mean_interval import mean_interval
from ..statistics.paired import MIN_QUESTIONS
from ..statistics.paired_resampling import PairedTest, against_baseline, default_draws, draws_needed, takes_all_ways
from .aggregation import UnknownQuestions
from .comparison import METRICS, counted_questions, means_of
from .trials import RunFolder

TESTS: dict[PairedTest, str] = {"bootstrap": "paired bootstrap", "randomization": "paired approximate randomization"}
"""The tests, with their full names."""


@dataclass(frozen=True)
class ComparedRun:
    """A run beside the baseline; of the baseline itself, everything from `difference` on is None."""

    run: str
    value: float  # mean over questions; where none of the run's questions is left out, as in its result.json
    # half of its 95 % interval over questions, as `pfgen-fast score` prints it; None without spread
    half_width: float | None
    difference: float | None = None  # mean of run - baseline
    # lower end of the 95 % interval of the difference; None where the test or the questions give none
    low: float | None = None
    high: float | None = None  # upper end of the interval; None as `low`
    p_value: float | None = None  # Two-sided p-value of "there is no difference"
    p_corrected: float | None = None  # same by Holm over all runs; None, no verdict, with too few questions or draws
    differs: bool | None = None  # whether run and baseline differ at the level 0.05, corrected; None as `p_corrected`


@dataclass(frozen=True)
class BaselineComparison:
    """The result of `compare_with_baseline`."""

    metric: str  # what is compared; `average` is the score
    test: PairedTest
    n_draws: int
    seed: int
    n_questions: int  # number of questions that all runs have
    runs: tuple[ComparedRun, ...]  # baseline, and the runs in the order in which they were given
    left_out: str  # which questions are left out and why, in a sentence; empty if all runs have all

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence."""
        others, of_questions = self.runs[1:], counted_questions(self.n_questions)
        if self.n_questions < MIN_QUESTIONS:
            return f"no verdict from {of_questions}, at least {MIN_QUESTIONS} are needed"
        if others[0].p_corrected is None:
            if self._takes_all_ways:
                return (
                    f"no verdict: {of_questions} are too few to compare {len(others):,} runs by swapping; use --paired"
                )
            needed = draws_needed(len(others))
            return f"no verdict: {self.n_draws:,} draws are too few for {len(others):,} runs, {needed:,} are needed"
        n_above = sum(bool(run.differs) and (run.difference or 0) > 0 for run in others)
        n_below = sum(bool(run.differs) for run in others) - n_above
        return (
            f"of {len(others)} run{'' if len(others) == 1 else 's'}, {n_above} above the baseline, {n_below} below, "
            f"{len(others) - n_above - n_below} without significant difference"
        )

    @property
    def method(self) -> str:
        """How p-values and intervals were made, in one sentence."""
        n = self.n_questions
        if self._takes_all_ways:
            draws = f"all {2**n:,} ways to swap {counted_questions(n)}"
        else:
            draws = f"{self.n_draws:,} draws of {counted_questions(n)}, seed {self.seed}"
        n_others = len(self.runs) - 1
        corrected = f"corrected by Holm for {n_others} comparison{'' if n_others == 1 else 's'} with the baseline"
        return f"{TESTS[self.test]}, {draws}; {corrected}"

    @property
    def _takes_all_ways(self) -> bool:
        return self.test == "randomization" and takes_all_ways(self.n_questions, self.n_draws)

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
    """Compares runs with a baseline, all over the same questions and by the same draws of them."""
    if not runs:
        raise TrialsError(f"{baseline.folder}: no other run to compare with it")
    if metric not in METRICS:
        raise TrialsError(f"metric {metric!r}: expected one of {', '.join(METRICS)}")
    means = [means_of(run, scorer, unknown) for run in (baseline, *runs)]
    texts = [question.question for question in scorer.suite if all(question.question in of.by_question for of in means)]
    if not texts:
        raise TrialsError(f"{baseline.folder} and the runs compared with it have no question in common")
    n_draws = default_draws(len(runs)) if n_draws is None else n_draws
    values = np.array([[of.by_question[text][metric] for text in texts] for of in means])
    found = against_baseline(values[0], values[1:], test=test, n_draws=n_draws, seed=seed)
    intervals = [mean_interval(row.tolist()) for row in values]
    shown = [of.mean(metric, row.tolist()) for of, row in zip(means, values, strict=True)]
    rows = [ComparedRun(str(baseline.folder), shown[0], intervals[0].half_width)]
    for run, value, interval, of_run in zip(runs, shown[1:], intervals[1:], found, strict=True):
        p_values = of_run.p_value, of_run.corrected
        difference = of_run.mean, of_run.low, of_run.high
        rows.append(
            ComparedRun(str(run.folder), value, interval.half_width, *difference, *p_values, differs=of_run.differs())
        )
    n_out = len(scorer.suite) - len(texts)
    left_out = ""
    if n_out:
        left_out = f"{n_out} of {counted_questions(len(scorer.suite))} left out, for which a run has no answer."
    return BaselineComparison(metric, test, n_draws, seed, len(texts), tuple(rows), left_out)
