"""`judge`: a language model rates the answers, and its ratings are compared with the scores.

This module chooses the answers to rate and averages the ratings by run and model. The package `judging` sends requests
and stores replies; `lab.evaluators.judge_evaluator` defines ratings.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...base.errors import EngineError, ExperimentError
from ...base.untrusted_text import utf8
from ...runs.leaderboard import is_system
from ...suite.suite import Suite
from ..evaluators.evaluator import Item, text_column
from ..evaluators.judge_evaluator import JudgeEvaluator, RatingTemplate
from ..finding import Finding
from ..judging.judge_asking import Spending
from .aligned_verdicts import values_of_runs
from .metric_agreement import agreement
from .scored_runs import AnswersOfRuns, RunFigures, read_figures
from .verdict_tables import Verdicts


@dataclass(frozen=True)
class AnswerToRate:
    """An answer to rate."""

    run: int  # index of its run
    question: int  # index of its question in the suite
    text: str


class AnswersToJudge:
    """Chooses the answers to rate; `read_figures` calls it with each batch."""

    def __init__(self, trials: int | None = None, seed: str = "") -> None:
        self._trials, self._seed = trials, seed
        self.chosen: list[AnswerToRate] = []

    def __call__(self, suite: Suite, batch: AnswersOfRuns) -> None:
        """Chooses answers to each question of a batch."""
        answers = batch.answers.tolist()
        by_cell: dict[tuple[int, int], list[str]] = {}
        columns = (batch.run_numbers.tolist(), batch.question_numbers.tolist(), answers)
        for run, question, answer in zip(*columns, strict=True):
            by_cell.setdefault((run, question), []).append(answer)
        for (run, question), texts in by_cell.items():
            if self._trials is not None and len(texts) > self._trials:
                # Ordered by hash, so that the choice does not depend on the order of the file.
                seeded = f"{self._seed}\0{question}\0"
                in_order = sorted(texts, key=lambda text: (hashlib.sha256(utf8(seeded + text)).digest(), text))
                texts = in_order[: self._trials]
            self.chosen += (AnswerToRate(run, question, text) for text in texts)


ITEM_COLUMNS = {"item": str, "model": str, "rating": float}
"""The columns of `RatedRuns.by_item`, and their types."""


class RatedRuns:
    """Runs with the ratings of their answers, of which some may be missing."""

    def __init__(self, scored: RunFigures, answers: Sequence[AnswerToRate], evaluator: JudgeEvaluator) -> None:
        answers = [answer for answer in answers if not is_system(scored.models[answer.run])]  # without yardsticks
        self._scored, self._answers, self._evaluator = scored, answers, evaluator
        texts = text_column([answer.text for answer in answers])
        self.ratings = evaluator.asked(_items(scored.suite, answers, evaluator), texts)

    def _cells(self) -> dict[tuple[int, int], tuple[list[float], list[int]]]:
        """The existing ratings of each run and question, and the lengths of the rated answers."""
        cells: dict[tuple[int, int], tuple[list[float], list[int]]] = {}
        for answer, row in zip(self._answers, self.ratings.values()[:, 0].tolist(), strict=True):
            for rating in row:
                if not math.isnan(rating):
                    ratings, lengths = cells.setdefault((answer.run, answer.question), ([], []))
                    ratings.append(rating)
                    lengths.append(len(answer.text))
        return cells

    def by_item(self) -> list[tuple[str, str, float]]:
        """The question, the run and the mean rating of each run's answers to a question; rows of `ITEM_COLUMNS`."""
        questions, names = self._scored.suite.questions, self._scored.names
        return [
            (questions[question].question_id, names[run], float(np.mean(ratings)))
            for (run, question), (ratings, _) in sorted(self._cells().items())
        ]

    def finding(self) -> Finding:
        """Compares the mean ratings of runs and models with our scores."""
        cells, scored = self._cells(), self._scored
        n_missing, unread = self.ratings.n_missing, self._evaluator.unread(self.ratings)
        if not cells:
            raise ExperimentError(f"no ratings: {n_missing:,} are missing; {unread or 'there are no replies'}")
        notes = []
        if n_missing:
            n_wanted = len(self.ratings)
            notes.append(f"{n_missing:,} of {n_wanted:,} ratings are missing; the means are over the other ratings")
        if unread:
            notes.append(unread)
        verdicts = Verdicts(self._evaluator.judge.model)
        lengths = np.full((len(scored.names), len(scored.suite)), np.nan)
        for (run, question), (ratings, own_lengths) in cells.items():
            verdicts.ratings[scored.suite.questions[question].question_id, scored.names[run]] = ratings
            lengths[run, question] = np.mean(own_lengths)
        n_ratings, n_runs = sum(len(ratings) for ratings, _ in cells.values()), len({run for run, _ in cells})
        finding = agreement(values_of_runs(scored, lengths=lengths), [verdicts])
        return replace(
            finding,
            name="judge",
            paragraph=f"The judge gave {n_ratings:,} ratings to {n_runs} runs. {finding.paragraph}",
            notes=(*finding.notes, *notes),
            question="How does a language model rate the same answers?",
        )


def judge(
    paths: Sequence[str | Path],
    evaluator: JudgeEvaluator,
    *,
    trials: int | None = None,
    spending: Spending | None = None,
    suite: Suite | None = None,
    threads: int | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> Finding:
    """Asks a judge to rate the answers of runs, and compares its ratings with our scores.

    `trials` limits the answers of each run to each question; `spending` has the prices and the budget.
    """
    answers = AnswersToJudge(trials, evaluator.seed)
    scored = read_figures(paths, suite=suite, threads=threads, on_batch=answers)
    rated = RatedRuns(scored, answers.chosen, evaluator)
    problem = rated.ratings.ask_with(evaluator.connect, spending=spending or Spending(), on_progress=on_progress)
    if problem:
        raise EngineError(f"{problem}; repeat the call to continue")
    return rated.finding()


def _items(suite: Suite, answers: Sequence[AnswerToRate], evaluator: JudgeEvaluator) -> list[Item]:
    """The answers as items; their reference is the sample answer, or else the first of the reference answers."""
    is_shown = isinstance(evaluator.prompts, RatingTemplate) and evaluator.prompts.uses("sample")
    samples = {sample.question: sample.answer for sample in suite.samples} if is_shown else {}
    items = []
    for number, answer in enumerate(answers, start=1):
        question = suite.questions[answer.question]
        references: tuple[str, ...] = ()
        if question.question in samples:
            references = (samples[question.question],)
        elif is_shown:
            references = next((texts[:1] for texts in question.answers.values() if texts), ())
        name = f"answer {number} (to {question.question_id})"
        items.append(Item(name, answer.text, "answers", question=question.question, references=references))
    return items
