"""Comparison of runs: which one is better, by how much, and on which questions.

Runs are scored again and compared as `ItemScores`. What is special about runs: figures are rounded as in a result.json,
and questions have texts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..base.errors import TrialsError
from ..scoring.scorer import Scorer
from ..suite.rules import AVERAGE_FIRST, FloatSum
from ..suite.suite import Suite
from .aggregation import UnknownQuestions, figures_by_question, trials_of
from .checkout import suite_of_all
from .comparison import Comparison, compare_by_swapping, compare_models
from .items.item_table import ItemScores
from .result_tables import score_table_of
from .run_result import Figures
from .trials import RunFolder, Trials, one_run

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
        {**_means(whole, table.float_sum), "average": whole.score},
        {
            text: {metric: round(value, 5) for metric, value in _means(figures, table.float_sum).items()}
            for text, figures in by_question.items()
        },
        {text: figures.score for text, figures in by_question.items()},
        {text: len(places) for text, places in rows.items()},
        {
            text: {
                metric: float(column[places].var(ddof=1)) if len(places) > 1 else math.nan
                for metric, column in columns.items()
            }
            for text, places in rows.items()
        },
    )


def item_scores_of_means(names: Sequence[str], means: Sequence[MeansOfRun], suite: Suite) -> ItemScores:
    """The means of the trials of runs by question; the subjects are the categories of the questions."""
    texts = [question.question for question in suite]
    missing = dict.fromkeys(METRICS, math.nan)
    n_trials = np.array([[run.n_trials.get(text, 0) for text in texts] for run in means], dtype=np.int_)

    def matrices(by_question: Sequence[dict[str, dict[str, float]]]) -> dict[str, np.ndarray]:
        return {
            metric: np.array([[run.get(text, missing)[metric] for text in texts] for run in by_question])
            for metric in METRICS
        }

    return ItemScores(
        tuple(names),
        tuple(question.question_id for question in suite),
        matrices([run.by_question for run in means]),
        n_trials=dict.fromkeys(METRICS, n_trials),
        variances=matrices([run.variances for run in means]),
        subjects=tuple(q.category or None for q in suite) if any(q.category for q in suite) else (),
    )


def _means(figures: Figures, float_sum: FloatSum) -> dict[str, float]:
    return {**{metric: figures.scores.total(metric, float_sum) for metric in AVERAGE_FIRST}, "length": figures.length}


def compare(
    a: Any,
    b: RunFolder | str | Path | None = None,
    scorer: Scorer | None = None,
    *,
    unknown: UnknownQuestions = "error",
    models: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    all_pairs: bool = False,
    power: bool = False,
    difference: float | None = None,
    deciding: int | None = None,
) -> Comparison:
    """Compares two runs of one suite, or the models in a table of scores, by paired tests over questions or items.

    Args:
        a: Directory of run A; or a table of scores: a file, a data frame, rows, columns, or `ItemScores`.
        b: Directory of run B; or another file with scores, such as those of B.
        scorer: Scores the answers of runs; by default with the suite of the checkout that contains the runs.
        unknown: Whether answers to questions that the suite lacks are an error, or are left out.
        models: The models of the table to compare; the first is A. By default all, in their order in the table.
        metrics: The metrics to compare; the verdict is about the first. By default all.
        all_pairs: Compares all pairs of models, instead of the first model with all others.
        power: Computes how many items find the difference seen of each pair with power 0.8.
        difference: Computes the same for this difference, too.
        deciding: Number of questions or items with the largest differences of each pair. By default all for two models,
            and none for more.

    Raises:
        PfgenError: A run or table cannot be read, or no models have a question or item in common.
    """
    settings: dict[str, Any] = {"power": power, "difference": difference, "deciding": deciding}
    sources = [a] if b is None else [a, b]
    table = None if any(isinstance(source, RunFolder) for source in sources) else score_table_of(sources)
    if table is None:
        if b is None:
            raise TrialsError(f"{a}: expected a table of scores, or two runs")
        if models is not None:
            raise TrialsError("models: expected with a table of scores, not with two runs")
        pair = [one_run(a), one_run(b)]
        scorer = scorer or Scorer(suite_of_all([run.folder for run in pair]))
        return compare_runs(pair, scorer, unknown=unknown, metrics=metrics, **settings)
    return compare_models(table.only(models=models, metrics=metrics), all_pairs=all_pairs, **settings)


def compare_runs(
    runs: Sequence[RunFolder], scorer: Scorer, *, unknown: UnknownQuestions = "error", **settings: Any
) -> Comparison:
    """Compares the first run with all others, or all pairs of runs; `settings` are those of `compare_scored`."""
    return compare_scored(*scores_of(runs, scorer, unknown), scorer, **settings)


def compare_scored(
    table: ItemScores,
    means: Sequence[MeansOfRun],
    scorer: Scorer,
    *,
    metrics: Sequence[str] | None = None,
    swapping: bool = False,
    **settings: Any,
) -> Comparison:
    """Compares runs that are scored already (`scores_of`), by `compare_models` or `compare_by_swapping`."""
    table = table.only(metrics=metrics)
    comparison = (compare_by_swapping if swapping else compare_models)(table, of="runs", **settings)
    by_run = dict(zip(reversed(table.models), reversed(means), strict=True))

    def whole(model: str, metric: str, mean: float, n: int) -> float:
        n_trials = by_run[model].n_trials.values()  # a result.json leaves surplus trials of some questions out
        return by_run[model].whole[metric] if n == len(n_trials) and len(set(n_trials)) == 1 else mean

    rows = [
        replace(
            row,
            a=whole(row.model_a, row.metric, row.a, row.n_questions),
            b=whole(row.model_b, row.metric, row.b, row.n_questions),
        )
        for row in comparison.metrics
    ]
    texts = {question.question_id: question.question for question in scorer.suite}
    questions = [replace(row, question=texts[row.question_id]) for row in comparison.questions]
    if rows[0].metric == "average":  # which is shown with four digits
        questions = [
            replace(row, a=by_run[row.model_a].scores[row.question], b=by_run[row.model_b].scores[row.question])
            for row in questions
        ]
    return replace(comparison, metrics=tuple(rows), questions=tuple(questions))


def scores_of(
    runs: Sequence[RunFolder], scorer: Scorer, unknown: UnknownQuestions = "error"
) -> tuple[ItemScores, list[MeansOfRun]]:
    """The scores of runs, which are named by their directory, or by their file if it is not the only one there."""
    means = [means_of(run, scorer, unknown) for run in runs]
    folders = [str(run.folder) for run in runs]
    names = [
        str(run.trials_path) if len({other.trials_path for other in runs if other.folder == run.folder}) > 1 else folder
        for run, folder in zip(runs, folders, strict=True)
    ]
    return item_scores_of_means(names, means, scorer.suite), means
