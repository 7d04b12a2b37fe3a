"""Tables of scores: for readers, and all figures for CSV and JSON.

Readers see scores with two decimals, words without decimals. A figure with missing answers is marked. Files have full
digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

from ...base.table import NOTHING, Column, Table, figure, place_cell
from ...base.untrusted_text import few_names, in_one_line
from .calibration import CALIBRATED, Calibration
from .checklist_scoring import GAPS, ChecklistScores, ModelScores, ScoredPart
from .checklist_suite import by_part
from .judged import WHY_STALE

MARK = "*"
"""Marks a figure with missing answers."""

_LONGEST_NAME = 40
_FIGURES = ("score", "rescaled", "rescaled_plain", "rescaled_missing_as_zero", "words", "rescaled_over_answers")
_OF_LENGTH = ("mean_absolute_length_error", "mean_shortfall", "share_long_enough")

Cells = list[tuple[Column, Callable[[Any], Any]]]
"""Columns with the functions that take their values from a record."""

_INTERVAL = Column("95 % interval", form=lambda ends: f"{figure(ends[0], 2)} to {figure(ends[1], 2)}")


def shown_tables(
    scores: ChecklistScores, calibration: Calibration | None = None, *, categories: bool = True, lengths: bool = True
) -> Iterator[Table]:
    """The tables for readers; those of a single model have its areas, categories, lengths and questions."""
    is_single = len(scores.models) == 1
    yield parts_of(scores, scores.models[0]) if is_single else ranking(scores)
    if calibration is not None:
        yield calibration_table(calibration)
    if categories or is_single:
        yield by_category(scores)
    if lengths or is_single:
        yield by_length(scores)
    if is_single:
        yield by_question(scores, scores.models[0])


def ranking(scores: ChecklistScores) -> Table:
    """The models in order, with average, interval, areas, missing answers, words, and rank range."""
    cells: Cells = [
        (Column("rank", form="{:g}".format), lambda model: model.place),
        (Column("model"), _name),
        (_scored("average", scores), lambda model: (model.average.rescaled, model.n("missing"))),
        (_INTERVAL, lambda model: model.average.interval),
        (Column("rank range", form=_range), lambda model: model.ranks),
    ]
    others: Cells = [
        (_scored(area.replace("_", " "), scores), partial(lambda area, model: _score(model.areas.get(area)), area))
        for area in dict.fromkeys(area for model in scores.models for area in model.areas)
    ]
    if any(model.n("missing") for model in scores.models):
        others.append((Column("missing"), lambda model: model.n("missing")))
        if scores.missing == "skip":
            others.append((Column("missing as zero", digits=2), lambda model: model.average.rescaled_missing_as_zero))
    others.append((Column(_unit(scores), digits=0), lambda model: model.average.words))
    cells += [(replace(column, is_optional=True), value) for column, value in others]
    best, title = scores.models[0], "Average over areas"
    if best.place == 1 and best.average.rescaled is not None and best.ranks:
        title += f": {_name(best)} is first with {figure(best.average.rescaled, 2)}, rank range {_range(best.ranks)}"
    return Table.of_records(cells, scores.models, title=title)


def by_category(scores: ChecklistScores) -> Table:
    """The score of each model (column) on each category (row)."""
    names = scores.suite.category_names
    cells: Cells = [(Column("category"), lambda key: in_one_line(names[key], _LONGEST_NAME))]
    cells += [
        (_scored(_name(model), scores), partial(lambda parts, key: _score(parts.get(key)), model.categories))
        for model in scores.models
    ]
    keys = [key for key in names if any(key in model.categories for model in scores.models)]
    return Table.of_records(cells, keys, title="By category")


def by_length(scores: ChecklistScores) -> Table:
    """The score of each model on each length, and how the wanted lengths were met."""
    cells: Cells = [
        (Column("model"), lambda row: _name(row[0])),
        (Column("length"), lambda row: in_one_line(row[1], 20)),
        (Column("answers"), lambda row: row[2].n),
        (_scored("score", scores), lambda row: _score(row[2])),
        (_INTERVAL, lambda row: row[2].interval),
        (Column(_unit(scores), digits=0), lambda row: row[2].words),
        (Column("error", digits=1), lambda row: row[2].length and row[2].length.mean_absolute_length_error),
        (Column("shortfall", digits=1), lambda row: row[2].length and float(row[2].length.mean_shortfall)),
        (Column("long enough %", digits=1), lambda row: row[2].length and 100 * float(row[2].length.share_long_enough)),
    ]
    rows = [(model, *length) for model in scores.models for length in model.lengths.items()]
    return Table.of_records(cells, rows, title="By wanted length")


def calibration_table(calibration: Calibration) -> Table:
    """The scores by the judge, by marks and verdicts together, and by marks alone, for each model and area."""
    figures = ("calibrated", "low", "high", "marks alone", "low", "high", "correlation")
    columns = [Column("model"), Column("part"), Column("judge", digits=2), Column("marks")]
    columns += [*(Column(name, digits=2) for name in figures), Column("effective marks", digits=0)]
    rows = [
        (*(in_one_line(name, _LONGEST_NAME) for name in (model, part or "average")), *mean.to_dict().values())
        for model, parts in calibration.models.items()
        for part, mean in parts.items()
        if not part or parts[""].marks
    ]
    return Table(columns, rows, "Calibrated by marks of people")


def parts_of(scores: ChecklistScores, model: ModelScores) -> Table:
    """The score of one model on each area, and its average."""
    rows = [(area, part, part.n, len(part.gaps["missing"])) for area, part in model.areas.items()]
    rows.append(("average", model.average, sum(part.n for part in model.areas.values()), model.n("missing")))
    cells: Cells = [
        (Column("area"), lambda row: in_one_line(row[0], _LONGEST_NAME)),
        (Column("answers"), lambda row: row[2]),
        (Column("score", digits=2), lambda row: row[1].score),
        (_scored("rescaled", scores), lambda row: (row[1].rescaled, row[3])),
        (_INTERVAL, lambda row: row[1].interval),
        (Column("equal weights", digits=2), lambda row: row[1].rescaled_plain),
        (Column("missing"), lambda row: row[3]),
        (Column(_unit(scores), digits=0), lambda row: row[1].words),
    ]
    return Table.of_records(cells, rows, title=_name(model))


def by_question(scores: ChecklistScores, model: ModelScores) -> Table:
    """The mean verdict of one model on each question of each category; questions are numbered from 1."""
    names = scores.suite.category_names
    means = question_means(model) if scores.method == "checklist" else {}
    most = max(map(len, means.values()), default=0)
    columns = [Column("category"), *(Column(str(n + 1), digits=3) for n in range(most))]
    rows = [
        (in_one_line(names[key], _LONGEST_NAME), *means[key], *[None] * (most - len(means[key])))
        for key in names
        if key in means
    ]
    return Table(columns, rows, "Mean verdict on each question")


def full_table(scores: ChecklistScores, calibration: Calibration | None = None) -> Table:
    """All figures: a row for each model and part, and one for its average."""
    names, rows = scores.suite.category_names, []
    for model in scores.models:
        parts = [("average", "", model.average)]
        parts += [("area", area, part) for area, part in model.areas.items()]
        parts += [("category", names[key], part) for key, part in model.categories.items()]
        parts += [("length", length, part) for length, part in model.lengths.items()]
        for kind, name, part in parts:
            row: dict[str, Any] = {"rank": place_cell(model.place), "model": model.model, "kind": kind, "part": name}
            row |= {"n": part.n} | {gap: len(part.gaps[gap]) for gap in GAPS}
            if kind == "average":
                row |= dict.fromkeys(("n", *GAPS))
            row |= {column: getattr(part, column) for column in _FIGURES}
            row["low"], row["high"] = part.interval or (None, None)
            row |= {column: getattr(part.length, column, None) for column in _OF_LENGTH}
            row["best_rank"], row["worst_rank"] = model.ranks or (None, None)
            row["signature"] = model.signature
            if calibration is not None:
                has_marks = kind in ("average", "area") and name in calibration.models[model.model]
                mean = calibration.models[model.model][name].to_dict() if has_marks else {}
                row |= {column: mean.get(column) for column in CALIBRATED}
            rows.append(row)
    return Table([*map(Column, rows[0])], [tuple(row.values()) for row in rows])


def scale_sentences(scores: ChecklistScores) -> list[str]:
    """Sentences on intervals and ranks, and on the scale if any score is below 0."""
    about = "95 % interval: over tasks, by Student's t"
    if len(scores.models) > 1:
        about += "; rank range: the ranks that chance allows, at 95 % (paired t-test against all other models, "
        about += "corrected by Holm)"
    rescale = scores.suite.rescaling
    parts = (part for model in scores.models for part in (*model.areas.values(), *model.lengths.values()))
    if not any((part.rescaled or 0) < 0 for part in parts):
        return [about]
    shown = f"(score - {rescale.centre:g}) × {rescale.factor:g}, from {rescale(0):g} to {rescale(100):g}"
    return [about, f"The table shows {shown}: 0 is a score of {rescale.centre:g} of 100."]


def missing_sentences(scores: ChecklistScores) -> list[str]:
    """A sentence for each part of a model with missing answers, or with answers that are left out."""
    lines: list[str] = []
    for model in scores.models:
        for name, part in (*model.areas.items(), *model.lengths.items()):
            where = f"{_name(model)}, {in_one_line(name, _LONGEST_NAME)}"
            if n_missing := len(part.gaps["missing"]):
                lines.append(f"{MARK} {where}: no judgement of {n_missing:,} of {part.n + n_missing:,} answers")
            if names := part.gaps["unjudged"]:
                lines.append(f"{where}: left out, because the judge gave no usable reply (yet): {few_names(names)}")
            if names := part.gaps["stale"]:
                lines.append(f"{where}: left out, because {WHY_STALE}: {few_names(names)}")
    return lines


def question_means(model: ModelScores) -> dict[tuple[str, str], tuple[float, ...]]:
    """The mean verdict on each question of each category, over the judged answers to tasks without a length."""
    return {
        key: tuple(map(fmean, zip(*(answer.verdicts for answer in answers), strict=True)))
        for key, answers in by_part(model.answers, "category").items()
    }


def _scored(title: str, scores: ChecklistScores) -> Column:
    """A column of rescaled scores, each with a number of missing answers; if any has a mark, others have a blank."""
    blank = " " if scores.n("missing") else ""

    def form(cell: tuple[float | None, int]) -> str:
        value, n_missing = cell
        return NOTHING + blank if value is None else f"{figure(value, 2)}{MARK if n_missing else blank}"

    return Column(title, form=form)


def _score(part: ScoredPart | None) -> tuple[float | None, int] | None:
    return None if part is None else (part.rescaled, len(part.gaps["missing"]))


def _range(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:g}" if bounds[0] == bounds[1] else f"{bounds[0]:g}–{bounds[1]:g}"


def _name(model: ModelScores) -> str:
    return in_one_line(model.model, _LONGEST_NAME)


def _unit(scores: ChecklistScores) -> str:
    return "characters" if scores.suite.words == "characters" else "words"
