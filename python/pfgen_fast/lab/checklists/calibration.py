"""Calibrates a judge's scores with marks of people: few marks and many verdicts give the scores that people would give.

A mark's score is the weighted sum of its verdicts, as for a judge; several marks of an answer are averaged. The marked
answers must be a random sample of each area. Method: `lab.statistics.prediction_powered`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from ...base.errors import ChecklistError
from ...base.untrusted_text import counted, few_names
from ..statistics.prediction_powered import MarkedStratum, mean_of_strata
from .calibrated import Calibrated
from .checklist_scoring import score_of
from .checklist_suite import ChecklistSuite
from .marks import Mark, MarkedAnswer
from .scores import ModelScores, Scores
from .tasks import TaskKey


def calibrated_scores(scores: Scores, marks: Sequence[Mark], *, half_width: float | None = None) -> Scores:
    """The same scores, with the score that people would give each model and area, and its 95 % interval.

    With a half width, also the number of marks that it takes.
    """
    people = people_scores(marks, scores)
    judged: set[MarkedAnswer] = set()
    calibrated = {}
    for model in scores.models:
        judged.update((*answer.key[:2], answer.response_sha256) for answer in model.answers)
        parts = _model(scores, model, people)
        calibrated[model.model] = {part: replace(mean, half_width=half_width) for part, mean in parts.items()}
    unused = Counter(mark.id for mark in marks if mark.answer not in judged)
    if unused.total() == len(marks):
        raise ChecklistError(
            f"none of the {counted(len(marks), 'mark')} is of an answer that the judge has judged; expected marks of "
            "answers in these runs"
        )
    notes = list(scores.notes)
    if unused:
        which = few_names(list(unused))
        notes.append(f"{counted(unused.total(), 'mark')} of answers that the judge has not judged, not used: {which}")
    return replace(scores, calibrated=calibrated, notes=tuple(notes))


def people_scores(marks: Iterable[Mark], scores: Scores) -> dict[MarkedAnswer, float]:
    """The mean score of each marked answer, 0 to 100, with the weights of the table."""
    by_answer: dict[MarkedAnswer, list[float]] = {}
    for mark in marks:
        by_answer.setdefault(mark.answer, []).append(_score(mark, scores.suite, is_equal=scores.weights == "equal"))
    return {answer: fmean(listed) for answer, listed in by_answer.items()}


def _score(mark: Mark, suite: ChecklistSuite, *, is_equal: bool) -> float:
    if is_equal:
        return 100 * math.fsum(mark.verdicts) / len(mark.verdicts)
    return score_of(mark.verdicts, suite.checklists[mark.area, mark.category].weights)


@dataclass(eq=False)
class _Item:
    """The scores of the trials of a task."""

    people: list[float] = field(default_factory=list)
    judge: list[float] = field(default_factory=list)


def _model(scores: Scores, model: ModelScores, people: Mapping[MarkedAnswer, float]) -> dict[str, Calibrated]:
    """The average (under an empty name) and the areas of a model."""
    strata = {area: _stratum(scores, model, area, people) for area, part in model.areas.items() if part.n}
    areas = {
        area: Calibrated(
            model.areas[area].rescaled, len(stratum.truth), mean_of_strata([stratum]) if stratum.truth else None
        )
        for area, stratum in strata.items()
    }
    without = tuple(area for area in model.areas if area not in strata or not strata[area].truth)
    n_marks = sum(area.marks for area in areas.values())
    average = None if without else mean_of_strata(list(strata.values()))
    return {"": Calibrated(model.average.rescaled, n_marks, average, without), **areas}


def _stratum(scores: Scores, model: ModelScores, area: str, people: Mapping[MarkedAnswer, float]) -> MarkedStratum:
    """The rescaled scores of the tasks of an area; a missing answer that counts as zero is zero for people, too."""
    items: dict[TaskKey, _Item] = {}
    for answer in model.answers:
        if answer.task.area == area and answer.task.length is None:
            item = items.setdefault(answer.task.key, _Item())
            item.judge.append(answer.score)
            mark = people.get((*answer.task.key, answer.response_sha256))
            item.people += [] if mark is None else [mark]
    part, rescale = model.areas[area], scores.suite.rescaling
    share = part.n / (part.n + len(part.missing)) if scores.missing == "zero" else 1.0

    def figures(listed: Iterable[list[float]]) -> list[float]:
        return [rescale(share * fmean(values)) for values in listed]

    marked = [item for item in items.values() if item.people]
    others = [item for item in items.values() if not item.people]
    return MarkedStratum(
        figures(item.people for item in marked),
        figures(item.judge for item in marked),
        figures(item.judge for item in others),
        (rescale(0.0), rescale(100.0 * share)),
    )
