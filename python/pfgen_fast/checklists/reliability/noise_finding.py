"""`noise` in words, tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...experiments.chart_data import Line, Lines, Points, Scatter
from ...experiments.finding import Cell, Finding, Picture, Table
from ...files.cells import place_cell
from ...files.untrusted_text import counted
from .agreement import TwoTables
from .judge_selection import signature_of_sides
from .noise import Noise, PartNoise, QuestionUse

WANTED = 1.0
"""The usual half width to plan for, in points of rescaled scores."""

NOTHING = 0.01
"""A question does not separate models if at most this share of its variance is between models."""
REPEATS = 0.8
"""Questions repeat each other if their verdicts correlate at least this much."""
REWARDS_LENGTH = 0.3
"""A question rewards length if its partial correlation with words is at least this, given the rest of the score."""

_PLANS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
_RATINGS = (1, 2, 4, 8)
_LISTED = 3


def noise_finding(found: Noise, wanted: float = WANTED) -> Finding:
    """The noise of a judge's scores, and the use of each question."""
    explained, tables = found.last_alone
    listed = [_part_table(found, wanted), _question_table(found.questions)]
    if tables.is_defined and len(tables.models) > 1:
        listed.append(_last_table(tables))
    return Finding(
        "noise",
        _answer(found, wanted),
        f"{_words(found, explained, tables)} Signature: {signature_of_sides(found.pairing.suite, [found.side])}",
        tuple(listed),
        tuple(_pictures(found)),
        tuple(_notes(found)),
        question="How much of a score is chance, and which questions are worth asking?",
    )


def _answer(found: Noise, wanted: float) -> str:
    average = found.average
    n_idle = sum(one.between_models is not None and one.between_models <= NOTHING for one in found.questions)
    of_questions = f"{n_idle:,} of {len(found.questions):,} questions hardly separate models"
    if average is None:
        return f"Too few tasks for the interval of an average; {of_questions}."
    times = average.tasks_for(wanted) / average.n_tasks
    return (
        f"A model's average is known to ±{average.half_width():.2f} points; ±{wanted:g} would need {times:.1f} times "
        f"as many tasks{_or_ratings(average, wanted)}; {of_questions}."
    )


def _or_ratings(part: PartNoise, wanted: float) -> str:
    if part.within is None:
        return ""
    ratings = part.ratings_for(wanted)
    if ratings is None:
        return ", and more ratings of each answer would not be enough"
    return f", or {counted(ratings, 'rating')} of each answer"


def _words(found: Noise, explained: float | None, tables: TwoTables) -> str:
    models, n_tasks = counted(len(found.pairing.models), "model"), len(found.pairing.tasks)
    words = [f"From the judgements of {found.pairing.n_answers:,} answers of {models} to {n_tasks:,} tasks."]
    average = found.average
    if average is not None and average.half_width_of_difference is not None:
        half = average.half_width_of_difference
        words.append(
            f"The difference of two models, on the same tasks, is known to ±{half:.2f} points (median of all pairs)."
        )
    if average is not None and average.within is not None:
        share = average.within**2 / (average.within**2 + average.between**2)
        words.append(f"{100 * share:.1f} % of the variance of a single rating is between ratings of the same answer.")
    words += _extremes(found.questions)
    if explained is not None:
        tau = tables.tau.value if tables.is_defined else None
        same = "" if tau is None else f"; its ranking of the models has a tau-b of {tau:.3f} to the usual ranking"
        words.append(
            f"The last question of each checklist alone predicts {100 * explained:.1f} % of the variance of scores "
            f"within categories{same}; it is itself a part of the score."
        )
    return " ".join(words)


def _extremes(questions: Sequence[QuestionUse]) -> list[str]:
    """Sentences on how many questions repeat others, and how many reward length."""
    repeating = [one for one in questions if one.repeats is not None and one.repeats >= REPEATS]
    rewarding = [one for one in questions if one.words_alone is not None and one.words_alone >= REWARDS_LENGTH]
    words = [
        f"{len(repeating):,} questions repeat another question of their checklist (r at least {REPEATS:g})"
        f"{_named(repeating, 'repeats')}."
    ]
    if any(one.words_alone is not None for one in questions):
        words.append(
            f"{len(rewarding):,} questions reward length (partial rank correlation with words at least "
            f"{REWARDS_LENGTH:g}){_named(rewarding, 'words_alone')}."
        )
    return words


