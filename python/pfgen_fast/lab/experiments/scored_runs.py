"""Scores runs once for all experiments: the means of each run and question, and the scores of every answer if needed.

Means come from each run's result.json if it is up to date, so `read_figures` scores nothing twice. A single pass over
the answers, in batches of runs, computes the rest. `score_runs` keeps the scores of every answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import ExperimentError, PfgenError, TrialsError
from ...base.file_reading import file_sha1
from ...base.native import _core
from ...runs.aggregation import aggregate
from ...runs.checkout import run_name, suite_of_all
from ...runs.leaderboard import model_of
from ...runs.run_result import Scores, changes, read_scores, result_path
from ...runs.run_scorer import Outcome, ReadRun, RunScorer
from ...runs.trials import RunFolder, Trials, find_runs
from ...scoring.scorer import Scorer
from ...suite.rules import COLUMNS, METRICS, SCORES, column_of
from ...suite.suite import Suite
from ..statistics.correlation import MIN_VALUES
from .run_means import RunMeans


@dataclass(frozen=True, eq=False)
class AnswersOfRuns:
    """The answers of some runs, run by run."""

    answers: _core.TextColumn
    run_numbers: NDArray[np.int_]  # index of each answer's run among all readable runs
    question_numbers: NDArray[np.int_]  # index of each answer's question in the suite


@dataclass(frozen=True, eq=False, kw_only=True)
class RunFigures(RunMeans):
    """The means of the runs of one suite, in profile leaderboard, rounded as in result.json."""

    suite: Suite  # suite that the runs were scored with
    question_scores: dict[str, Floats]  # by metric, the mean of each run (row) and question (column)
    # by metric, then set, the same for fluency and truthfulness with one reference set alone: the value in result.json
    # times the number of sets; NaN if a question lacks the set
    set_scores: dict[str, dict[str, Floats]]


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredRuns(RunFigures):
    """Runs with the scores of every answer."""

    run_numbers: NDArray[np.int_]  # index of each answer's run
    question_numbers: NDArray[np.int_]  # index of each answer's question in the suite
    answer_scores: dict[str, Floats]  # by metric, the value of each answer

    @property
    def cells(self) -> NDArray[np.int_]:
        """For each answer, the flattened index of its run and question."""
        return self.run_numbers * len(self.suite) + self.question_numbers


OnBatch = Callable[[Suite, AnswersOfRuns], None]
OnProgress = Callable[[int, int | None], None]


def read_figures(
    paths: Sequence[str | Path],
    *,
    suite: Suite | None = None,
    threads: int | None = None,
    on_batch: OnBatch | None = None,
    on_progress: OnProgress | None = None,
) -> RunFigures:
    """Reads the means of the runs at the given paths; only runs without an up-to-date result.json are scored.

    `on_batch` gets the answers of all runs, a batch of runs at a time.
    """
    gathered = _Gathered(paths, suite, threads, keeps_scores=False)
    gathered.read(on_batch, on_progress)
    return gathered.figures()


def score_runs(
    paths: Sequence[str | Path],
    *,
    suite: Suite | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> ScoredRuns:
    """Scores every answer of the runs at the given paths."""
    gathered = _Gathered(paths, suite, threads, keeps_scores=True)
    gathered.read(None, on_progress)
    return ScoredRuns(**vars(gathered.figures()), **gathered.scores())


@dataclass(frozen=True)
class _Figures:
    """The figures of one run that experiments need, recorded or computed."""

    model: str
    length: float
    questions: list[Scores]


class _Gathered:
    """Collects the figures of runs, and the scores of their answers if they are kept."""

    def __init__(
        self, paths: Sequence[str | Path], suite: Suite | None, threads: int | None, *, keeps_scores: bool
    ) -> None:
        self._found, self._threads, self._keeps_scores = find_runs(paths), threads, keeps_scores
        self.suite = suite_of_all([run.folder for run in self._found], suite)
        self._problems: list[str] = []
        self._runs: dict[RunFolder, _Figures] = {}
        self._columns: list[dict[str, NDArray[Any]]] = []  # columns of each batch

    def read(self, on_batch: OnBatch | None, on_progress: OnProgress | None) -> None:
        """Collects the runs, and calls `on_batch` with the answers of runs whose trials are read."""
        unread = []
        is_read_anyway = self._keeps_scores or on_batch is not None
        for run in self._found:
            if run.trials_path is None:
                self._problems.append(
                    f"{run.folder}: left out, because the trials are not packed yet; 'pfgen-fast score' packs them"
                )
            elif not is_read_anyway and (recorded := self._recorded_of(run, run.trials_path)) is not None:
                self._runs[run] = recorded
            else:
                unread.append(run)
            self._tell(on_progress)
        for batch in RunScorer(suite=self.suite, threads=self._threads).read(unread):
            self._problems += [f"left out: {run.error}" for run in batch if isinstance(run, Outcome)]
            answers = self._add([run for run in batch if isinstance(run, ReadRun)])
            if on_batch is not None and len(answers.answers):
                on_batch(self.suite, answers)
            self._tell(on_progress)

    def _tell(self, on_progress: OnProgress | None) -> None:
        if on_progress is not None:
            on_progress(len(self._runs) + len(self._problems), len(self._found))

    @cached_property
    def _scorer(self) -> Scorer:
        return Scorer(self.suite, threads=self._threads)

    def _recorded_of(self, run: RunFolder, trials: Path) -> _Figures | None:
        """The figures of an up-to-date result, without reading the trials."""
        try:
            return _recorded(self.suite, run, file_sha1(trials), run.config())
        except (PfgenError, OSError):
            return None  # the reader of trials reports the error

    def _add(self, runs: Sequence[ReadRun]) -> AnswersOfRuns:
        """Adds runs whose trials are read."""
        lines = [run.trials.lines for run in runs]
        sizes = list(map(len, lines))
        answers = AnswersOfRuns(
            answers=_core.TextColumn.joined("answers", [part.answers for part in lines]),
            run_numbers=np.repeat(np.arange(len(runs)) + len(self._runs), sizes),
            question_numbers=_question_numbers(self.suite, [run.trials for run in runs]),
        )
        # Recorded figures are used, because they were summed in one of two ways, which differ in the last digit.
        recorded = [_recorded(self.suite, run.run, run.trials.input_hash, run.config) for run in runs]
        table = None
        if runs and (self._keeps_scores or None in recorded):
            table = self._scorer.score(
                _core.TextColumn.joined("questions", [part.questions for part in lines]), answers.answers
            )
        if table is not None and self._keeps_scores:
            scores = {metric: table[column_of(metric)].copy() for metric in SCORES}  # the texts are not kept
            numbers = {"run_numbers": answers.run_numbers, "question_numbers": answers.question_numbers}
            lengths = np.array([length for part in lines for length in part.lengths], dtype=np.float64)
            self._columns.append({**numbers, **scores, "length": lengths})
        for run, figures, end in zip(runs, recorded, np.cumsum(sizes).tolist(), strict=True):
            if figures is None and table is not None:
                result = aggregate(run.trials, table.rows(end - len(run.trials), end), None)
                by_question = [result.questions[question.question_id].scores for question in self.suite]
                figures = _Figures(model_of(run.config, run_name(run.run.folder)), result.length, by_question)
            if figures is not None:
                self._runs[run.run] = figures
        return answers

    def figures(self) -> RunFigures:
        """The figures of the runs; raises ExperimentError if they are too few."""
        if len(self._runs) < MIN_VALUES:
            why = f"; {self._problems[0]}" if self._problems else ""
            raise ExperimentError(
                f"an experiment needs at least {MIN_VALUES} runs, but only {len(self._runs)} can be scored{why}"
            )
        runs = [run for run in self._found if run in self._runs]  # runs with recorded figures were added first
        gathered = [self._runs[run] for run in runs]
        scores = [figures.questions for figures in gathered]
        columns = {
            metric: np.array([[question.total(column_of(metric)) for question in row] for row in scores], dtype=float)
            for metric in SCORES
        }
        means = {metric: values.mean(axis=1) for metric, values in columns.items()}
        return RunFigures(
            suite=self.suite,
            names=tuple(run_name(run.folder) for run in runs),
            models=tuple(figures.model for figures in gathered),
            means={**means, "length": np.array([figures.length for figures in gathered])},
            question_scores=columns,
            set_scores={metric: _of_sets(self.suite, scores, metric) for metric in ("fluency", "truthfulness")},
            problems=tuple(self._problems),
        )

    def scores(self) -> dict[str, Any]:
        """The fields that `ScoredRuns` adds."""
        # The parts of a column are removed when it is joined, so that only one column is in memory twice.
        joined = {
            name: np.concatenate([part.pop(name) for part in self._columns])
            for name in ("run_numbers", "question_numbers", *METRICS)
        }
        numbers = {name: joined.pop(name) for name in ("run_numbers", "question_numbers")}
        return {**numbers, "answer_scores": joined}


def _question_numbers(suite: Suite, trials: Sequence[Trials]) -> NDArray[np.int_]:
    known = {question.question: number for number, question in enumerate(suite)}
    numbers = np.empty(sum(map(len, trials)), dtype=np.int_)
    first = 0
    for part in trials:
        for question, rows in part.rows_by_question.items():
            numbers[first + np.array(rows)] = known[question]
        first += len(part)
    return numbers


def _of_sets(suite: Suite, scores: Sequence[Sequence[Scores]], metric: str) -> dict[str, Floats]:
    columns = {name: np.full((len(scores), len(suite)), np.nan) for name in suite.set_names}
    for run, row in enumerate(scores):
        for number, question in enumerate(row):
            values: Mapping[str, float] = getattr(question, metric)
            for name, value in values.items():
                columns[name][run, number] = value * len(values)
    return columns


def _recorded(suite: Suite, run: RunFolder, input_hash: str, config: Mapping[str, Any] | None) -> _Figures | None:
    """The figures in the run's result.json; None unless it matches these trials and this suite, and is complete."""
    try:
        result, by_question = read_scores(result_path(run))
    except TrialsError:
        return None
    if changes(result, input_hash, suite.metadata_hash, config) or not math.isfinite(result.length + result.score):
        return None
    complete = []
    for question in suite:
        scores, sets = by_question.get(question.question_id), list(question.answers)
        if scores is None or not list(scores.fluency) == list(scores.truthfulness) == sets:
            return None
        if any(math.isnan(scores.total(column)) for column in COLUMNS):
            return None
        complete.append(scores)
    return _Figures(model_of(config, run_name(run.folder)), result.length, complete)
