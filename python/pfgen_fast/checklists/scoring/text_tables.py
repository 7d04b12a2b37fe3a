"""Readable tables of scores for terminals and Markdown, with two decimals (words: none).

A figure with missing answers is marked, with the figure by the other rule beside it.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from dataclasses import dataclass

from ...files.cells import markdown_row
from ...files.untrusted_text import few_names, in_one_line, markdown_text
from .scores import WHY_STALE, Average, ModelScores, Part, Scores
from .table_data import category_names, question_means

MARK = "*"
"""Marks a figure with missing answers."""

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
        rule = ["---"] * self.n_names + ["---:"] * (len(self.heads) - self.n_names)
        rows = [map(markdown_text, self.heads), rule, *(map(markdown_text, row) for row in self.rows)]
        return f"## {markdown_text(self.title)}\n\n{''.join(map(markdown_row, rows))}"


def ranking(scores: Scores, *, with_areas: bool = True) -> TextTable:
    """The models in order, with average, interval, areas, words, group, and missing answers if there are any.

    Without the areas there are no words either; see `words_by_area`.
    """
    areas = _areas(scores) if with_areas else []
    other, rule = ("as zero", "rescaled_missing_as_zero")
    if scores.missing == "zero":
        other, rule = ("skipped", "rescaled_missing_skipped")
    letters = group_letters(scores)
    any_missing = any(part.missing for model in scores.models for part in model.areas.values())
    rows = []
    for number, (model, place) in enumerate(zip(scores.models, scores.places, strict=True)):
        average = model.average
        n_missing = sum(len(part.missing) for part in model.areas.values())
        rows.append(
            (
                _NOTHING if place is None else f"{place:g}",
                _name(model),
                _marked(average.rescaled, n_missing),
                _interval(average),
                *(_cell(model.areas.get(area)) for area in areas),
                *((f"{n_missing:,}", _figure(getattr(average, rule))) if n_missing else ("", ""))[: 2 * any_missing],
                *([_figure(average.words, 0)] if with_areas else []),
                letters[number],
            )
        )
    heads = (
        "place",
        "model",
        "average",
        "95 % interval",
        *_heads(areas),
        *(("missing", f"missing {other}") if any_missing else ()),
        *([_unit(scores)] if with_areas else []),
        "group",
    )
    return TextTable("Average over areas" if with_areas else "Average", heads, tuple(rows), n_names=2)


def by_area(scores: Scores) -> TextTable:
    """The score of each model on each area."""
    areas = _areas(scores)
    rows = tuple((_name(model), *(_cell(model.areas.get(area)) for area in areas)) for model in scores.models)
    return TextTable("By area", ("model", *_heads(areas)), rows)


def words_by_area(scores: Scores) -> TextTable:
    """The mean number of words of each model in each area, and the mean of the areas."""
    areas = _areas(scores)
    rows = tuple(
        (
            _name(model),
            *(_figure(part.words if part else None, 0) for part in map(model.areas.get, areas)),
            _figure(model.average.words, 0),
        )
        for model in scores.models
    )
    return TextTable(_unit(scores).capitalize(), ("model", *_heads(areas), "average"), rows)


def by_category(scores: Scores) -> TextTable:
    """The score of each model (column) on each category (row)."""
    names = category_names(scores.suite)
    keys = [key for key in names if any(key in model.categories for model in scores.models)]
    rows = tuple(
        (in_one_line(names[key], _LONGEST_NAME), *(_cell(model.categories.get(key)) for model in scores.models))
        for key in keys
    )
    return TextTable("By category", ("category", *map(_name, scores.models)), rows)


def by_length(scores: Scores) -> TextTable:
    """The score of each model on each length, and how the wanted lengths were met."""
    met = ("error", "shortfall", "long enough %")
    heads = ("model", "length", "answers", "score", "95 % interval", _unit(scores), *met)
    rows = tuple(
        (
            _name(model),
            in_one_line(length, 20),
            f"{part.n:,}",
            _cell(part),
            _interval(part),
            _figure(part.words, 0),
            _figure(part.mean_absolute_length_error, 1),
            _figure(part.mean_shortfall, 1),
            _figure(None if part.share_long_enough is None else 100 * part.share_long_enough, 1),
        )
        for model in scores.models
        for length, part in model.lengths.items()
    )
    return TextTable("By wanted length", heads, rows, n_names=2)


def parts_of(scores: Scores, model: ModelScores) -> TextTable:
    """The score of one model on each area, and its average."""
    heads = ("area", "answers", "score", "rescaled", "95 % interval", "equal weights", "missing", _unit(scores))
    rows = tuple(
        (
            in_one_line(area, _LONGEST_NAME),
            f"{part.n:,}",
            _figure(part.score),
            _cell(part),
            _interval(part),
            _figure(part.rescaled_plain),
            f"{len(part.missing):,}" if part.missing else "",
            _figure(part.words, 0),
        )
        for area, part in model.areas.items()
    )
    average = model.average
    n_missing = sum(len(part.missing) for part in model.areas.values())
    last = (
        *("average", f"{sum(part.n for part in model.areas.values()):,}", ""),
        *(_marked(average.rescaled, n_missing), _interval(average), _figure(average.rescaled_plain)),
        *(f"{n_missing:,}" if n_missing else "", _figure(average.words, 0)),
    )
    return TextTable(_name(model), heads, (*rows, last))


def by_question(scores: Scores, model: ModelScores) -> TextTable:
    """The mean verdict of one model on each question of each category; questions are numbered from 0."""
    names = category_names(scores.suite)
    means = {key: found for key, found in question_means(model).items() if scores.method == "checklist"}
    most = max(map(len, means.values()), default=0)
    rows = tuple(
        (
            in_one_line(names[key], _LONGEST_NAME),
            *(f"{mean:.3f}" for mean in means[key]),
            *[""] * (most - len(means[key])),
        )
        for key in names
        if key in means
    )
    return TextTable("Mean verdict on each question", ("category", *map(str, range(most))), rows)


def to_markdown(scores: Scores, *, with_categories: bool = False, with_lengths: bool = False) -> str:
    """The tables as Markdown, with notes."""
    tables = [ranking(scores), words_by_area(scores)]
    tables += [by_category(scores)] if with_categories else []
    tables += [by_length(scores)] if with_lengths and by_length(scores).rows else []
    blocks = [table.to_markdown() for table in tables]
    said = [*missing_sentences(scores), *scores.notes]
    blocks += ["".join(f"* {markdown_text(in_one_line(sentence, 400))}\n" for sentence in said)] if said else []
    signatures = dict.fromkeys(model.signature for model in scores.models)
    blocks += ["".join(f"signature: {markdown_text(signature)}\n" for signature in signatures)]
    return "\n".join(blocks)


def missing_sentences(scores: Scores) -> list[str]:
    """A sentence for each part of a model with missing answers, or with answers that are left out."""
    found: list[str] = []
    for model in scores.models:
        for name, part in (*model.areas.items(), *model.lengths.items()):
            where = f"{in_one_line(model.model, _LONGEST_NAME)}, {in_one_line(name, _LONGEST_NAME)}"
            if part.missing:
                n = part.n + len(part.missing)
                found.append(
                    f"{MARK} {where}: no judgement of {len(part.missing):,} of {n:,} answers; left out "
                    f"{_figure(part.rescaled_missing_skipped)}, as zeros {_figure(part.rescaled_missing_as_zero)}"
                )
            if part.unjudged:
                found.append(
                    f"{where}: left out, because the judge gave no usable reply (yet): {few_names(part.unjudged)}"
                )
            if part.stale:
                found.append(f"{where}: left out, because {WHY_STALE}: {few_names(part.stale)}")
    return found


def group_letters(scores: Scores) -> list[str]:
    """For each model, the letters of its groups; models with a common letter do not differ."""
    found = [""] * len(scores.models)
    together = [group for group in scores.groups if group[1] > group[0]]
    for number, (first, last) in enumerate(together):
        letter = string.ascii_lowercase[number] if number < 26 else f"({number + 1})"
        for place in range(first, last + 1):
            found[place] += letter
    return found


def _areas(scores: Scores) -> list[str]:
    return list(dict.fromkeys(area for model in scores.models for area in model.areas))


def _heads(areas: Iterable[str]) -> list[str]:
    return [in_one_line(area, _LONGEST_NAME) for area in areas]


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


def _interval(part: Part | Average) -> str:
    return _NOTHING if part.low is None or part.high is None else f"{part.low:.2f} to {part.high:.2f}"
