"""The mean scores of runs on each question, rounded as in a result.json, and runs as `ItemScores`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..item_scores.table import ItemScores
from ..scoring.scorer import Scorer
from ..suite.rules import AVERAGE_FIRST, FloatSum
from ..suite.suite import Suite
from .aggregation import UnknownQuestions, figures_by_question, trials_of
from .result import Figures
from .trials import RunFolder, Trials

METRICS = (*AVERAGE_FIRST, "length")


class MeansOfRun(NamedTuple):
    """The figures of a run as in its result.json; all commands and the report show them."""

    whole: dict[str, float]  # by metric, the figure of the run
    # by the question's text, then metric, the mean of the trials; differences are computed from these
    by_question: dict[str, dict[str, float]]
    scores: dict[str, float]  # by the question's text, the score that is shown, which has four digits
    n_trials: dict[str, int]  # by the question's text
    variances: dict[str, dict[str, float]]  # by the question's text, then metric; NaN with one trial


def means_of(run: RunFolder, scorer: Scorer, unknown: UnknownQuestions = "error") -> MeansOfRun:
    """The means of a run's trials; see `compare`."""
    trials = trials_of(scorer.suite, Trials.of(run), unknown=unknown)
    table = scorer.score(trials.lines.questions, trials.lines.answers)
    whole, by_question = figures_by_question(trials, table)
    columns = {metric: np.asarray(table[metric]) for metric in AVERAGE_FIRST}
    columns["length"] = np.asarray(trials.lines.lengths)
    rows = {text: trials.rows_by_question[text] for text in by_question}
    return MeansOfRun(
        {**_means(whole, table.scorer.float_sum), "average": whole.score},
        {
            text: {metric: round(value, 5) for metric, value in _means(figures, table.scorer.float_sum).items()}
            for text, figures in by_question.items()
        },
        {text: figures.score for text, figures in by_question.items()},
        {text: len(of_question) for text, of_question in rows.items()},
        {
            text: {
                metric: float(column[of_question].var(ddof=1)) if len(of_question) > 1 else math.nan
                for metric, column in columns.items()
            }
            for text, of_question in rows.items()
        },
    )


def item_scores_of(
    runs: Sequence[RunFolder],
    scorer: Scorer,
    *,
    names: Sequence[str] | None = None,
    unknown: UnknownQuestions = "error",
) -> ItemScores:
    """Scores runs, and returns the means of their trials by question; the subjects are the questions' categories."""
    means = [means_of(run, scorer, unknown) for run in runs]
    return item_scores_of_means(names or [str(run.folder) for run in runs], means, scorer.suite)


def item_scores_of_means(names: Sequence[str], means: Sequence[MeansOfRun], suite: Suite) -> ItemScores:
    """See `item_scores_of`."""
    texts = [question.question for question in suite]
    missing = dict.fromkeys(METRICS, math.nan)
    n_trials = np.array([[of.n_trials.get(text, 0) for text in texts] for of in means], dtype=np.int_)

    def matrices(by_question: Sequence[dict[str, dict[str, float]]]) -> dict[str, np.ndarray]:
        return {
            metric: np.array([[of.get(text, missing)[metric] for text in texts] for of in by_question])
            for metric in METRICS
        }

    return ItemScores(
        tuple(names),
        tuple(question.question_id for question in suite),
        matrices([of.by_question for of in means]),
        n_trials=dict.fromkeys(METRICS, n_trials),
        variances=matrices([of.variances for of in means]),
        subjects=tuple(q.category or None for q in suite) if any(q.category for q in suite) else (),
    )


def _means(figures: Figures, float_sum: FloatSum) -> dict[str, float]:
    return {**{metric: figures.scores.total(metric, float_sum) for metric in AVERAGE_FIRST}, "length": figures.length}
