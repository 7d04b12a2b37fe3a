"""Comparison of two runs: whether one is better, by how much, and on which questions.

Both runs are scored again. The difference is the mean over questions of the difference of the runs' mean scores. Its
interval and p-value come from a paired bootstrap: questions are drawn with replacement, the same ones for both runs,
and within each drawn question the trials of each run are drawn with replacement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import TrialsError
from ..scoring.metrics import PARTS
from ..scoring.scorer import Scorer
from ..statistics.bootstrap import paired_differences, percentile_interval
from ..statistics.p_values import bootstrap_p_values
from .aggregation import UnknownQuestions, trials_of
from .trials import RunFolder, Trials

METRICS = ("average", *PARTS, "length")


@dataclass(frozen=True)
class Difference:
    """The difference between runs A and B in one metric.

    Attributes:
        metric: The metric; `average` is the score.
        a: The mean of run A over questions.
        b: The mean of run B over questions.
        difference: `a - b`.
        low: Lower end of the 95 % bootstrap interval of the difference.
        high: Upper end of the interval.
        p_value: Two-sided bootstrap p-value of "there is no difference".
    """

    metric: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class QuestionDifference:
    """The difference between the scores of runs A and B on one question."""

    question_id: str
    question: str
    a: float
    b: float
    difference: float


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`: differences by metric, and by question with the largest first."""

    metrics: tuple[Difference, ...]
    questions: tuple[QuestionDifference, ...]
    n_resamples: int

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence."""
        score = self.metrics[0]
        interval = f"95 % interval of A - B {score.low:+.4f} to {score.high:+.4f}"
        if score.low <= 0 <= score.high:
            return f"no significant difference: A - B is {score.difference:+.4f}, {interval}"
        return f"{'A' if score.difference > 0 else 'B'} is better by {abs(score.difference):.4f}, {interval}"

    def to_dict(self) -> dict[str, Any]:
        """The verdict and all figures, for JSON."""
        return {"verdict": self.verdict, **asdict(self)}


def compare(
    a: RunFolder,
    b: RunFolder,
    scorer: Scorer,
    *,
    n_resamples: int = 10_000,
    seed: int = 0,
    unknown: UnknownQuestions = "error",
) -> Comparison:
    """Compares two runs of one suite.

    Args:
        a: Run A.
        b: Run B; the numbers of trials may differ.
        scorer: Scores both runs.
        n_resamples: The number of bootstrap resamples.
        seed: The seed of the draws; equal seeds give equal figures.
        unknown: What happens to trials of questions that the suite lacks.

    Raises:
        TrialsError: A run cannot be read, or the two have no question in common.
    """
    scores_a, scores_b = _scores(a, scorer, unknown), _scores(b, scorer, unknown)
    questions = [
        question for question in scorer.suite if question.question in scores_a and question.question in scores_b
    ]
    if not questions:
        raise TrialsError(f"{a.folder} and {b.folder} have no question in common")
    texts = [question.question for question in questions]
    metrics = tuple(
        _difference(
            metric, [scores_a[t][metric] for t in texts], [scores_b[t][metric] for t in texts], n_resamples, seed
        )
        for metric in METRICS
    )
    by_question = [
        QuestionDifference(question.question_id, text, *_means(scores_a[text]["average"], scores_b[text]["average"]))
        for question, text in zip(questions, texts, strict=True)
    ]
    by_question.sort(key=lambda question: -abs(question.difference))
    return Comparison(metrics, tuple(by_question), n_resamples)


def _scores(run: RunFolder, scorer: Scorer, unknown: UnknownQuestions) -> dict[str, dict[str, NDArray[np.float64]]]:
    """The scores of each question's trials, by metric."""
    trials = trials_of(scorer.suite, Trials.of(run), unknown=unknown)
    table = scorer.score(trials.lines.questions, trials.lines.answers)
    columns = {metric: table[metric] for metric in METRICS if metric != "length"}
    columns["length"] = np.array(trials.lines.lengths, dtype=np.float64)
    return {
        question: {metric: column[rows] for metric, column in columns.items()}
        for question, rows in trials.rows_by_question.items()
    }


def _means(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[float, float, float]:
    return float(a.mean()), float(b.mean()), float(a.mean() - b.mean())


def _difference(
    metric: str, a: Sequence[NDArray[np.float64]], b: Sequence[NDArray[np.float64]], n_resamples: int, seed: int
) -> Difference:
    differences = paired_differences(a, b, n_resamples, seed)
    low, high = percentile_interval(differences)
    mean_a, mean_b = float(np.mean([x.mean() for x in a])), float(np.mean([x.mean() for x in b]))
    p_value = float(bootstrap_p_values(differences))
    return Difference(metric, mean_a, mean_b, mean_a - mean_b, float(low), float(high), p_value)
