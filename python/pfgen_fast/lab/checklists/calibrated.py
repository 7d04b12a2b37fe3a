"""C."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...base.untrusted_text import few_names, in_one_line
from ..statistics.prediction_powered import MIN_MARKS, PredictionPowered

_NEEDED = ("half_width", "marks_needed", "marks_needed_alone")


@dataclass(frozen=True)
class Calibrated:
    """The rescaled score of a model or of one of its areas, as people would give it.

    Attributes:
        judge: The score by the judge.
        marks: The number of marked tasks.
        fit: The estimate from marks and verdicts; None without marks in an area.
        without: The areas without marks.
        half_width: The half width for which the numbers of marks are estimated; None for no estimate.
    """

    judge: float | None
    marks: int
    fit: PredictionPowered | None
    without: tuple[str, ...] = ()
    half_width: float | None = None

    @property
    def needed(self) -> tuple[int | None, int | None]:
        """The numbers of marks for the half width, with and without the judge; None if unknown or unreachable."""
        if self.fit is None or self.half_width is None:
            return None, None
        return self.fit.marks_for(self.half_width), self.fit.marks_alone_for(self.half_width)

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
            **({} if self.half_width is None else dict(zip(_NEEDED, (self.half_width, *self.needed), strict=True))),
        }


CALIBRATED = tuple(name for name in Calibrated(None, 0, None).to_dict() if name != "judge")
"""The columns of a calibrated score; the score by the judge has its own column in tables."""


def calibration_sentences(calibrated: Mapping[str, Mapping[str, Calibrated]]) -> Iterator[str]:
    """What the marks of each model say about its judge, and how many marks a half width takes."""
    for model, parts in calibrated.items():
        whole, name = parts[""], in_one_line(model, 40)
        if not whole.marks:
            yield f"{name}: no marks of its answers, so its score is not calibrated"
        elif whole.fit is None:
            yield f"{name}: an average needs marks in each area; areas without marks: {few_names(list(whole.without))}"
        elif whole.fit.low is None:
            yield f"{name}: no interval of the average: expected two marks or more in each area, and not all equal"
        else:
            yield f"{name}: {_judge_in_words(whole.fit)}{_marks_in_words(whole, whole.fit)}"


def _judge_in_words(fit: PredictionPowered) -> str:
    if fit.n < MIN_MARKS:
        return f"{fit.n} marks are too few to fit the weight of the judge (at least {MIN_MARKS}), so they stand alone"
    known = "is constant" if fit.correlation is None else f"correlates by {fit.correlation:.2f}"
    if not fit.weight:
        why = "narrows no interval, or too few marks differ from it"
        return f"a judge that {known} with {fit.n} marks {why}: the marks stand alone"
    return f"the judge {known} with {fit.n} marks, so they count like {fit.effective_marks:.0f} marks without it"


def _marks_in_words(whole: Calibrated, fit: PredictionPowered) -> str:
    if whole.half_width is None:
        return ""
    needed, alone = whole.needed
    without = "an unknown number" if alone is None else f"{alone:,}"
    if not fit.weight:
        return f"; ±{whole.half_width:g} would take about {without} marks"
    with_judge = f"about {needed:,} marks" if needed else f"more than these {fit.n + fit.n_others:,} tasks"
    return f"; ±{whole.half_width:g} would take {with_judge} with the judge, and {without} without it"
