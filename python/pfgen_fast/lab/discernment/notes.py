"""Notes and warnings for readers of the figures, one sentence each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np

from ...base.errors import SuiteError
from ...base.untrusted_text import counted, few_names, in_one_line
from ..evaluators.ngram_evaluator import NgramEvaluator
from ..statistics.discernment_scores import FEW
from .discernment_cells import TaskCells
from .discernment_plan import Perturbation
from .discernment_result import Scored
from .discernment_scoring import Scoring
from .kinds import in_words
from .originals import known_originals

WEAK_ORIGINALS = 0.5
"""Share of the mean score of reference answers below which originals make a bad test."""


def notes_on(evaluator: object, scored: Scored, tasks: Sequence[TaskCells]) -> tuple[str, ...]:
    """Notes on the data from which the figures are computed."""
    notes = [*scored.collection.notes, *scored.plan.notes]
    with contextlib.suppress(SuiteError):  # a compiled suite has no answers to compare with
        if isinstance(evaluator, NgramEvaluator):
            notes += known_originals(evaluator.suite, scored.collection)
    if hasattr(evaluator, "notes_on"):
        notes += evaluator.notes_on(scored.collection.items)
    for task in tasks:
        notes += (_of(task) + note for note in (*_impossible(task), *_undefined(task)))
    return tuple(dict.fromkeys(notes))


def warnings_on(evaluator: object, scoring: Scoring, tasks: Sequence[TaskCells]) -> tuple[str, ...]:
    """Warnings that the figures may mislead."""
    scored = scoring.scored
    warnings = list(_without_scores(scored, tasks))
    if isinstance(evaluator, NgramEvaluator):
        with contextlib.suppress(SuiteError):
            warnings += _weak(evaluator, scored)
    if scoring.unstable:
        ids = ", ".join(in_one_line(name) for name in scoring.unstable)
        warnings.append(
            f"Evaluator {in_one_line(scored.evaluator)} claims to be deterministic, but gave an original two different "
            f"scores; first items: {ids}."
        )
    for task in tasks:
        if (n_questions := len(set(task.scores.codes))) < FEW:
            warnings.append(
                f"{_of(task)}the {task.scores.n_items} items share {counted(n_questions, 'question')}, too few for a "
                f"test: expected at least {FEW}, because the items of a question are one cluster."
            )
        warnings += (_of(task) + note for note in (*_never_moving(task), *_not_repeated(task), *_lacking_scores(task)))
    return tuple(warnings)


def _impossible(task: TaskCells) -> Iterator[str]:
    n_possible = task.scores.n_possible
    for kind in dict.fromkeys(perturbation.kind for perturbation in task.scores.perturbations):
        rows = [i for i, perturbation in enumerate(task.scores.perturbations) if perturbation.kind == kind]
        if not n_possible[rows].any():
            reason = task.scores.scored.reasons[rows[0]]
            name = in_one_line(in_words(kind))
            yield f"The damage '{name}' is impossible for all items: {in_one_line(reason or 'no text')}."


def _undefined(task: TaskCells) -> Iterator[str]:
    """A note on perturbations that are possible for too few items."""
    few = (task.scores.n_possible > 0) & ~task.has_items
    names = [_words(task.scores.perturbations[i]) for i in np.flatnonzero(few)]
    yield from _because(names, "perturbation", "too few items have scores")


def _lacking_scores(task: TaskCells) -> Iterator[str]:
    lacks_scores = task.has_items[:, None] & ~task.is_defined
    names = [
        f"{_words(task.scores.perturbations[i])} ({in_one_line(task.scores.metrics[j].name)})"
        for i, j in zip(*np.nonzero(lacks_scores), strict=True)
    ]
    yield from _because(names, "cell", "more than 20 % of the scores are missing")


def _because(names: Sequence[str], noun: str, why: str) -> Iterator[str]:
    if names:
        are = f"1 {noun} is" if len(names) == 1 else f"{len(names)} {noun}s are"
        yield f"{are} undefined, because {why}: {few_names(names, 5, 200)}."


def _never_moving(task: TaskCells) -> Iterator[str]:
    for j, metric in enumerate(task.scores.metrics):
        is_defined = task.is_defined[:, j]
        if is_defined.any() and not task.figures["n"][is_defined, j].any():
            yield f"{in_one_line(metric.name)} never moves: no damage changes a score."


def _not_repeated(task: TaskCells) -> Iterator[str]:
    """Warnings about metrics with different scores for the same text, by the control `identity`."""
    for i, perturbation in enumerate(task.scores.perturbations):
        if perturbation.rule == "identity":
            for metric, n in zip(task.scores.metrics, task.figures["n"][i], strict=True):
                if n:
                    yield (
                        f"{in_one_line(metric.name)} is not repeatable: {int(n)} of {task.scores.n_items} originals "
                        "got a different score when they were scored again."
                    )


def _without_scores(scored: Scored, tasks: Sequence[TaskCells]) -> Iterator[str]:
    named = {task.scores.task for task in tasks}
    for task in scored.collection.tasks:
        if task not in named:
            yield f"Task {in_one_line(task)}: no original has a score, so the task is left out."
    for metric, scores in zip(scored.metrics, scored.originals, strict=True):
        if np.isnan(scores).all():
            yield f"{in_one_line(metric.name)} has no score for any original, so it is left out."


def _weak(evaluator: NgramEvaluator, scored: Scored) -> Iterator[str]:
    """A warning if the originals score much less than the suite's reference answers to their questions."""
    questions = dict.fromkeys(item.question for item in scored.collection.items if item.question is not None)
    reference_mean = evaluator.reference_means(list(questions))["average"]
    scores = scored.originals[scored.metric_names.index("average")]
    own = np.nan if np.isnan(scores).all() else float(np.nanmean(scores))
    if own < WEAK_ORIGINALS * reference_mean:
        yield (
            f"The originals score {own:.3f} on average, less than half of the {reference_mean:.3f} of the suite's "
            "reference answers: their scores have little room to fall, so the figures say little."
        )


def _words(change: Perturbation) -> str:
    return in_one_line(in_words(change.kind, change.degree, change.permille, change.k))


def _of(task: TaskCells) -> str:
    return f"Task {in_one_line(task.scores.task)}: "
