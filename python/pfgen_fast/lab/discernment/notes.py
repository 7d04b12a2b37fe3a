"""Notes and warnings for readers of the figures, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...base.untrusted_text import counted, few_names, in_one_line
from ..statistics.discernment_scores import FEW
from .discernment_cells import TaskCells
from .discernment_result import Scored
from .kinds import Perturbation, in_words


def notes_on(scored: Scored, tasks: Sequence[TaskCells]) -> tuple[str, ...]:
    """Notes on the data from which the figures are computed."""
    notes = [*scored.collection.notes, *scored.plan.notes, *scored.notes]
    for task in tasks:
        notes += (_of(task) + note for note in (*_impossible(task), *_undefined(task)))
    return tuple(dict.fromkeys(notes))


def warnings_on(scored: Scored, tasks: Sequence[TaskCells]) -> tuple[str, ...]:
    """Warnings that the figures may mislead."""
    warnings = list(_without_scores(scored, tasks))
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


def _words(change: Perturbation) -> str:
    return in_one_line(in_words(change.kind, change.degree, change.permille, change.k))


def _of(task: TaskCells) -> str:
    return f"Task {in_one_line(task.scores.task)}: "
