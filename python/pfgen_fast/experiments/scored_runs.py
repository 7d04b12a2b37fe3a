"""Scores runs once for all experiments: the scores of every answer, and the means per run and question.

A single pass reads and scores the answers in batches of runs; experiments that need other scores compute them in the
same pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError, TrialsError
from ..files.foreign_text import in_one_line
from ..native import _core
from ..runs.aggregation import aggregate
from ..runs.checkout import run_name, suite_of_all
from ..runs.result import Scores, is_current, read_scores, result_path
from ..runs.run_scorer import Outcome, ReadRun, RunScorer
from ..runs.trials import Trials, find_runs
from ..scoring.metrics import METRICS, SCORES, column_of
from ..scoring.score_table import ScoreTable
from ..scoring.scorer import Scorer
from ..statistics.correlation import MIN_VALUES, Floats
from ..suite.questions import Question
from ..suite.suite import Suite


@dataclass(frozen=True, eq=False)
class AnswersOfRuns:
    """The answers of some runs, one run after the other.

    Attributes:
        questions: The text of each answer's question, as a column of the core.
        answers: The answers, likewise.
        run_numbers: The index of each answer's run, among all readable runs.
        question_numbers: The index of each answer's question in the suite.
    """

    questions: _core.TextColumn
    answers: _core.TextColumn
    run_numbers: NDArray[np.int_]
    question_numbers: NDArray[np.int_]

    def question_means(self, values: Floats, n_questions: int) -> Floats:
        """The mean of the answers' values for each run (row) and question (column)."""
        return _question_means(values, self.run_numbers - self.run_numbers[0], self.question_numbers, n_questions)


@dataclass(frozen=True, eq=False)
class ScoredRuns:
    """Runs of one suite, scored in profile leaderboard.

    Attributes:
        suite: The suite that the runs were scored with.
        names: The names of the runs, which are their folders within the checkout.
        models: The models of the runs, from their config.json.
        run_numbers: The index of each answer's run.
        question_numbers: The index of each answer's question in the suite.
        answer_scores: By metric, the value of each answer.
        question_scores: By metric, the mean of each run (row) and question (column), rounded as in result.json.
        set_scores: By metric, then set, the same for fluency and truthfulness in each reference set alone. This is the
            value in result.json times the number of sets; NaN if a question lacks the set.
        problems: Why runs were left out, one sentence each.
    """

    suite: Suite
    names: tuple[str, ...]
    models: tuple[str, ...]
    run_numbers: NDArray[np.int_]
    question_numbers: NDArray[np.int_]
    answer_scores: dict[str, Floats]
    question_scores: dict[str, Floats]
    set_scores: dict[str, dict[str, Floats]]
    problems: tuple[str, ...] = ()

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The runs' labels in charts: their models, or their own names if a model has several runs."""
        return tuple(
            in_one_line(model if self.models.count(model) == 1 else name, 60)
            for name, model in zip(self.names, self.models, strict=True)
        )

    @cached_property
    def means(self) -> dict[str, Floats]:
        """By metric, the mean of each run over the questions."""
        return {metric: values.mean(axis=1) for metric, values in self.question_scores.items()}

    @property
    def cells(self) -> NDArray[np.int_]:
        """For each answer, the flattened index of its run and question."""
        return self.run_numbers * len(self.suite) + self.question_numbers

    def question_means(self, values: Floats) -> Floats:
        """The unrounded mean of the answers' values for each run (row) and question (column)."""
        return _question_means(values, self.run_numbers, self.question_numbers, len(self.suite))


def _question_means(
    values: Floats, run_numbers: NDArray[np.int_], question_numbers: NDArray[np.int_], n_questions: int
) -> Floats:
    cells = run_numbers * n_questions + question_numbers
    means: Floats = np.bincount(cells, values) / np.bincount(cells)
    return means.reshape(-1, n_questions)


