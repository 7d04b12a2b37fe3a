"""Readable tables of scores for terminals and Markdown.

Scores have two decimals, words none. A figure with missing answers is marked; the figure by the other rule for
missing answers, or its bounds, is next to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...base.untrusted_text import few_names, in_one_line, markdown_table, markdown_text
from .answer_texts import UNANSWERED
from .calibrated import calibration_sentences
from .scores import WHY_STALE, ModelScores, Part, Scores, category_names, question_means

MARK = "*"
"""Marks a figure with missing answers."""

Columns = list[tuple[str, Callable[[Any], str]]]
"""The head of each column, and the cell that it makes of a row."""

_LONGEST_NAME = 40
_NOTHING = "–"


@dataclass(frozen=True)
class TextTable:
    """A table of texts, safe to print and bounded in length."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_names: int = 1

    def to_markdown(self) -> str:
        """The table as Markdown, with its title as a heading."""
        return f"## {markdown_text(self.title)}\n\n{markdown_table(self.heads, self.rows, range(self.n_names))}"


def ranking(scores: Scores, *, with_areas: bool = True) -> TextTable:
    """The models in order, with average, interval, areas, words, rank range, and missing answers if there are any."""
    names = [model.model for model in scores.models]
    places = dict(zip(names, scores.places, strict=True))
    ranks = dict(zip(names, scores.ranks, strict=True))
    columns: Columns = [
        ("place", lambda model: _NOTHING if places[model.model] is None else f"{places[model.model]:g}"),
        ("model", _name),
        ("average", lambda model: _marked(model.average.rescaled, _n_missing(model))),
        ("95 % interval", lambda model: _interval(model.average)),
        *(_of_areas(scores, _cell) if with_areas else ()),
        *_about_missing(scores),
        *([(_unit(scores), lambda model: _figure(model.average.words, 0))] if with_areas else ()),
        ("rank range", lambda model: _places(ranks[model.model])),
    ]
    return _table("Average over areas" if with_areas else "Average", columns, scores.models, n_names=2)


def _about_missing(scores: Scores) -> Columns:
    """The columns about missing answers and about answers that do not answer their task, if there are any."""
    columns: Columns = []
    if any(map(_n_missing, scores.models)) or scores.missing == "bounds":
        columns.append(("missing", lambda model: f"{_n_missing(model):,}" if _n_missing(model) else ""))
        if scores.missing == "bounds":
            places = {model.model: bounds for model, bounds in zip(scores.models, scores.place_bounds, strict=True)}
            columns += [
                ("worst", lambda model: _figure(model.average.worst)),
                ("best", lambda model: _figure(model.average.best)),
                ("possible places", lambda model: _places(places[model.model])),
            ]
        else:
            other, name = ("as zero", "rescaled_missing_as_zero")
            if scores.missing == "zero":
                other, name = ("skipped", "rescaled_missing_skipped")
            columns.append(
                (f"missing {other}", lambda model: _figure(getattr(model.average, name)) if _n_missing(model) else "")
            )
    for reason in UNANSWERED:
        n_of = partial(lambda reason, model: sum(len(getattr(part, reason)) for part in model.areas.values()), reason)
        if any(map(n_of, scores.models)):
            columns.append((reason, partial(lambda n_of, model: f"{n_of(model) or ''}", n_of)))
    return columns


