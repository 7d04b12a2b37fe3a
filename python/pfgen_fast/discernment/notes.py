"""What a reader of the figures must know, and what casts doubt on them: one sentence each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..errors import SuiteError
from ..evaluators.ngram import NgramEvaluator
from ..files.untrusted_text import few_names, in_one_line
from .cells import TaskCells
from .originals import known_originals
from .result import Scored
from .scoring import Scoring
from .task_scores import TaskScores

WEAK_ORIGINALS = 0.5
"""Originals that score below this share of what reference answers score make a bad test."""

_NAMED_AT_MOST = 5
_LONGEST_NAME = 200


def notes_on(evaluator: object, scored: Scored, tasks: Sequence[TaskCells]) -> tuple[str, ...]:
    """What a reader must know."""
    found = [*scored.collection.notes, *scored.plan.notes]
    if isinstance(evaluator, NgramEvaluator):
        with contextlib.suppress(SuiteError):  # a suite in its compiled form has no answers to look at
            found += known_originals(evaluator.suite, scored.collection)
    if hasattr(evaluator, "notes_on"):
        found += evaluator.notes_on(scored.collection.items)
    for task in tasks:
        found += _impossible(scored, task)
        found += _undefined(task)
    return tuple(dict.fromkeys(found))


def warnings_on(evaluator: object, scoring: Scoring, tasks: Sequence[tuple[TaskScores, TaskCells]]) -> tuple[str, ...]:
    """What casts doubt on the figures."""
    scored = scoring.scored
    found = list(_without_scores(scored))
    if isinstance(evaluator, NgramEvaluator):
        with contextlib.suppress(SuiteError):
            found += _weak(evaluator, scored)
    if scoring.unstable:
        ids = ", ".join(in_one_line(name) for name in scoring.unstable)
        found.append(
            f"Evaluator {in_one_line(scored.evaluator)} calls itself deterministic, but gave an original two different "
            f"scores; first items: {ids}."
        )
    for scores, cells in tasks:
        found += _never_moving(cells)
        found += _not_repeated(scores, cells)
        found += _lacking_scores(cells)
    return tuple(found)


def _impossible(scored: Scored, task: TaskCells) -> Iterator[str]:
    kinds = dict.fromkeys(perturbation.kind for perturbation in task.perturbations)
    for kind in kinds:
        rows = [i for i, perturbation in enumerate(task.perturbations) if perturbation.kind == kind]
        if not task.n_items[rows].any():
            reason = scored.perturbed[rows[0]].reason
            yield f"{_of(task)}{in_one_line(kind)} is impossible for all items: {in_one_line(reason or 'no text')}."


def _undefined(task: TaskCells) -> Iterator[str]:
    """Perturbations that are possible for some items, but for too few."""
    few = (task.n_items > 0) & ~task.is_defined.any(axis=1) & ~task.lacks_scores.any(axis=1)
    names = [in_one_line(task.perturbations[i].name) for i in np.flatnonzero(few)]
    if names:
        listed = few_names(names, _NAMED_AT_MOST, _LONGEST_NAME)
        yield f"{_of(task)}{_counted(names, 'perturbation')} undefined, because too few items have scores: {listed}."


def _lacking_scores(task: TaskCells) -> Iterator[str]:
    names = [
        f"{in_one_line(task.perturbations[i].name)} ({in_one_line(task.metrics[j].name)})"
        for i, j in zip(*np.nonzero(task.lacks_scores), strict=True)
    ]
    if names:
        yield (
            f"{_of(task)}{_counted(names, 'cell')} undefined, because more than 20 % of the scores are missing: "
            f"{few_names(names, _NAMED_AT_MOST, _LONGEST_NAME)}."
        )


def _never_moving(task: TaskCells) -> Iterator[str]:
    for j, metric in enumerate(task.metrics):
        is_defined = task.is_defined[:, j]
        if is_defined.any() and not task.figures["n"][is_defined, j].any():
            yield f"{_of(task)}{in_one_line(metric.name)} never moves: no damage changes any score."


def _not_repeated(scores: TaskScores, cells: TaskCells) -> Iterator[str]:
    """Metrics with another score for the same text, which the control `identity` shows."""
    for i, perturbation in enumerate(cells.perturbations):
        if perturbation.rule != "identity":
            continue
        for j, metric in enumerate(cells.metrics):
            n = cells.figures["n"][i, j]
            if n:
                yield (
                    f"{_of(cells)}{in_one_line(metric.name)} does not repeat itself: {int(n)} of {scores.n_items} "
                    "originals got another score when they were scored again."
                )


def _without_scores(scored: Scored) -> Iterator[str]:
    for metric in scored.metrics:
        if np.isnan(scored.originals[metric.name]).all():
            yield f"{in_one_line(metric.name)} has no score for any original, so it is left out."


def _weak(evaluator: NgramEvaluator, scored: Scored) -> Iterator[str]:
    """Whether the originals score much less than the suite's reference answers to their questions."""
    questions = dict.fromkeys(item.question for item in scored.collection.items if item.question is not None)
    expected = evaluator.reference_means(list(questions))
    means: Mapping[str, float] = {
        name: float(np.nanmean(scores)) for name, scores in scored.originals.items() if not np.isnan(scores).all()
    }
    own, of_references = means.get("average"), expected["average"]
    if own is not None and own < WEAK_ORIGINALS * of_references:
        yield (
            f"The originals score {own:.3f} on average, less than half of the {of_references:.3f} of the suite's "
            "reference answers: there is little left to lose, so the figures say little."
        )


def _of(task: TaskCells) -> str:
    return f"Task {in_one_line(task.task)}: "


def _counted(names: Sequence[str], noun: str) -> str:
    return f"1 {noun} is" if len(names) == 1 else f"{len(names)} {noun}s are"
