"""`judge`: a language model rates the answers, and its ratings are compared with the scores.

This module chooses the answers to rate and averages the ratings by run and model. The package `judging` sends requests
and stores replies; `lab.evaluators.judge_evaluator` defines ratings.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...base.errors import EngineError, ExperimentError
from ...base.untrusted_text import utf8
from ...suite.suite import Suite
from ..chart_data import Scatter
from ..evaluators.evaluator import Item, text_column
from ..evaluators.judge_evaluator import JudgeEvaluator
from ..finding import Finding, Picture, finding_table, with_interval
from ..judging.judge_asking import Spending
from ..statistics.correlation import COEFFICIENTS, MIN_VALUES, correlate, is_constant
from .run_means import RunMeans, clusters_of
from .scored_runs import AnswersOfRuns, RunFigures, read_figures


@dataclass(frozen=True)
class AnswerToRate:
    """An answer to rate."""

    run: int  # index of its run
    question: int  # index of its question in the suite
    text: str


class Rated(NamedTuple):
    """A rating of an answer."""

    run: int  # index of its run
    question: int  # index of its question in the suite
    rating: int
    n_code_points: int  # length of the answer


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
        self._scored, self._answers, self._evaluator = scored, answers, evaluator
        texts = text_column([answer.text for answer in answers])
        self.ratings = evaluator.ratings(_items(scored.suite, answers, evaluator), texts)

    def rated(self) -> list[Rated]:
        """All existing ratings."""
        return [
            Rated(answer.run, answer.question, int(rating), len(answer.text))
            for answer, row in zip(self._answers, self.ratings.values().tolist(), strict=True)
            for rating in row
            if rating == rating  # not NaN
        ]

    def by_item(self) -> list[tuple[str, str, float]]:
        """The question, the run and the mean rating of each run's answers to a question; rows of `ITEM_COLUMNS`."""
        cells: dict[tuple[int, int], list[int]] = {}
        for rated in self.rated():
            cells.setdefault((rated.run, rated.question), []).append(rated.rating)
        questions, names = self._scored.suite.questions, self._scored.names
        return [
            (questions[question].question_id, names[run], float(np.mean(ratings)))
            for (run, question), ratings in sorted(cells.items())
        ]

    def finding(self) -> Finding:
        """Compares the mean ratings of runs and models with our scores."""
        rated, scored, scale = self.rated(), self._scored, self._evaluator.template.scale
        n_missing, unrated = self.ratings.n_missing, self.ratings.unrated()
        n_unrated, n_cut = len(unrated), sum(self._evaluator.replies.details(key).is_cut for key in unrated)
        cut = f"; {n_cut:,} of them ended at the limit of tokens: raise --max-tokens" if n_cut else ""
        if not rated:
            raise ExperimentError(f"no ratings: {n_missing:,} are missing, {n_unrated:,} replies have no rating{cut}")
        runs = _rated_means(scored, rated)
        notes = list(scored.problems)
        if n_missing:
            n_wanted = len(self.ratings)
            notes.append(f"{n_missing:,} of {n_wanted:,} ratings are missing; the means are over the other ratings")
        if n_unrated:
            form = f"[[{scale.low}]] to [[{scale.high}]]"
            notes.append(f"{n_unrated:,} replies have no rating of the form {form} and are left out{cut}")
        notes += [f"{name} has no ratings" for name in scored.names if name not in runs.names]
        points = replace(runs.points("our score", "rating"), y_label="mean rating")
        answer, words, more = _words(runs, len(rated), self._evaluator.judge.model)
        models = runs.one_per_model("mean")
        by_model = sorted(
            zip(models.models, models.means["rating"].tolist(), strict=True), key=lambda row: (-row[1], row[0])
        )
        counts = Counter(row.rating for row in rated)
        ratings = range(scale.low, scale.high + 1)
        of_models = "Mean rating of each model, for the experiment external"
        spread = ((rating, counts[rating], counts[rating] / len(rated)) for rating in ratings)
        return Finding(
            "judge",
            answer,
            words,
            (
                finding_table("models", of_models, ("model", "rating"), by_model, 3),
                runs.table("runs", "The runs", runs.means.items(), by="rating"),
                finding_table("ratings", "How often each rating was given", ("rating", "times", "share"), spread),
            ),
            (Picture("scatter", "The judge's ratings against our scores", Scatter((points,))),),
            (*notes, *more, *_length_note(rated)),
            question="How does a language model rate the same answers?",
            runs=scored.names,
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
    is_shown = evaluator.template.uses("sample")
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


def _rated_means(scored: RunFigures, rated: Sequence[Rated]) -> RunMeans:
    """The runs that have ratings, with the columns of their table; a rating is the mean of the means of questions."""
    by_run: dict[int, dict[int, list[Rated]]] = {}
    for row in rated:
        by_run.setdefault(row.run, {}).setdefault(row.question, []).append(row)
    rows = sorted(by_run)
    cells = [list(itertools.chain.from_iterable(by_run[run].values())) for run in rows]
    by_question = ([np.mean([row.rating for row in cell]) for cell in by_run[run].values()] for run in rows)
    means = {
        "our score": scored.means["score"][rows],
        "rating": np.array([np.mean(ratings) for ratings in by_question]),
        "ratings": np.array([len(ratings) for ratings in cells]),
        "code points": np.array([round(float(np.mean([row.n_code_points for row in cell]))) for cell in cells]),
    }
    return replace(scored.chosen(rows), means=means)


def _length_note(rated: Sequence[Rated]) -> list[str]:
    """A sentence on the correlation of ratings and lengths, a known bias of judges."""
    ratings, lengths = (np.array([getattr(row, name) for row in rated]) for name in ("rating", "n_code_points"))
    if len(rated) < MIN_VALUES or np.ptp(ratings) == 0 or np.ptp(lengths) == 0:
        return []
    r = float(np.corrcoef(ratings, lengths)[0, 1])
    return [f"ratings correlate with the lengths of answers by Pearson {r:.3f}; judges tend to prefer long answers"]


def _words(runs: RunMeans, n_found: int, judge_name: str) -> tuple[str, str, list[str]]:
    ours, theirs = runs.means["our score"], runs.means["rating"]
    words = f"The judge gave {n_found:,} ratings to {len(ours)} runs, {theirs.mean():.2f} on average over the runs."
    if len(ours) < MIN_VALUES or is_constant(ours) or is_constant(theirs):
        answer = f"{judge_name} rates the runs {theirs.mean():.2f} on average."
        return (
            answer,
            words,
            ["no correlation with our scores: there are fewer than three runs, or all values are equal"],
        )
    clusters = clusters_of(runs.models, "model")
    by_name = correlate(ours, theirs, clusters=clusters.numbers)
    listed = ", ".join(f"{name} {by_name[name]}" for name in COEFFICIENTS)
    pearson = f"Pearson {with_interval(by_name['Pearson'])} over {len(ours)} runs"
    return (
        f"The ratings of {judge_name} correlate with our scores by {pearson}.",
        f"{words} Correlations with our scores over {clusters.counted('runs')} (95 % intervals in brackets): {listed}.",
        clusters.warnings("runs"),
    )
