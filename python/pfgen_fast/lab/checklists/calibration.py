"""Calibrates a judge's scores with marks of people: few marks and many verdicts give the scores that people would give.

A mark's score is the weighted sum of its verdicts, as for a judge; several marks of an answer are averaged. The marked
answers must be a random sample of each area. Method: `lab.statistics.prediction_powered`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ...base.errors import ChecklistError
from ...base.untrusted_text import counted, few_names
from ..statistics.prediction_powered import MarkedStratum, PredictionPowered, mean_of_strata
from .checklist_scoring import ChecklistScores, ModelScores
from .judged import score_of
from .marks import Mark, MarkedAnswer
from .tasks import TaskKey


@dataclass(frozen=True)
class Calibrated:
    """The rescaled score of a model or of one of its areas, as people would give it."""

    judge: float | None  # score by the judge
    marks: int  # number of marked tasks
    fit: PredictionPowered | None  # estimate from marks and verdicts; None without marks in an area

    def to_dict(self) -> dict[str, Any]:
        """The figures for JSON and CSV; None for an unknown figure."""
        fit, alone = self.fit, self.fit and self.fit.alone
        return {
            "judge": self.judge,
            "marks": self.marks,
            "calibrated": fit and fit.mean,
            "calibrated_low": fit and fit.low,
            "calibrated_high": fit and fit.high,
            "marks_alone": alone and alone.mean,
            "marks_alone_low": alone and alone.low,
            "marks_alone_high": alone and alone.high,
            "correlation": fit and fit.correlation,
            "effective_marks": fit and fit.effective_marks,
        }


CALIBRATED = tuple(name for name in Calibrated(None, 0, None).to_dict() if name != "judge")
"""The columns of a calibrated score; the score by the judge has its own column in tables."""


@dataclass(frozen=True)
class Calibration:
    """The scores that people would give: by model, the average under an empty name, and the areas."""

    models: Mapping[str, Mapping[str, Calibrated]]
    notes: tuple[str, ...]


def calibrate(scores: ChecklistScores, marks: Sequence[Mark]) -> Calibration:
    """The score that people would give each model and area, and its 95 % interval."""
    people = people_scores(marks, scores)
    judged = {(*answer.key[:2], answer.response_sha256) for model in scores.models for answer in model.answers}
    unused = Counter(mark.id for mark in marks if mark.answer not in judged)
    if unused.total() == len(marks):
        raise ChecklistError(
            f"none of the {counted(len(marks), 'mark')} is of an answer that the judge has judged; expected marks of "
            "answers in these runs"
        )
    which = f"not used: {few_names(list(unused))}"
    notes = (f"{counted(unused.total(), 'mark')} of answers that the judge has not judged, {which}",) if unused else ()
    return Calibration({model.model: _model(scores, model, people) for model in scores.models}, notes)


def people_scores(marks: Iterable[Mark], scores: ChecklistScores) -> dict[MarkedAnswer, float]:
    """The mean score of each marked answer, 0 to 100, with the weights of the table."""
    by_answer: dict[MarkedAnswer, list[float]] = {}
    for mark in marks:
        if scores.weights == "equal":
            score = 100 * math.fsum(mark.verdicts) / len(mark.verdicts)
        else:
            score = score_of(mark.verdicts, scores.suite.checklists[mark.area, mark.category].weights)
        by_answer.setdefault(mark.answer, []).append(score)
    return {answer: fmean(listed) for answer, listed in by_answer.items()}


def _model(scores: ChecklistScores, model: ModelScores, people: Mapping[MarkedAnswer, float]) -> dict[str, Calibrated]:
    """The average (under an empty name) and the areas of a model."""
    strata = {area: _stratum(scores, model, area, people) for area, part in model.areas.items() if part.n}
    areas = {}
    for area, stratum in strata.items():
        fit = mean_of_strata([stratum]) if stratum.truth else None
        areas[area] = Calibrated(model.areas[area].rescaled, len(stratum.truth), fit)
    is_whole = all(area in strata and strata[area].truth for area in model.areas)
    average = mean_of_strata(list(strata.values())) if is_whole else None
    n_marks = sum(area.marks for area in areas.values())
    return {"": Calibrated(model.average.rescaled, n_marks, average), **areas}


def _stratum(
    scores: ChecklistScores, model: ModelScores, area: str, people: Mapping[MarkedAnswer, float]
) -> MarkedStratum:
    """The rescaled scores of the tasks of an area; a missing answer that counts as zero is zero for people, too."""
    by_judge: dict[TaskKey, list[float]] = {}
    by_people: dict[TaskKey, list[float]] = {}
    for answer in model.answers:
        if answer.task.area == area and answer.task.length is None:
            by_judge.setdefault(answer.task.key, []).append(answer.score)
            mark = people.get((*answer.task.key, answer.response_sha256))
            if mark is not None:
                by_people.setdefault(answer.task.key, []).append(mark)
    part, rescale = model.areas[area], scores.suite.rescaling
    share = part.n / (part.n + len(part.gaps["missing"])) if scores.missing == "zero" else 1.0

    def figures(listed: Iterable[list[float]]) -> list[float]:
        return [rescale(share * fmean(values)) for values in listed]

    return MarkedStratum(
        figures(by_people.values()),
        figures(by_judge[key] for key in by_people),
        figures(values for key, values in by_judge.items() if key not in by_people),
        (rescale(0.0), rescale(100.0 * share)),
    )
