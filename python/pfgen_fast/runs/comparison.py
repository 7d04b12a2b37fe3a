"""Comparison of two runs: whether one is better, by how much, and on which questions.

Both runs are scored again. The difference is the mean over questions of the difference of the runs' mean scores. Its
interval and p-value are those of the paired t-test over questions. Trials are not drawn again, as the mean of a
question's trials already varies with them. Definition, reason and simulation: docs/statistics.md.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import TrialsError
from ..scoring.metrics import PARTS
from ..scoring.scorer import Scorer
from ..statistics.paired import MIN_QUESTIONS, PairedDifference, paired_difference
from ..suite.suite import Suite
from .aggregation import UnknownQuestions, trials_of
from .trials import RunFolder, Trials

METRICS = ("average", *PARTS, "length")

_Means = dict[str, dict[str, float]]
"""By question's text, then metric, the mean of the trials."""


@dataclass(frozen=True)
class Difference:
    """The difference between runs A and B in one metric, over the questions that both have.

    Attributes:
        metric: The metric; `average` is the score.
        a: The mean of run A over questions.
        b: The mean of run B over questions.
        difference: `a - b`.
        low: Lower end of the 95 % interval of the difference; None where the questions have no spread to judge by,
            because there is one or all have the same difference.
        high: Upper end of the interval; None as `low`.
        p_value: Two-sided p-value of "there is no difference"; None with one question.
        n_questions: The number of questions.
        differs: Whether the runs differ at the level 0.05; None, no verdict, with too few questions.
    """

    metric: str
    a: float
    b: float
    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    n_questions: int
    differs: bool | None


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
    """The result of `compare`: differences by metric, and by question with the largest first.

    Attributes:
        metrics: The differences by metric.
        questions: The differences in the score by question, largest first.
        left_out: Which questions are left out and why, in a sentence; empty if both runs have all.
    """

    metrics: tuple[Difference, ...]
    questions: tuple[QuestionDifference, ...]
    left_out: str

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence."""
        score = self.metrics[0]
        over = counted_questions(score.n_questions)
        if score.differs is None:
            return f"no verdict from {over}, at least {MIN_QUESTIONS} are needed: A - B is {score.difference:+.4f}"
        if score.low is None or score.high is None:
            interval = f"the same on all {over}"
        else:
            interval = f"95 % interval of A - B {score.low:+.4f} to {score.high:+.4f} over {over}"
        if not score.differs:
            return f"no significant difference: A - B is {score.difference:+.4f}, {interval}"
        return f"{'A' if score.difference > 0 else 'B'} is better by {abs(score.difference):.4f}, {interval}"

    def to_dict(self) -> dict[str, Any]:
        """The verdict and all figures, for JSON."""
        return {"verdict": self.verdict, **asdict(self)}


def compare(a: RunFolder, b: RunFolder, scorer: Scorer, *, unknown: UnknownQuestions = "error") -> Comparison:
    """Compares two runs of one suite.

    Args:
        a: Run A.
        b: Run B; the numbers of trials may differ.
        scorer: Scores both runs.
        unknown: What happens to trials of questions that the suite lacks.

    Raises:
        TrialsError: A run cannot be read, or the two have no question in common.
    """
    means_a, means_b = question_means(a, scorer, unknown), question_means(b, scorer, unknown)
    questions = [question for question in scorer.suite if question.question in means_a and question.question in means_b]
    if not questions:
        raise TrialsError(f"{a.folder} and {b.folder} have no question in common")
    texts = [question.question for question in questions]
    metrics = tuple(
        _difference(
            metric,
            np.array([means_a[text][metric] for text in texts]),
            np.array([means_b[text][metric] for text in texts]),
        )
        for metric in METRICS
    )
    by_question = [
        _of_question(question.question_id, text, means_a[text]["average"], means_b[text]["average"])
        for question, text in zip(questions, texts, strict=True)
    ]
    by_question.sort(key=lambda question: -abs(question.difference))
    return Comparison(metrics, tuple(by_question), _left_out(scorer.suite, means_a, means_b))


def question_means(run: RunFolder, scorer: Scorer, unknown: UnknownQuestions) -> _Means:
    """The means of a run's trials by the question's text, then by metric; see `compare`."""
    trials = trials_of(scorer.suite, Trials.of(run), unknown=unknown)
    table = scorer.score(trials.lines.questions, trials.lines.answers)
    columns = {metric: table[metric] for metric in METRICS if metric != "length"}
    columns["length"] = np.array(trials.lines.lengths, dtype=np.float64)
    return {
        question: {metric: float(column[rows].mean()) for metric, column in columns.items()}
        for question, rows in trials.rows_by_question.items()
    }


def _of_question(question_id: str, text: str, a: float, b: float) -> QuestionDifference:
    return QuestionDifference(question_id, text, a, b, a - b)


def _difference(metric: str, a: NDArray[np.float64], b: NDArray[np.float64]) -> Difference:
    found: PairedDifference = paired_difference(a, b)
    means = float(a.mean()), float(b.mean())
    return Difference(
        metric, *means, found.mean, found.low, found.high, found.p_value, n_questions=found.n, differs=found.differs()
    )


def _left_out(suite: Suite, a: _Means, b: _Means) -> str:
    n_left_out = sum(question.question not in a or question.question not in b for question in suite)
    if not n_left_out:
        return ""
    lacking = [
        f"{sum(question.question not in means for question in suite)} in run {name}"
        for name, means in (("A", a), ("B", b))
    ]
    are = "is" if n_left_out == 1 else "are"
    return (
        f"{n_left_out} of {counted_questions(len(suite))} {are} left out, without an answer: {' and '.join(lacking)}."
    )


def counted_questions(n: int) -> str:
    """A number of questions, such as `1 question`."""
    return f"{n:,} question{'' if n == 1 else 's'}"
