"""Comparison of runs: which one is better, by how much, and on which questions.

Runs are scored again and compared as `ItemScores`. What is special about runs: figures are rounded as in a result.json,
and questions have texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..base.arrays import Floats
from ..base.errors import PfgenError, TrialsError
from ..scoring.scorer import Scorer
from ..suite.rules import AVERAGE_FIRST, FloatSum
from ..suite.suite import Suite
from .aggregation import UnknownQuestions, figures_of, trials_of
from .checkout import suite_of_all
from .checkpoint_steps import are_rising
from .comparison import Comparison, compare_models
from .items.item_table import ItemScores
from .result_tables import score_table_of
from .run_result import Figures
from .trials import RunFolder, Trials, one_run

METRICS = (*AVERAGE_FIRST, "length")


class RunScores(NamedTuple):
    """The scores of runs by question, and what a result.json shows of them; all commands show the same figures."""

    table: ItemScores  # means of trials, with five digits
    whole: list[dict[str, float]]  # for each run, its figures by metric
    shown: Floats  # score of each run (row) on each question, with four digits
    is_rising: bool  # whether the runs are checkpoints of one series, the older first


def scores_of(runs: Sequence[RunFolder], scorer: Scorer, unknown: UnknownQuestions = "error") -> RunScores:
    """Scores runs, which are named by their directory, or by their file if it is not the only one there.

    Questions are named by their IDs; their subjects are their categories.
    """
    suite, shape = scorer.suite, (len(runs), len(scorer.suite))
    values, variances = ({metric: np.full(shape, np.nan) for metric in METRICS} for _ in range(2))
    n_trials, shown, whole = np.zeros(shape, dtype=np.int_), np.full(shape, np.nan), []
    columns_of = {question.question_id: column for column, question in enumerate(suite)}
    for row, run in enumerate(runs):
        trials = trials_of(suite, Trials.of(run), unknown=unknown)
        table = scorer.score(trials.lines.questions, trials.lines.answers)
        columns = {metric: np.asarray(table[metric]) for metric in AVERAGE_FIRST}
        columns["length"] = np.asarray(trials.lines.lengths)
        run_figures, by_question, _ = figures_of(trials, table)
        whole.append({metric: _mean(run_figures, metric, table.float_sum) for metric in METRICS})
        whole[row]["average"] = run_figures.score
        for question, figures in by_question:
            column, places = columns_of[question.question_id], trials.rows_by_question[question.question]
            n_trials[row, column], shown[row, column] = len(places), figures.score
            for metric in METRICS:
                values[metric][row, column] = round(_mean(figures, metric, table.float_sum), 5)
                if len(places) > 1:
                    variances[metric][row, column] = columns[metric][places].var(ddof=1)
    files_of: dict[Path, set[Path | None]] = {}
    for run in runs:
        files_of.setdefault(run.folder, set()).add(run.trials_path)
    item_scores = ItemScores(
        tuple(str(run.trials_path if len(files_of[run.folder]) > 1 else run.folder) for run in runs),
        tuple(question.question_id for question in suite),
        values,
        n_trials=dict.fromkeys(METRICS, n_trials),
        variances=variances,
        subjects=tuple(q.category or None for q in suite) if any(q.category for q in suite) else (),
    )
    return RunScores(item_scores, whole, shown, are_rising([(str(run.folder), _config_of(run)) for run in runs]))


def _config_of(run: RunFolder) -> dict[str, Any] | None:
    with suppress(PfgenError):  # a comparison needs no config
        return run.config()
    return None


def _mean(figures: Figures, metric: str, float_sum: FloatSum) -> float:
    return figures.length if metric == "length" else figures.scores.total(metric, float_sum)


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
    return compare_scored(scores_of(runs, scorer, unknown), scorer.suite, **settings)


def compare_scored(
    scores: RunScores, suite: Suite, *, metrics: Sequence[str] | None = None, **settings: Any
) -> Comparison:
    """Compares runs that are scored already, by `compare_models`."""
    table = scores.table.only(metrics=metrics)
    comparison = compare_models(table, kind="runs", **settings)
    rows = {model: row for row, model in reversed([*enumerate(table.models)])}
    n_trials = scores.table.n_trials["average"]

    def whole(model: str, metric: str, mean: float, n: int) -> float:
        own = n_trials[rows[model]]  # a result.json leaves surplus trials of some questions out
        return scores.whole[rows[model]][metric] if n == (own > 0).sum() and len({*own[own > 0]}) == 1 else mean

    differences = [
        replace(
            row,
            a=whole(row.model_a, row.metric, row.a, row.n_questions),
            b=whole(row.model_b, row.metric, row.b, row.n_questions),
        )
        for row in comparison.metrics
    ]
    places = {question.question_id: place for place, question in enumerate(suite)}
    questions = []
    for row in comparison.questions:
        place = places[row.question_id]
        row = replace(row, question=suite.questions[place].question)
        if differences[0].metric == "average":  # which is shown with four digits
            a, b = (float(scores.shown[rows[model], place]) for model in (row.model_a, row.model_b))
            row = replace(row, a=a, b=b)
        questions.append(row)
    comparison = replace(comparison, is_rising=scores.is_rising)
    return replace(comparison, metrics=tuple(differences), questions=tuple(questions))
