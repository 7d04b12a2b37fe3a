"""Scores of models by checklists, as data; `scoring` makes them, `table_data` and `text_tables` write them.

A score is from 0 to 100; tables print rescaled scores. A figure without a value is None, never NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from ....base.untrusted_text import counted
from ..checklist_suite import ChecklistSuite
from ..judgements import AnswerKey, Method
from ..tasks import Task
from .calibrated import Calibrated

Weighting = Literal["suite", "equal"]
"""Whether questions have the suite's weights or equal weights."""

State = Literal["judged", "missing", "unjudged", "stale"]
"""The state of an answer: a `missing` answer has no judgement, an `unjudged` one no usable reply, and since the
judgement of a `stale` one the answer, its instruction, the checklist or the prompt has changed."""

MissingRule = Literal["skip", "zero", "bounds"]
"""Whether an answer without a judgement is left out or counts as zero; with bounds, it is left out, and each model has
its worst and best score and place, too."""

WHY_STALE = "the answer, its instruction, the checklist or the prompt has changed since"


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The score of an answer."""

    key: AnswerKey
    task: Task
    verdicts: tuple[float, ...]
    score: float
    plain: float
    words: int | None
    response_sha256: str = ""


@dataclass(frozen=True)
class Part:
    """The score of a model on a part of the suite: an area, a category or a length, with errors of the length.

    The average is a part, too: the mean of the areas, which have equal weights, without counts.
    `worst` and `best` are the rescaled scores if all missing answers had the worst or the best verdicts, by the rule
    `bounds`. `refused`, `filtered` and `failed` name answers that do not answer their task, judged or not.
    """

    n: int = 0
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    score: float | None = None
    rescaled: float | None = None
    rescaled_plain: float | None = None
    rescaled_missing_as_zero: float | None = None
    rescaled_missing_skipped: float | None = None
    rescaled_over_answers: float | None = None  # of the average
    words: float | None = None
    low: float | None = None
    high: float | None = None
    mean_absolute_length_error: float | None = None
    mean_shortfall: float | None = None
    share_long_enough: float | None = None
    worst: float | None = None
    best: float | None = None
    refused: tuple[str, ...] = ()
    filtered: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class LengthFigures:
    """How far some answers meet the wanted lengths."""

    n: int
    mean_words: float
    mean_absolute_length_error: float
    mean_shortfall: float
    share_long_enough: float


OF_LENGTH = ("mean_absolute_length_error", "mean_shortfall", "share_long_enough")
"""The figures that a part with a wanted length has, too."""


def length_figures(counted_and_wanted: Iterable[tuple[int | None, int | None]]) -> LengthFigures | None:
    """The figures of the answers whose numbers of words and wanted words are known; None without any."""
    listed = [(words, wanted) for words, wanted in counted_and_wanted if words is not None and wanted is not None]
    if not listed:
        return None
    return LengthFigures(
        len(listed),
        fmean(words for words, _ in listed),
        fmean(abs(words - wanted) for words, wanted in listed),
        fmean(max(0, wanted - words) for words, wanted in listed),
        fmean(words >= wanted for words, wanted in listed),
    )


@dataclass(frozen=True)
class ModelScores:
    """The scores of one model."""

    model: str
    name: str
    signature: str
    areas: Mapping[str, Part]
    categories: Mapping[tuple[str, str], Part]
    lengths: Mapping[str, Part]
    average: Part  # without figures if an area has no judged answer
    answers: tuple[AnswerScore, ...] = field(default=(), repr=False)
    has_texts: bool = False  # whether the run has its answers, so that refused, filtered and failed answers are known


@dataclass(frozen=True)
class Scores:
    """The scores of several models on the same suite.

    Attributes:
        suite: The suite.
        models: The models, best average first; those without an average at the end, by name.
        method: How the judge was asked.
        missing: How an answer without a judgement counts in `score` and `rescaled`.
        weights: Whether questions have the suite's weights or equal weights.
        ranks: The rank range of each model (`paired.rank_ranges`); None without an average or a verdict.
        notes: Notes for readers, one sentence each.
        calibrated: By model, the scores that people would give: the average under an empty name, and the areas; empty
            without marks of people.
    """

    suite: ChecklistSuite
    models: tuple[ModelScores, ...]
    method: Method = "checklist"
    missing: MissingRule = "skip"
    weights: Weighting = "suite"
    ranks: tuple[tuple[int, int] | None, ...] = ()
    notes: tuple[str, ...] = ()
    calibrated: Mapping[str, Mapping[str, Calibrated]] = field(default_factory=dict, repr=False)

    @property
    def places(self) -> tuple[float | None, ...]:
        """The place of each model, from 1; equal averages share the mean of their places."""
        averages = [model.average.rescaled for model in self.models]
        return tuple(
            None if average is None else averages.index(average) + (averages.count(average) + 1) / 2
            for average in averages
        )

    @property
    def place_bounds(self) -> tuple[tuple[float, float] | None, ...]:
        """The best and the worst place of each model, whatever its missing answers and those of other models were.

        The best place is that of its best score among the worst scores of the other models, and the reverse.
        """
        bounds = [(model.average.worst, model.average.best) for model in self.models]
        places: list[tuple[float, float] | None] = []
        for number, (worst, best) in enumerate(bounds):
            others = [ends for place, ends in enumerate(bounds) if place != number]
            if worst is None or best is None:
                places.append(None)
            else:
                places.append((_place(best, [ends[0] for ends in others]), _place(worst, [ends[1] for ends in others])))
        return tuple(places)

    @property
    def n_unjudged(self) -> int:
        """How many answers are left out because their judge gave no usable reply (yet)."""
        return self._n("unjudged")

    @property
    def n_stale(self) -> int:
        """How many judgements are left out because they are stale."""
        return self._n("stale")

    @property
    def n_missing(self) -> int:
        """How many answers have no judgement."""
        return self._n("missing")

    @property
    def left_out(self) -> list[str]:
        """A sentence for each reason why judgements do not count."""
        reasons = ((self.n_stale, WHY_STALE), (self.n_unjudged, "the judge gave no usable reply (yet)"))
        return [f"{counted(n, 'answer')} left out: {why}" for n, why in reasons if n]

    def _n(self, what: State) -> int:
        parts = (part for model in self.models for part in (*model.areas.values(), *model.lengths.values()))
        return sum(len(getattr(part, what)) for part in parts)


def _place(score: float, others: Iterable[float | None]) -> float:
    """The place of a score among others, from 1; equal scores share the mean of their places."""
    known = [other for other in others if other is not None]
    return 1 + sum(other > score for other in known) + sum(other == score for other in known) / 2