def _named(questions: Sequence[QuestionUse], figure: str) -> str:
    first = sorted(questions, key=lambda one: -getattr(one, figure))[:_LISTED]
    listed = [f"{one.question.labels[1]} {one.question.labels[2]} ({getattr(one, figure):.2f})" for one in first]
    return f", most of all {', '.join(listed)}" if listed else ""


def _notes(found: Noise) -> list[str]:
    notes = list(found.side.notes)
    if all(part.within is None for part in found.parts):
        notes.append(
            "each answer has one rating, so the noise of ratings cannot be separated from the noise of tasks; "
            "ask several times with 'checklists judge --ratings K'"
        )
    if len(found.pairing.models) < 2:
        notes.append("there is only one model, so the column 'between models' is empty")
    if not any(found.words.values()):
        notes.append("the numbers of words are unknown, so no correlations with length are shown")
    return notes


def _part_table(found: Noise, wanted: float) -> Table:
    parts = [*found.parts, *([found.average] if found.average else [])]
    rows: list[tuple[Cell, ...]] = [
        (
            *(part.name, part.n_tasks, part.n_ratings, part.between, part.within, part.half_width()),
            part.half_width_of_difference,
            part.tasks_for(wanted),
            None if part.within is None else part.tasks_for(wanted, 1),
            part.ratings_for(wanted),
        )
        for part in parts
    ]
    columns = (
        *("part", "tasks", "ratings", "deviation of tasks", "deviation of ratings", "half width"),
        *("half width of a difference", f"tasks for ±{wanted:g}", f"tasks for ±{wanted:g} with one rating"),
        f"ratings for ±{wanted:g}",
    )
    return Table("parts", "Noise by part of the suite, in points of rescaled scores", columns, tuple(rows), 2)


def _question_table(questions: Sequence[QuestionUse]) -> Table:
    order = sorted(questions, key=lambda one: -2.0 if one.between_models is None else one.between_models)
    rows: list[tuple[Cell, ...]] = [
        (
            *(*one.question.labels, one.n, one.mean, one.best, one.between_models),
            *(
                None if one.like is None else one.like + 1,
                one.repeats,
                one.words,
                one.words_alone,
                one.alone,
                one.question.text,
            ),
        )
        for one in order
    ]
    columns = (
        *("area", "category", "number", "answers", "mean", "share of best level", "between models", "most like"),
        *("correlation with it", "with words", "with words, rest held", "score explained alone", "question"),
    )
    title = "Questions, those that separate models least first"
    return Table("questions", title, columns, tuple(rows), 3)


def _last_table(tables: TwoTables) -> Table:
    usual, last = tables.values
    rows = [
        (tables.models[i], float(usual[i]), float(last[i]), *(place_cell(row[i]) for row in tables.places.tolist()))
        for i in sorted(range(len(tables.models)), key=lambda i: -usual[i])
    ]
    columns = ("model", "average", "last question alone", "place", "place by the last question")
    return Table("last-question", "Averages by the last question of each checklist alone", columns, tuple(rows), 2)


def _pictures(found: Noise) -> list[Picture]:
    pictures = []
    if found.average is not None:
        pictures.append(_plan_picture(found.average))
    known = [one for one in found.questions if one.between_models is not None]
    panels = [_panel(known, "mean", "mean verdict")]
    with_words = [one for one in known if one.words_alone is not None]
    if with_words:
        panels.append(_panel(with_words, "words_alone", "correlation with words, rest of the score constant"))
    if known:
        title = "How well questions separate models, and how much they reward length"
        pictures.append(Picture("questions", title, Scatter(tuple(panels))))
    return pictures


def _panel(questions: Sequence[QuestionUse], figure: str, label: str) -> Points:
    return Points(
        np.array([getattr(one, figure) for one in questions]),
        np.array([one.between_models for one in questions], dtype=np.float64),
        label,
        "share of variance between models",
        labels=tuple(f"{one.question.labels[1]} {one.question.labels[2]}" for one in questions),
    )


def _plan_picture(average: PartNoise) -> Picture:
    x = np.array(_PLANS) * average.n_tasks
    numbers = _RATINGS if average.within is not None else (None,)
    lines = tuple(
        Line(
            "as judged" if ratings is None else counted(ratings, "rating"),
            x,
            np.array([average.half_width(times, ratings) for times in _PLANS]),
        )
        for ratings in numbers
    )
    chart = Lines(lines, "tasks", "half width of an average's 95 % interval", WANTED)
    return Picture("plan", "The precision of an average, by the number of tasks", chart)
