"""Worlds of known truth for the simulation of statistics: the mean scores of questions, and the scores of trials."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.random import Generator
from pfgen_fast import Scorer
from pfgen_fast.generation.ngram_sampler import NgramSampler
from pfgen_fast.runs.trials import Trials, find_runs

from . import published

World = Callable[[Generator, int], np.ndarray]
Source = str | tuple[int, float, int]  # of trials: the model of a published run, or the arguments of `ngram_scores`


# ---- The means of questions


def trial_means(generator: Generator, means: np.ndarray, n_trials: int) -> np.ndarray:
    """The means of trials around the true means of questions: noise, and a keyword that is there or not."""
    hit = np.linspace(0.02, 0.98, means.shape[-1])
    keyword = generator.binomial(n_trials, hit, means.shape) / n_trials - hit
    return means + 0.1 * generator.standard_normal(means.shape) / n_trials**0.5 + keyword / 3


def usual(generator: Generator, n: int) -> np.ndarray:
    return 1.1 * generator.beta(5, 3, n)


def skewed(generator: Generator, n: int) -> np.ndarray:
    return generator.beta(1, 6, n)


TRUTH = {usual: 1.1 * 5 / 8, skewed: 1 / 7}  # the true means of these worlds


def two_runs(
    generator: Generator, n_questions: int, n_trials: tuple[int, int], apart: float, ties: float
) -> np.ndarray:
    """The question means of two runs that are equally good, but differ from question to question by `apart`."""
    means = usual(generator, n_questions)
    differences = apart * generator.standard_normal(n_questions) * (generator.uniform(size=n_questions) >= ties)
    pair = [means + differences / 2, means - differences / 2]
    # Where answers tie, both runs always answer in the same way.
    return np.stack(pair if ties else [trial_means(generator, m, n) for m, n in zip(pair, n_trials, strict=True)])


# ---- Trials: answers of the n-gram engine, and published ones


@cache
def ngram_scores(order: int, temperature: float, n_answers: int) -> np.ndarray:
    """The scores of so many answers to each question of the packaged suite; their means are the truth."""
    sampler, scorer = NgramSampler("mini", order=order, temperature=temperature), Scorer("mini")
    ids = [question.question_id for question in scorer.suite]
    return np.array([scorer.reward(each, sampler.sample(each, range(n_answers))) for each in ids])


@cache
def published_scores() -> dict[str, np.ndarray]:
    """The scores of the published runs of 100 trials, by model."""
    scorer = Scorer(published.suite())
    found = {}
    for run in find_runs([published.FOLDER / "result"]):
        trials = Trials.of(run)
        average = scorer.score(trials.lines.questions, trials.lines.answers)["average"]
        rows = [average[trials.rows_by_question[question.question]] for question in scorer.suite]
        if {len(row) for row in rows} == {100}:
            found[run.folder.parent.name] = np.array(rows)
    return found


def drawn_trials(generator: Generator, source: Source, n_trials: int) -> tuple[np.ndarray, float]:
    """The scores of trials that are drawn from a source, and the mean of all scores of the source."""
    scores = published_scores()[source] if isinstance(source, str) else ngram_scores(*source)
    columns = generator.integers(scores.shape[1], size=(len(scores), n_trials))
    return np.take_along_axis(scores, columns, axis=1), scores.mean()