def score_runs(
    paths: Sequence[str | Path],
    *,
    suite: Suite | None = None,
    threads: int | None = None,
    on_batch: Callable[[Suite, AnswersOfRuns], None] | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> ScoredRuns:
    """Scores the runs at the given paths.

    Args:
        paths: Paths as `find_runs` takes them.
        suite: The suite of all runs; by default that of the checkout that contains them.
        threads: Number of threads; by default one per core.
        on_batch: Called with each batch of answers after it is scored, to compute other scores.
        on_progress: Called with the number of finished runs and the total.

    Raises:
        ExperimentError: Fewer than three runs can be scored.
        SuiteError: There is no suite.
        TrialsError: There are no runs.
    """
    found = find_runs(paths)
    of_runs = suite_of_all([run.folder for run in found], suite)
    scorer = Scorer(of_runs, threads=threads)
    gathered = _Gathered(of_runs)
    problems = [
        f"{run.folder}: left out, because the trials are not packed yet; 'pfgen-fast score' packs them"
        for run in found
        if run.trials_path is None
    ]
    n_done = len(problems)
    for batch in RunScorer(suite=of_runs, threads=threads).read([run for run in found if run.trials_path is not None]):
        problems += [f"left out: {run.error}" for run in batch if isinstance(run, Outcome)]
        answers = gathered.add([run for run in batch if isinstance(run, ReadRun)], scorer)
        if on_batch is not None and len(answers.answers):
            on_batch(of_runs, answers)
        n_done += len(batch)
        if on_progress is not None:
            on_progress(n_done, len(found))
    if len(gathered.names) < MIN_VALUES:
        why = f"; {problems[0]}" if problems else ""
        raise ExperimentError(f"{len(gathered.names)} runs to score: an experiment needs at least {MIN_VALUES}{why}")
    return gathered.finish(tuple(problems))


class _Gathered:
    """The scores of the runs so far."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.names: list[str] = []
        self.models: list[str] = []
        self._numbers = {question.question: number for number, question in enumerate(suite)}
        self._run_numbers: list[NDArray[np.int_]] = []
        self._question_numbers: list[NDArray[np.int_]] = []
        self._answer_scores: list[dict[str, Floats]] = []
        self._figures: list[list[Scores]] = []  # by run and question: means as in result.json

    def add(self, runs: Sequence[ReadRun], scorer: Scorer) -> AnswersOfRuns:
        lines = [run.trials.lines for run in runs]
        answers = AnswersOfRuns(
            questions=_core.TextColumn.joined("questions", [part.questions for part in lines]),
            answers=_core.TextColumn.joined("answers", [part.answers for part in lines]),
            run_numbers=np.repeat(np.arange(len(runs)) + len(self.names), list(map(len, lines))),
            question_numbers=self._question_numbers_of([run.trials for run in runs]),
        )
        if not len(answers.answers):
            return answers
        table = scorer.score(answers.questions, answers.answers)
        scores = {metric: table[column_of(metric)].copy() for metric in SCORES}
        scores["length"] = np.concatenate([np.array(part.lengths, dtype=np.float64) for part in lines])
        self._answer_scores.append(scores)
        self._run_numbers.append(answers.run_numbers)  # the texts are not kept
        self._question_numbers.append(answers.question_numbers)
        first = 0
        for run in runs:
            name = run_name(run.run.folder)
            self.names.append(name)
            self.models.append(str((run.config or {}).get("model") or name))
            of_run = table.rows(first, first + len(run.trials))
            first += len(run.trials)
            # Published figures were summed in one of two ways, which differ in the last digit.
            figures = _recorded(run) or _aggregated(run, of_run)
            self._figures.append(figures)
        return answers

    def _question_numbers_of(self, trials: Sequence[Trials]) -> NDArray[np.int_]:
        numbers = np.empty(sum(map(len, trials)), dtype=np.int_)
        first = 0
        for part in trials:
            for question, rows in part.rows_by_question.items():
                numbers[first + np.array(rows)] = self._numbers[question]
            first += len(part)
        return numbers

    def finish(self, problems: tuple[str, ...]) -> ScoredRuns:
        answer_scores = {metric: np.concatenate([part[metric] for part in self._answer_scores]) for metric in METRICS}
        run_numbers, question_numbers = np.concatenate(self._run_numbers), np.concatenate(self._question_numbers)
        lengths = _question_means(answer_scores["length"], run_numbers, question_numbers, len(self.suite))
        return ScoredRuns(
            suite=self.suite,
            names=tuple(self.names),
            models=tuple(self.models),
            run_numbers=run_numbers,
            question_numbers=question_numbers,
            answer_scores=answer_scores,
            question_scores={**{metric: self._of_questions(metric) for metric in SCORES}, "length": lengths},
            set_scores={metric: self._of_sets(metric) for metric in ("fluency", "truthfulness")},
            problems=problems,
        )

    def _of_questions(self, metric: str) -> Floats:
        column = column_of(metric)
        return np.array([[scores.total(column) for scores in figures] for figures in self._figures], dtype=np.float64)

    def _of_sets(self, metric: str) -> dict[str, Floats]:
        found = {name: np.full((len(self.names), len(self.suite)), np.nan) for name in self.suite.set_names}
        for run, figures in enumerate(self._figures):
            for number, scores in enumerate(figures):
                values: Mapping[str, float] = getattr(scores, metric)
                for name, value in values.items():
                    found[name][run, number] = value * len(values)
        return found


def _recorded(run: ReadRun) -> list[Scores] | None:
    """The scores in the run's result.json; None if there is none that matches these trials and this suite."""
    try:
        result, by_question = read_scores(result_path(run.run))
    except TrialsError:
        return None
    if not is_current(result, run.trials.input_hash, run.suite.metadata_hash, run.config):
        return None
    if not all(question.question_id in by_question for question in run.suite):
        return None
    scores = [by_question[question.question_id] for question in run.suite]
    return scores if all(map(_is_whole, scores, run.suite)) else None


def _aggregated(run: ReadRun, table: ScoreTable) -> list[Scores]:
    """The scores that a result.json would hold."""
    questions = aggregate(run.trials, table, None).questions
    return [questions[question.question_id].scores for question in run.suite]


def _is_whole(scores: Scores, question: Question) -> bool:
    """Whether every metric and every set of the question has a finite number."""
    sets = list(question.answers)
    return list(scores.fluency) == list(scores.truthfulness) == sets and not any(
        math.isnan(scores.total(metric)) for metric in ("fluency", "truthfulness", "helpfulness", "average")
    )
