"""Scores of models by checklists, as data, JSON and CSV; `checklist_scoring` makes them, `checklist_tables` shows them.

A score is from 0 to 100; tables print rescaled scores. A figure without a value is None, never NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import Any, Literal

from ...base.untrusted_text import counted, csv_text, place_cell
from .answer_texts import UNANSWERED
from .calibrated import CALIBRATED, Calibrated
from .checklist_suite import ChecklistSuite, by_part
from .tasks import AnswerKey, Method, Task

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


_FIGURES = ("score", "rescaled", "rescaled_plain", "rescaled_missing_as_zero", "rescaled_missing_skipped", "words")


_Names = Mapping[tuple[str, str], str]


def to_dict(scores: Scores, *, with_questions: bool = False) -> dict[str, Any]:
    """The scores for JSON, with full digits; None for a missing value."""
    names = category_names(scores.suite)
    rows = [
        {**_row(scores, model, place, names, with_questions=with_questions), "rank_range": ranks and list(ranks)}
        for model, place, ranks in zip(scores.models, scores.places, scores.ranks, strict=True)
    ]
    if scores.missing == "bounds":
        for row, places in zip(rows, scores.place_bounds, strict=True):
            row["place_bounds"] = places and list(map(place_cell, places))
    return {
        "suite": scores.suite.name,
        "suite_sha256": scores.suite.hash,
        "method": scores.method,
        "weights": scores.weights,
        "missing": scores.missing,
        "rows": rows,
        "notes": list(scores.notes),
    }


def category_names(suite: ChecklistSuite) -> dict[tuple[str, str], str]:
    """The names of categories in the order of areas and tasks, with the area where several have the same name."""
    keys = dict.fromkeys(task.place for task in suite.tasks)
    ordered = sorted(keys, key=lambda key: suite.areas.index(key[0]))
    names = [category for _, category in ordered]
    return {key: key[1] if names.count(key[1]) == 1 else f"{key[0]}/{key[1]}" for key in ordered}


def question_means(model: ModelScores) -> dict[tuple[str, str], tuple[float, ...]]:
    """The mean verdict on each question of each category, over the judged answers to tasks without a length."""
    return {
        key: tuple(map(fmean, zip(*(answer.verdicts for answer in answers), strict=True)))
        for key, answers in by_part(model.answers, "category").items()
    }


def to_csv(scores: Scores) -> str:
    """The scores as CSV with full digits: a row for each model and part, and one for its average."""
    counts = ("n", "missing", "unjudged", "stale")
    figures = (*_FIGURES, "rescaled_over_answers", "low", "high", *OF_LENGTH)
    bounds = ("worst", "best", *UNANSWERED)
    columns = ("place", "model", "kind", "part", *counts, *figures, "signature", *bounds, "best_place", "worst_place")
    columns += CALIBRATED if scores.calibrated else ()
    names = category_names(scores.suite)
    rows: list[list[Any]] = []
    for model, place, places in zip(scores.models, scores.places, scores.place_bounds, strict=True):
        parts: list[tuple[str, str, Part]] = [("average", "", model.average)]
        parts += [("area", area, part) for area, part in model.areas.items()]
        parts += [("category", names[key], part) for key, part in model.categories.items()]
        parts += [("length", length, part) for length, part in model.lengths.items()]
        for kind, name, part in parts:
            tasks = None if kind == "average" else part
            row = [place_cell(place), model.model, kind, name, *_cells(tasks, counts), *_cells(part, figures)]
            known = tasks if model.has_texts else None
            row += [model.signature, *_cells(part, bounds[:2]), *_cells(known, bounds[2:])]
            row += map(place_cell, places or (None, None))
            if scores.calibrated:
                mean = scores.calibrated[model.model].get(name) if kind in ("average", "area") else None
                row += [mean and mean.to_dict()[column] for column in CALIBRATED]
            rows.append(row)
    return csv_text(columns, rows)


ANSWER_COLUMNS = {"item": str, "model": str, "trial": int, "subject": str, "score": float}
"""The columns of `answer_rows`, and their types."""


def answer_rows(scores: Scores) -> Iterator[tuple[str, str, int, str, float]]:
    """A row for each judged answer; `compare` and `leaderboard` read such tables."""
    for model in scores.models:
        for answer in model.answers:
            id, length, trial = answer.key
            yield id if length is None else f"{id}/{length}", model.model, trial, answer.task.area, answer.score


def _row(
    scores: Scores,
    model: ModelScores,
    place: float | None,
    names: Mapping[tuple[str, str], str],
    *,
    with_questions: bool,
) -> dict[str, Any]:
    part_of = partial(_part, model, scores)
    categories = {names[key]: part_of(part) for key, part in model.categories.items()}
    for key, means in question_means(model).items():
        checklist = scores.suite.checklists[key]
        if with_questions and len(means) == len(checklist.questions):
            columns = zip(checklist.questions, checklist.weights, means, strict=True)
            categories[names[key]]["questions"] = [
                dict(zip(("question", "weight", "mean"), x, strict=True)) for x in columns
            ]
    average = model.average
    return {
        "model": model.model,
        "name": model.name,
        "place": place_cell(place),
        "signature": model.signature,
        "areas": {area: part_of(part) for area, part in model.areas.items()},
        "categories": categories,
        "average": {
            **{name: getattr(average, name) for name in _FIGURES if name != "score"},
            "rescaled_over_answers": average.rescaled_over_answers,
            "interval_95": _pair(average.low, average.high),
            **_bounds(scores, average),
        },
        "lengths": {
            length: part_of(part) | {name: getattr(part, name) for name in OF_LENGTH}
            for length, part in model.lengths.items()
        },
        **(
            {"calibrated": {part or "average": mean.to_dict() for part, mean in scores.calibrated[model.model].items()}}
            if scores.calibrated
            else {}
        ),
    }


def _part(model: ModelScores, scores: Scores, part: Part) -> dict[str, Any]:
    known = UNANSWERED if model.has_texts else ()
    listed = {name: list(getattr(part, name)) for name in ("missing", "unjudged", "stale", *known)}
    figures = {name: getattr(part, name) for name in _FIGURES}
    return {"n": part.n, **listed, **figures, "interval_95": _pair(part.low, part.high), **_bounds(scores, part)}


def _bounds(scores: Scores, part: Part) -> dict[str, Any]:
    return {"bounds": _pair(part.worst, part.best)} if scores.missing == "bounds" else {}


def _pair(low: float | None, high: float | None) -> list[float] | None:
    return None if low is None or high is None else [low, high]


def _cells(part: Any, columns: Sequence[str]) -> list[Any]:
    """The values of a part, and the numbers of values of its lists; empty cells without a part."""
    values = [getattr(part, column, None) for column in columns]
    return [len(value) if isinstance(value, tuple) else value for value in values]
