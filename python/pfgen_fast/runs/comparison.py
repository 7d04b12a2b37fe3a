"""Comparison of two runs: whether one is better, by how much, and on which questions.

Both runs are scored again, and their means are rounded as in a result.json. The difference is the mean over questions
of the difference of the runs' mean scores; interval and p-value are those of the paired t-test over questions.
Definition, reason and simulation: docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import TrialsError
from ..files.cells import signed
from ..files.notebook import NotebookTable
from ..files.untrusted_text import counted
from ..scoring.scorer import Scorer
from ..statistics.paired import MIN_QUESTIONS, PairedDifference, paired_difference
from ..suite.rules import PARTS, FloatSum
from ..suite.suite import Suite
from .aggregation import UnknownQuestions, figures_by_question, trials_of
from .checkout import suite_of_all
from .result import Figures
from .trials import RunFolder, Trials, one_run

METRICS = ("average", *PARTS, "length")


class MeansOfRun(NamedTuple):
    """The figures of a run as in its result.json; all commands and the report show them."""

    whole: dict[str, float]  # by metric, the figure of the run
    # by the question's text, then metric, the mean of the trials; differences are computed from these
    by_question: dict[str, dict[str, float]]
    scores: dict[str, float]  # by the question's text, the score that is shown, which has four digits

    def mean(self, metric: str, values: Sequence[float]) -> float:
        """The mean of the values of some questions; for all questions, this is the figure of the run."""
        return self.whole[metric] if len(values) == len(self.by_question) else math.fsum(values) / len(values)


@dataclass(frozen=True)
class Difference:
    """The difference between runs A and B in one metric, over the questions that both have."""

    metric: str  # metric; `average` is the score
    a: float  # mean of run A over questions; equal to its result.json if no question is left out
    b: float  # the same for run B
    difference: float  # mean over questions of A - B
    # lower end of the 95 % interval of the difference; None with one question, or if all differences are equal
    low: float | None
    high: float | None  # upper end of the interval; None as `low`
    p_value: float | None  # Two-sided p-value of "there is no difference"; None with one question
    n_questions: int
    differs: bool | None  # whether the runs differ at the level 0.05; None, no verdict, with too few questions


@dataclass(frozen=True)
class QuestionDifference:
    """The scores of runs A and B on one question, as in result.json, and their difference, which has more digits."""

    question_id: str
    question: str
    a: float
    b: float
    difference: float


@dataclass(frozen=True)
class Comparison(NotebookTable):
    """The result of `compare`: differences by metric, and by question with the largest first."""

    metrics: tuple[Difference, ...]
    questions: tuple[QuestionDifference, ...]  # differences in the score by question, largest first
    left_out: str  # which questions are left out and why, in a sentence; empty if both runs have all

    @property
    def verdict(self) -> str:
        """The conclusion in one sentence."""
        score = self.metrics[0]
        over = counted(score.n_questions, "question")
        if score.differs is None:
            return (
                f"no verdict from {over}, at least {MIN_QUESTIONS} are needed: A - B is {signed(score.difference, 4)}"
            )
        if score.low is None or score.high is None:
            interval = f"the same on all {over}"
        else:
            interval = f"95 % interval of A - B {signed(score.low, 4)} to {signed(score.high, 4)} over {over}"
        if not score.differs:
            return f"no significant difference: A - B is {signed(score.difference, 4)}, {interval}"
        return f"{'A' if score.difference > 0 else 'B'} is better by {abs(score.difference):.4f}, {interval}"

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of(self.metrics)

    def _words(self) -> list[str]:
        return [self.verdict, *filter(None, [self.left_out])]

    def to_dict(self) -> dict[str, Any]:
        """The verdict and all figures, for JSON."""
        return {"verdict": self.verdict, **asdict(self)}


def compare(
    a: RunFolder | str | Path,
    b: RunFolder | str | Path,
    scorer: Scorer | None = None,
    *,
    unknown: UnknownQuestions = "error",
) -> Comparison:
    """Compares two runs of one suite by the paired t-test over questions.

    Args:
        a: Directory of run A.
        b: Directory of run B.
        scorer: Scores the answers; by default with the suite of the checkout that contains the runs.
        unknown: Whether answers to questions that the suite lacks are an error, or are left out.

    Raises:
        PfgenError: A run cannot be read, or the runs have no question in common.
    """
    a, b = one_run(a), one_run(b)
    scorer = scorer or Scorer(suite_of_all([a.folder, b.folder]))
    means_a, means_b = means_of(a, scorer, unknown), means_of(b, scorer, unknown)
    of_a, of_b = means_a.by_question, means_b.by_question
    questions = [question for question in scorer.suite if question.question in of_a and question.question in of_b]
    if not questions:
        raise TrialsError(f"{a.folder} and {b.folder} have no question in common")
    texts = [question.question for question in questions]
    metrics = tuple(
        _difference(metric, means_a, means_b, [(of_a[text][metric], of_b[text][metric]) for text in texts])
        for metric in METRICS
    )
    by_question = []
    for question, text in zip(questions, texts, strict=True):
        scores = means_a.scores[text], means_b.scores[text]
        difference = of_a[text]["average"] - of_b[text]["average"]
        by_question.append(QuestionDifference(question.question_id, text, *scores, difference))
    by_question.sort(key=lambda question: -abs(question.difference))
    return Comparison(metrics, tuple(by_question), _left_out(scorer.suite, of_a, of_b))


def columns_of(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """The fields of data classes as columns."""
    return {part.name: [getattr(row, part.name) for row in rows] for part in fields(rows[0])}


def means_of(run: RunFolder, scorer: Scorer, unknown: UnknownQuestions) -> MeansOfRun:
    """The means of a run's trials; see `compare`."""
    trials = trials_of(scorer.suite, Trials.of(run), unknown=unknown)
    table = scorer.score(trials.lines.questions, trials.lines.answers)
    whole, by_question = figures_by_question(trials, table)
    return MeansOfRun(
        {**_means(whole, table.scorer.float_sum), "average": whole.score},
        {
            text: {metric: round(value, 5) for metric, value in _means(figures, table.scorer.float_sum).items()}
            for text, figures in by_question.items()
        },
        {text: figures.score for text, figures in by_question.items()},
    )


def _means(figures: Figures, float_sum: FloatSum) -> dict[str, float]:
    return {**{metric: figures.scores.total(metric, float_sum) for metric in METRICS[:-1]}, "length": figures.length}


def _difference(metric: str, a: MeansOfRun, b: MeansOfRun, values: Sequence[tuple[float, float]]) -> Difference:
    of_a, of_b = zip(*values, strict=True)
    found: PairedDifference = paired_difference(of_a, of_b)
    means = a.mean(metric, of_a), b.mean(metric, of_b)
    return Difference(
        metric, *means, found.mean, found.low, found.high, found.p_value, n_questions=found.n, differs=found.differs()
    )


def _left_out(suite: Suite, a: Mapping[str, object], b: Mapping[str, object]) -> str:
    texts = {question.question for question in suite}
    n, n_a, n_b = (len(texts.difference(means)) for means in (a.keys() & b.keys(), a, b))
    are = f"{counted(len(suite), 'question')} {'is' if n == 1 else 'are'}"
    return f"{n} of {are} left out, without an answer: {n_a} in run A and {n_b} in run B." if n else ""
