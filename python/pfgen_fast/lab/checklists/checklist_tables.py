"""Tables of scores: for readers, as CSV and as JSON.

Readers see scores with two decimals, words without decimals. A figure with missing answers is marked; the figure by the
other rule for missing answers, or its bounds, is next to it. Files have full digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from statistics import fmean
from typing import Any, NamedTuple

from ...base.table import NOTHING, Column, Table, figure, place_cell
from ...base.untrusted_text import few_names, in_one_line, markdown_text
from .answer_texts import UNANSWERED
from .calibration import CALIBRATED, Calibration
from .checklist_scoring import GAPS, ChecklistScores, Ends, Gap, ModelScores, ScoredPart
from .checklist_suite import by_part
from .judged import WHY_STALE

MARK = "*"
"""Marks a figure with missing answers."""

_LONGEST_NAME = 40
_FIGURES = ("score", "rescaled", "rescaled_plain", "rescaled_missing_as_zero", "rescaled_missing_skipped", "words")
_OF_LENGTH = ("mean_absolute_length_error", "mean_shortfall", "share_long_enough")

Cells = list[tuple[Column, Callable[[Any], Any]]]
"""Columns with the functions that take their values from a record."""

_INTERVAL = Column("95 % interval", form=lambda ends: f"{figure(ends[0], 2)} to {figure(ends[1], 2)}")


def ranking(scores: ChecklistScores, *, with_areas: bool = True) -> Table:
    """The models in order, with average, interval, areas, words, rank range, and missing answers if there are any."""
    words: Cells = [(Column(_unit(scores), digits=0), lambda model: model.average.words)]
    cells: Cells = [
        (Column("place", form="{:g}".format), lambda model: model.place),
        (Column("model"), _name),
        (_scored("average", scores), lambda model: (model.average.rescaled, model.n("missing"))),
        (_INTERVAL, lambda model: model.average.interval),
        *(_of_areas(scores, lambda area: _scored(area, scores), _score) if with_areas else ()),
        *_about_missing(scores),
        *(words if with_areas else ()),
        (Column("rank range", form=_range), lambda model: model.ranks),
    ]
    return Table.of_records(cells, scores.models, title="Average over areas" if with_areas else "Average")


def _about_missing(scores: ChecklistScores) -> Cells:
    """The columns about missing answers and about answers that do not answer their task, if there are any."""
    cells: Cells = []
    has_missing = any(model.n("missing") for model in scores.models)
    if has_missing or scores.missing == "bounds":
        cells.append((Column("missing"), lambda model: model.n("missing")))
    if scores.missing == "bounds":
        cells += [
            (Column("worst", digits=2), lambda model: model.average.bounds and model.average.bounds[0]),
            (Column("best", digits=2), lambda model: model.average.bounds and model.average.bounds[1]),
            (Column("possible places", form=_range), lambda model: model.place_bounds),
        ]
    elif has_missing:
        other, name = "as zero", "rescaled_missing_as_zero"
        if scores.missing == "zero":
            other, name = "skipped", "rescaled_missing_skipped"
        column = Column(f"missing {other}", digits=2)
        cells.append((column, lambda model: getattr(model.average, name) if model.n("missing") else None))
    for reason in UNANSWERED:
        if any(model.n(reason) for model in scores.models):
            cells.append((Column(reason), partial(lambda gap, model: model.n(gap), reason)))
    return cells


def by_area(scores: ChecklistScores) -> Table:
    """The score of each model on each area."""
    areas = _of_areas(scores, lambda area: _scored(area, scores), _score)
    return Table.of_records([(Column("model"), _name), *areas], scores.models, title="By area")


def words_by_area(scores: ChecklistScores) -> Table:
    """The mean number of words of each model in each area, and the mean of the areas."""
    cells: Cells = [
        (Column("model"), _name),
        *_of_areas(scores, lambda area: Column(area, digits=0), lambda part: part and part.words),
        (Column("average", digits=0), lambda model: model.average.words),
    ]
    return Table.of_records(cells, scores.models, title=_unit(scores).capitalize())


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
    cells: Cells = [
        (Column("model"), lambda row: in_one_line(row[0], _LONGEST_NAME)),
        (Column("part"), lambda row: in_one_line(row[1] or "average", _LONGEST_NAME)),
        (Column("judge", digits=2), lambda row: row[2]["judge"]),
        (Column("marks"), lambda row: row[2]["marks"]),
        (Column("calibrated", digits=2), lambda row: row[2]["calibrated"]),
        (_INTERVAL, lambda row: _ends(row[2]["calibrated_low"], row[2]["calibrated_high"])),
        (Column("marks alone", digits=2), lambda row: row[2]["marks_alone"]),
        (_INTERVAL, lambda row: _ends(row[2]["marks_alone_low"], row[2]["marks_alone_high"])),
        (Column("correlation", digits=2), lambda row: row[2]["correlation"]),
        (Column("effective marks", digits=0), lambda row: row[2]["effective_marks"]),
    ]
    rows = [
        (model, part, mean.to_dict())
        for model, parts in calibration.models.items()
        for part, mean in parts.items()
        if not part or parts[""].marks
    ]
    return Table.of_records(cells, rows, title="Calibrated by marks of people")


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


class _Row(NamedTuple):
    """A row of the table of all figures; a part of the suite is not counted in an average."""

    model: ModelScores
    kind: str
    name: str
    part: ScoredPart

    def n(self, gap: Gap) -> int | None:
        is_known = self.kind != "average" and (self.model.has_texts or gap not in UNANSWERED)
        return len(self.part.gaps[gap]) if is_known else None


def full_table(scores: ChecklistScores, calibration: Calibration | None = None) -> Table:
    """All figures: a row for each model and part, and one for its average."""
    names, rows = scores.suite.category_names, []
    for model in scores.models:
        rows.append(_Row(model, "average", "", model.average))
        rows += [_Row(model, "area", area, part) for area, part in model.areas.items()]
        rows += [_Row(model, "category", names[key], part) for key, part in model.categories.items()]
        rows += [_Row(model, "length", length, part) for length, part in model.lengths.items()]
    counts = {gap: partial(_Row.n, gap=gap) for gap in GAPS}
    values: dict[str, Callable[[_Row], Any]] = {
        "place": lambda row: place_cell(row.model.place),
        "model": lambda row: row.model.model,
        "kind": lambda row: row.kind,
        "part": lambda row: row.name,
        "n": lambda row: None if row.kind == "average" else row.part.n,
        **{gap: counts[gap] for gap in GAPS if gap not in UNANSWERED},
        **{name: partial(lambda name, row: getattr(row.part, name), name) for name in _FIGURES},
        "rescaled_over_answers": lambda row: row.part.rescaled_over_answers,
        "low": lambda row: row.part.interval and row.part.interval[0],
        "high": lambda row: row.part.interval and row.part.interval[1],
        **{name: partial(lambda name, row: getattr(row.part.length, name, None), name) for name in _OF_LENGTH},
        "signature": lambda row: row.model.signature,
        "worst": lambda row: row.part.bounds and row.part.bounds[0],
        "best": lambda row: row.part.bounds and row.part.bounds[1],
        **{gap: counts[gap] for gap in UNANSWERED},
        "best_place": lambda row: place_cell(row.model.place_bounds and row.model.place_bounds[0]),
        "worst_place": lambda row: place_cell(row.model.place_bounds and row.model.place_bounds[1]),
    }
    if calibration is not None:
        means = {
            (model, part): mean.to_dict() for model, parts in calibration.models.items() for part, mean in parts.items()
        }

        def calibrated(name: str, row: _Row) -> Any:
            return means.get((row.model.model, row.name), {}).get(name) if row.kind in ("average", "area") else None

        values |= {name: partial(calibrated, name) for name in CALIBRATED}
    return Table.of_records([(Column(name), value) for name, value in values.items()], rows)


def to_dict(
    scores: ChecklistScores, calibration: Calibration | None = None, *, with_questions: bool = False
) -> dict[str, Any]:
    """The scores for JSON, with full digits; None for a missing value."""
    names = scores.suite.category_names
    rows = []
    for model in scores.models:
        average = _part_dict(scores, model, model.average)
        row: dict[str, Any] = {
            "model": model.model,
            "name": model.name,
            "place": place_cell(model.place),
            "signature": model.signature,
            "areas": {area: _part_dict(scores, model, part) for area, part in model.areas.items()},
            "categories": {names[key]: _part_dict(scores, model, part) for key, part in model.categories.items()},
            "average": {
                **{name: average[name] for name in (*_FIGURES[1:], "interval_95")},
                "rescaled_over_answers": model.average.rescaled_over_answers,
                **({"bounds": average["bounds"]} if scores.missing == "bounds" else {}),
            },
            "lengths": {
                length: _part_dict(scores, model, part)
                | {name: getattr(part.length, name, None) for name in _OF_LENGTH}
                for length, part in model.lengths.items()
            },
            "rank_range": model.ranks and list(model.ranks),
        }
        for key, means in question_means(model).items() if with_questions and scores.method == "checklist" else ():
            checklist = scores.suite.checklists[key]
            row["categories"][names[key]]["questions"] = [
                {"question": question, "weight": weight, "mean": mean}
                for question, weight, mean in zip(checklist.questions, checklist.weights, means, strict=True)
            ]
        if calibration is not None:
            parts = calibration.models[model.model]
            row["calibrated"] = {part or "average": mean.to_dict() for part, mean in parts.items()}
        if scores.missing == "bounds":
            row["place_bounds"] = model.place_bounds and [place_cell(place) for place in model.place_bounds]
        rows.append(row)
    return {
        "suite": scores.suite.name,
        "suite_sha256": scores.suite.hash,
        "method": scores.method,
        "weights": scores.weights,
        "missing": scores.missing,
        "rows": rows,
        "notes": [*scores.notes, *(calibration.notes if calibration is not None else ())],
    }


def _part_dict(scores: ChecklistScores, model: ModelScores, part: ScoredPart) -> dict[str, Any]:
    return {
        "n": part.n,
        **{gap: list(part.gaps[gap]) for gap in GAPS if model.has_texts or gap not in UNANSWERED},
        **{name: getattr(part, name) for name in _FIGURES},
        "interval_95": part.interval and list(part.interval),
        **({"bounds": part.bounds and list(part.bounds)} if scores.missing == "bounds" else {}),
    }


def to_markdown(
    scores: ChecklistScores,
    calibration: Calibration | None = None,
    *,
    with_categories: bool = False,
    with_lengths: bool = False,
) -> str:
    """The tables as Markdown, with notes."""
    tables = [ranking(scores), words_by_area(scores)]
    if calibration is not None:
        tables.insert(1, calibration_table(calibration))
    tables += [by_category(scores)] if with_categories else []
    tables += [by_length(scores)] if with_lengths and len(by_length(scores)) else []
    blocks = [f"## {markdown_text(table.title)}\n\n{table.to_markdown()}" for table in tables]
    listed = [*scale_sentences(scores), *missing_sentences(scores)]
    if calibration is not None:
        listed += calibration.sentences()
    listed += [*scores.notes, *(calibration.notes if calibration is not None else ())]
    blocks += ["".join(f"* {markdown_text(in_one_line(sentence, 400))}\n" for sentence in listed)] if listed else []
    signatures = dict.fromkeys(model.signature for model in scores.models)
    blocks += ["".join(f"signature: {markdown_text(signature)}\n" for signature in signatures)]
    return "\n".join(blocks)


def scale_sentences(scores: ChecklistScores) -> list[str]:
    """A sentence on the scale if any score is below 0."""
    rescale = scores.suite.rescaling
    parts = (part for model in scores.models for part in (*model.areas.values(), *model.lengths.values()))
    if not any((part.rescaled or 0) < 0 for part in parts):
        return []
    shown = f"(score - {rescale.centre:g}) × {rescale.factor:g}, from {rescale(0):g} to {rescale(100):g}"
    return [f"The table shows {shown}: 0 is a score of {rescale.centre:g} of 100."]


def missing_sentences(scores: ChecklistScores) -> list[str]:
    """A sentence for each part of a model with missing answers, or with answers that are left out."""
    lines: list[str] = []
    for model in scores.models:
        for name, part in (*model.areas.items(), *model.lengths.items()):
            where = f"{_name(model)}, {in_one_line(name, _LONGEST_NAME)}"
            if missing := set(part.gaps["missing"]):
                reasons = {reason: len(missing.intersection(part.gaps[reason])) for reason in UNANSWERED}
                known = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items() if count)
                ends = f"as zeros {_two(part.rescaled_missing_as_zero)}"
                if scores.missing == "bounds":
                    worst, best = part.bounds or (None, None)
                    ends = f"at worst {_two(worst)}, at best {_two(best)}"
                lines.append(
                    f"{MARK} {where}: no judgement of {len(missing):,} of {part.n + len(missing):,} answers"
                    f"{f' ({known})' if known else ''}; left out {_two(part.rescaled_missing_skipped)}, {ends}"
                )
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


def _of_areas(
    scores: ChecklistScores, column: Callable[[str], Column], value: Callable[[ScoredPart | None], Any]
) -> Iterator[tuple[Column, Callable[[ModelScores], Any]]]:
    """A column of models for each area."""
    for area in dict.fromkeys(area for model in scores.models for area in model.areas):
        yield column(area), partial(lambda area, model: value(model.areas.get(area)), area)


def _scored(title: str, scores: ChecklistScores) -> Column:
    """A column of rescaled scores, each with a number of missing answers; if any has a mark, others have a blank."""
    blank = " " if scores.n("missing") else ""

    def form(cell: tuple[float | None, int]) -> str:
        value, n_missing = cell
        return NOTHING + blank if value is None else f"{figure(value, 2)}{MARK if n_missing else blank}"

    return Column(title, form=form)


def _score(part: ScoredPart | None) -> tuple[float | None, int] | None:
    return None if part is None else (part.rescaled, len(part.gaps["missing"]))


def _ends(low: float | None, high: float | None) -> Ends | None:
    return None if low is None or high is None else (low, high)


def _range(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:g}" if bounds[0] == bounds[1] else f"{bounds[0]:g} to {bounds[1]:g}"


def _two(value: float | None) -> str:
    return NOTHING if value is None else figure(value, 2)


def _name(model: ModelScores) -> str:
    return in_one_line(model.model, _LONGEST_NAME)


def _unit(scores: ChecklistScores) -> str:
    return "characters" if scores.suite.words == "characters" else "words"