def _places(bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return _NOTHING
    return f"{bounds[0]:g}" if bounds[0] == bounds[1] else f"{bounds[0]:g} to {bounds[1]:g}"


def by_area(scores: Scores) -> TextTable:
    """The score of each model on each area."""
    return _table("By area", [("model", _name), *_of_areas(scores, _cell)], scores.models)


def words_by_area(scores: Scores) -> TextTable:
    """The mean number of words of each model in each area, and the mean of the areas."""
    areas = _of_areas(scores, lambda part: _figure(part.words if part else None, 0))
    average: Columns = [("average", lambda model: _figure(model.average.words, 0))]
    return _table(_unit(scores).capitalize(), [("model", _name), *areas, *average], scores.models)


def by_category(scores: Scores) -> TextTable:
    """The score of each model (column) on each category (row)."""
    names = category_names(scores.suite)
    columns: Columns = [("category", lambda key: in_one_line(names[key], _LONGEST_NAME))]
    columns += [
        (_name(model), partial(lambda parts, key: _cell(parts.get(key)), model.categories)) for model in scores.models
    ]
    return _table("By category", columns, [key for key in names if any(key in row.categories for row in scores.models)])


def by_length(scores: Scores) -> TextTable:
    """The score of each model on each length, and how the wanted lengths were met."""
    columns: Columns = [
        ("model", lambda row: _name(row[0])),
        ("length", lambda row: in_one_line(row[1], 20)),
        ("answers", lambda row: f"{row[2].n:,}"),
        ("score", lambda row: _cell(row[2])),
        ("95 % interval", lambda row: _interval(row[2])),
        (_unit(scores), lambda row: _figure(row[2].words, 0)),
        ("error", lambda row: _figure(row[2].mean_absolute_length_error, 1)),
        ("shortfall", lambda row: _figure(row[2].mean_shortfall, 1)),
        ("long enough %", lambda row: _figure(row[2].share_long_enough and 100 * row[2].share_long_enough, 1)),
    ]
    rows = [(model, *length) for model in scores.models for length in model.lengths.items()]
    return _table("By wanted length", columns, rows, n_names=2)


def calibration(scores: Scores) -> TextTable:
    """The scores by the judge, by marks and verdicts together, and by marks alone, for each model and area."""
    columns: Columns = [
        ("model", lambda row: in_one_line(row[0], _LONGEST_NAME)),
        ("part", lambda row: in_one_line(row[1] or "average", _LONGEST_NAME)),
        ("judge", lambda row: _figure(row[2]["judge"])),
        ("marks", lambda row: f"{row[2]['marks']:,}"),
        ("calibrated", lambda row: _figure(row[2]["calibrated"])),
        ("95 % interval", lambda row: _ends(row[2]["calibrated_low"], row[2]["calibrated_high"])),
        ("marks alone", lambda row: _figure(row[2]["marks_alone"])),
        ("95 % interval", lambda row: _ends(row[2]["marks_alone_low"], row[2]["marks_alone_high"])),
        ("correlation", lambda row: _figure(row[2]["correlation"])),
        ("effective marks", lambda row: _figure(row[2]["effective_marks"], 0)),
    ]
    rows = [(model, part, mean.to_dict()) for model, parts in scores.calibrated.items() for part, mean in parts.items()]
    rows = [row for row in rows if not row[1] or scores.calibrated[row[0]][""].marks]
    return _table("Calibrated by marks of people", columns, rows, n_names=2)


def parts_of(scores: Scores, model: ModelScores) -> TextTable:
    """The score of one model on each area, and its average."""
    average, parts = model.average, model.areas.values()
    n_answers, n_missing = sum(part.n for part in parts), _n_missing(model)
    rows: list[tuple[str, int, str, Part, int]] = [
        (in_one_line(area, _LONGEST_NAME), part.n, _figure(part.score), part, len(part.missing))
        for area, part in model.areas.items()
    ]
    columns: Columns = [
        ("area", lambda row: row[0]),
        ("answers", lambda row: f"{row[1]:,}"),
        ("score", lambda row: row[2]),
        ("rescaled", lambda row: _marked(row[3].rescaled, row[4])),
        ("95 % interval", lambda row: _interval(row[3])),
        ("equal weights", lambda row: _figure(row[3].rescaled_plain)),
        ("missing", lambda row: f"{row[4]:,}" if row[4] else ""),
        (_unit(scores), lambda row: _figure(row[3].words, 0)),
    ]
    return _table(_name(model), columns, [*rows, ("average", n_answers, "", average, n_missing)])


def by_question(scores: Scores, model: ModelScores) -> TextTable:
    """The mean verdict of one model on each question of each category; questions are numbered from 1."""
    names = category_names(scores.suite)
    means = {key: listed for key, listed in question_means(model).items() if scores.method == "checklist"}
    most = max(map(len, means.values()), default=0)
    columns: Columns = [("category", lambda key: in_one_line(names[key], _LONGEST_NAME))]
    columns += [
        (str(n + 1), partial(lambda n, key: f"{means[key][n]:.3f}" if n < len(means[key]) else "", n))
        for n in range(most)
    ]
    return _table("Mean verdict on each question", columns, [key for key in names if key in means])


def to_markdown(scores: Scores, *, with_categories: bool = False, with_lengths: bool = False) -> str:
    """The tables as Markdown, with notes."""
    tables = [ranking(scores), *([calibration(scores)] if scores.calibrated else []), words_by_area(scores)]
    tables += [by_category(scores)] if with_categories else []
    tables += [by_length(scores)] if with_lengths and by_length(scores).rows else []
    blocks = [table.to_markdown() for table in tables]
    listed = [
        *scale_sentences(scores),
        *missing_sentences(scores),
        *calibration_sentences(scores.calibrated),
        *scores.notes,
    ]
    blocks += ["".join(f"* {markdown_text(in_one_line(sentence, 400))}\n" for sentence in listed)] if listed else []
    signatures = dict.fromkeys(model.signature for model in scores.models)
    blocks += ["".join(f"signature: {markdown_text(signature)}\n" for signature in signatures)]
    return "\n".join(blocks)


def scale_sentences(scores: Scores) -> list[str]:
    """A sentence on the scale if any score is below 0."""
    rescale = scores.suite.rescaling
    parts = (part for model in scores.models for part in (*model.areas.values(), *model.lengths.values()))
    if not any((part.rescaled or 0) < 0 for part in parts):
        return []
    shown = f"(score - {rescale.centre:g}) × {rescale.factor:g}, from {rescale(0):g} to {rescale(100):g}"
    return [f"The table shows {shown}: 0 is a score of {rescale.centre:g} of 100."]


def missing_sentences(scores: Scores) -> list[str]:
    """A sentence for each part of a model with missing answers, or with answers that are left out."""
    lines: list[str] = []
    for model in scores.models:
        for name, part in (*model.areas.items(), *model.lengths.items()):
            where = f"{in_one_line(model.model, _LONGEST_NAME)}, {in_one_line(name, _LONGEST_NAME)}"
            if part.missing:
                n, missing = part.n + len(part.missing), set(part.missing)
                reasons = {reason: len(missing.intersection(getattr(part, reason))) for reason in UNANSWERED}
                known = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items() if count)
                ends = f", as zeros {_figure(part.rescaled_missing_as_zero)}"
                if scores.missing == "bounds":
                    ends = f", at worst {_figure(part.worst)}, at best {_figure(part.best)}"
                lines.append(
                    f"{MARK} {where}: no judgement of {len(part.missing):,} of {n:,} answers"
                    f"{f' ({known})' if known else ''}; left out {_figure(part.rescaled_missing_skipped)}{ends}"
                )
            if part.unjudged:
                lines.append(
                    f"{where}: left out, because the judge gave no usable reply (yet): {few_names(part.unjudged)}"
                )
            if part.stale:
                lines.append(f"{where}: left out, because {WHY_STALE}: {few_names(part.stale)}")
    return lines


def _table(title: str, columns: Columns, rows: Iterable[Any], n_names: int = 1) -> TextTable:
    cells = tuple(tuple(cell(row) for _, cell in columns) for row in rows)
    return TextTable(title, tuple(head for head, _ in columns), cells, n_names)


def _of_areas(scores: Scores, cell: Callable[[Part | None], str]) -> Columns:
    """A column of models for each area."""
    areas = dict.fromkeys(area for model in scores.models for area in model.areas)
    return [
        (in_one_line(area, _LONGEST_NAME), partial(lambda area, model: cell(model.areas.get(area)), area))
        for area in areas
    ]


def _n_missing(model: ModelScores) -> int:
    return sum(len(part.missing) for part in model.areas.values())


def _name(model: ModelScores) -> str:
    return in_one_line(model.model, _LONGEST_NAME)


def _cell(part: Part | None) -> str:
    return _NOTHING if part is None else _marked(part.rescaled, len(part.missing))


def _unit(scores: Scores) -> str:
    return "characters" if scores.suite.words == "characters" else "words"


def _marked(value: float | None, n_missing: int) -> str:
    return _figure(value) + (MARK if n_missing and value is not None else "")


def _figure(value: float | None, n_digits: int = 2) -> str:
    return _NOTHING if value is None else f"{value:,.{n_digits}f}".replace(",", "")


def _interval(part: Part) -> str:
    return _ends(part.low, part.high)


def _ends(low: float | None, high: float | None) -> str:
    return _NOTHING if low is None or high is None else f"{low:.2f} to {high:.2f}"
