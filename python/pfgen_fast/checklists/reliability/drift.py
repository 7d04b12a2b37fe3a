"""`drift`: whether a judge still gives the same verdicts, where it moved, and how that changes a table of models.

Whether it moved is tested over answers: if the judge has not changed, each pair of its verdicts on an answer could be
swapped. How far it moved is an estimate for all tasks of this kind, with an interval over tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...experiments.chart_data import MAX_ROWS
from ...experiments.finding import Cell, Finding, Picture, Table
from ...statistics.correlation import Floats
from ...statistics.paired import MIN_QUESTIONS, corrected, paired_difference
from ...statistics.resampling import resampled_means
from .agreement import Agreed
from .agreement_finding import level_table, model_picture, model_table, unequal_names
from .answer_grid import Estimate, Ints, ranges_of
from .judge_selection import Side, signature_of_sides
from .paired_judgements import Question

ALPHA = 0.025
"""The level of significance of areas, and of questions, each corrected for their number (Benjamini and Hochberg).
Either shows drift, so that both together raise false alarms in at most 5 % of all cases."""

_SHOWN_QUESTIONS = 10


@dataclass(frozen=True)
class Shift:
    """How far a judge moved, on a part of the suite or on a question."""

    n: int
    old: float
    new: float
    shift: Estimate
    down: float
    up: float
    p: float | None
    corrected: float | None = None

    @property
    def size(self) -> float:
        """How far the mean moved."""
        return self.shift.value or 0.0

    @property
    def has_moved(self) -> bool:
        """Whether the judge has moved, beyond chance."""
        return self.corrected is not None and self.corrected <= ALPHA and self.size != 0


@dataclass(frozen=True, eq=False)
class Drifted:
    """How far a judge moved between two times, over the answers that it judged both times."""

    agreed: Agreed

    @property
    def n_changed(self) -> int:
        """The number of answers with a changed verdict."""
        pairing = self.agreed.pairing
        differs = pairing.verdicts[0] != pairing.verdicts[1]
        return len(np.unique(pairing.verdict_answers[differs]))

    @property
    def has_moved(self) -> bool:
        """Whether an area or a question moved beyond chance."""
        return any(shift.has_moved for shift in (*self.parts.values(), *(shift for _, shift in self.questions)))

    @cached_property
    def parts(self) -> dict[str, Shift]:
        """By part of the suite: how far rescaled scores moved."""
        pairing, rescale = self.agreed.pairing, self.agreed.pairing.suite.rescaling
        scores = (pairing.scores - rescale.centre) * rescale.factor
        parts = pairing.answers_of_parts
        found = [self._shift(scores[:, answers], pairing.task_of[answers]) for answers in parts.values()]
        return dict(zip(parts, _corrected(found), strict=True))

    @cached_property
    def questions(self) -> list[tuple[Question, Shift]]:
        """How far the verdicts on each question moved, furthest first, and significant ones before others."""
        pairing = self.agreed.pairing
        found = []
        for number in range(len(pairing.questions)):
            places = np.flatnonzero(pairing.verdict_questions == number)
            tasks = pairing.task_of[pairing.verdict_answers[places]]
            found.append(self._shift(pairing.verdicts[:, places], tasks))
        pairs = list(zip(pairing.questions, _corrected(found), strict=True))
        return sorted(pairs, key=lambda pair: (not pair[1].has_moved, -abs(pair[1].size)))

    def _shift(self, values: Floats, tasks: Ints) -> Shift:
        old, new = values
        used, clusters = np.unique(tasks, return_inverse=True)
        sums = np.stack([np.bincount(clusters, column) for column in (old, new, np.ones(len(old)))])
        drawn = resampled_means(sums, self.agreed.pairing.counts[:, used])
        of_old, of_new, n = resampled_means(sums, np.ones((1, len(used)), dtype=np.int32))[0]
        with np.errstate(invalid="ignore"):
            draws = (drawn[:, 1] - drawn[:, 0]) / drawn[:, 2]
        p = paired_difference(new, old).p_value if len(old) >= MIN_QUESTIONS else None
        shift = self.agreed.pairing.estimate((of_new - of_old) / n, draws, used, scale="linear")
        down, up = (float(np.mean(moved)) for moved in (new < old, new > old))
        return Shift(len(old), of_old / n, of_new / n, shift, down, up, p)


def drift_finding(found: Drifted, old: Side, new: Side) -> Finding:
    """Whether a judge moved, in words, tables and pictures."""
    names = unequal_names(found.agreed.pairing.names)
    tables = [_part_table(found, names), _question_table(found, names)]
    pictures = [_part_picture(found)]
    pairing = found.agreed.pairing
    signature = signature_of_sides(pairing.suite, (old, new), draws=pairing.n_draws, seed=pairing.seed)
    if found.agreed.tables.is_defined and len(found.agreed.tables.models) > 1:
        tables += [_pair_table(found, names), model_table(found.agreed.tables, names)]
        pictures.append(model_picture(found.agreed.tables, names, "Rescaled averages of models, before and now"))
    return Finding(
        "drift",
        _answer(found),
        f"{_words(found, names)} Signature: {signature}",
        (*tables, level_table(found.agreed)),
        tuple(pictures),
        (_version_note(old, new), *old.notes, *new.notes, *pairing.notes()),
        question="Does the judge still give the same verdicts?",
    )


def _corrected(shifts: Sequence[Shift]) -> list[Shift]:
    tested = [shift.p for shift in shifts if shift.p is not None]
    p_values = iter(corrected(tested, "bh").tolist() if tested else ())
    return [shift if shift.p is None else replace(shift, corrected=next(p_values)) for shift in shifts]


def _answer(found: Drifted) -> str:
    n = found.agreed.pairing.n_answers
    if not found.n_changed:
        return f"No drift: all verdicts on all {n:,} answers are the same."
    if not found.has_moved:
        part, shift = max(found.parts.items(), key=lambda item: abs(item[1].size))
        return (
            f"No drift can be shown: verdicts on {found.n_changed:,} of {n:,} answers changed, but no area and no "
            f"question moved beyond chance; most of all {part} by {_points(shift)} and "
            f"{_of_question(*found.questions[0])}."
        )
    moved = {part: shift for part, shift in found.parts.items() if shift.has_moved}
    questions = [pair for pair in found.questions if pair[1].has_moved]
    words = f"The judge has drifted: verdicts on {found.n_changed:,} of {n:,} answers changed"
    if moved:
        part, shift = max(moved.items(), key=lambda item: abs(item[1].size))
        areas = f"{len(moved)} of {len(found.parts)} areas" if len(found.parts) > 1 else "the only area"
        words += f", {areas} moved, most of all {part} by {_points(shift)}"
    if questions:
        words += f"; of {len(found.questions):,} questions {len(questions):,} moved"
        words += f", most of all {_of_question(*questions[0])}"
    return words + "."


def _of_question(question: Question, shift: Shift) -> str:
    area, category, number = question.labels
    return f"question {number} of {area}/{category} by {shift.size:+.3f}"


def _points(shift: Shift) -> str:
    return f"{shift.size:+.2f} points{shift.shift.between(2)}"


def _words(found: Drifted, names: tuple[str, str]) -> str:
    one = found.agreed
    n, figures = one.levels["all"]
    words = (
        f"{names[0]} against {names[1]}, over {one.pairing.n_answers:,} answers to {len(one.pairing.tasks):,} tasks "
        f"and {n:,} verdicts, of which {100 * (figures['same'].value or 0):.2f} % are the same. Points are those of "
        "rescaled scores. Whether an area or a question moved is tested by the paired t-test over answers, corrected "
        f"after Benjamini and Hochberg, areas and questions at the level {ALPHA:g} each (5 % together)."
        f"{one.pairing.words}"
    )
    if one.tables.is_defined and len(one.tables.models) > 1:
        n_pairs = len(one.tables.models) * (len(one.tables.models) - 1) // 2
        reversed_pairs = one.tables.reversed_pairs
        words += f" Of {n_pairs:,} pairs of models {len(reversed_pairs):,} change their order"
        listed = [f"{one.tables.models[i]} and {one.tables.models[j]}" for i, j in reversed_pairs[:5]]
        words += f": {'; '.join(listed)}{'; and others' if len(reversed_pairs) > 5 else ''}." if listed else "."
    return words


def _version_note(old: Side, new: Side) -> str:
    if old.judge != new.judge:
        judges = f"{old.judge or 'unknown'} and {new.judge or 'unknown'}"
        return f"the sides have different judges, {judges}: this is no drift of one judge"
    if old.version is None or new.version is None:
        return "the version of the judge is unknown on a side, so the files do not show whether it has changed"
    if old.version == new.version:
        return f"both sides name the same version, {old.version}"
    return f"the version of the judge was {old.version} and is {new.version}"


def _part_table(found: Drifted, names: tuple[str, str]) -> Table:
    rows: list[tuple[Cell, ...]] = [(part, *_cells(shift)) for part, shift in found.parts.items()]
    columns = ("area", "answers", *names, *_SHIFT_COLUMNS)
    return Table("areas", "Shift of rescaled scores by area", columns, tuple(rows), 3, ("area", *_SHOWN_SHIFT))


_SHOWN_SHIFT = ("answers", "shift", "low", "high", "corrected p", "moved")
_SHIFT_COLUMNS = ("shift", "low", "high", "share down", "share up", "p", "corrected p", "moved")


def _cells(shift: Shift) -> tuple[Cell, ...]:
    return (
        *(shift.n, shift.old, shift.new, *shift.shift.cells, shift.down, shift.up, shift.p, shift.corrected),
        "yes" if shift.has_moved else "no",
    )


def _question_table(found: Drifted, names: tuple[str, str]) -> Table:
    factor = found.agreed.pairing.suite.rescaling.factor
    rows: list[tuple[Cell, ...]] = []
    for question, shift in found.questions:
        points = shift.size * question.weight * factor
        rows.append((*question.labels, *_cells(shift), points, question.text))
    columns = ("area", "category", "number", "answers", *names, *_SHIFT_COLUMNS, "points of its category", "question")
    shown = ("area", "category", "number", *_SHOWN_SHIFT, "points of its category", "question")
    title = "Shift of verdicts by question, those that moved most first"
    return Table("questions", title, columns, tuple(rows), 3, shown)


def _pair_table(found: Drifted, names: tuple[str, str]) -> Table:
    tables = found.agreed.tables
    rows = []
    for i, j in tables.reversed_pairs:
        old, new = tables.values[:, i] - tables.values[:, j]
        rows.append((tables.models[i], tables.models[j], float(old), float(new)))
    columns = ("ahead before", "ahead now", f"difference, {names[0]}", f"difference, {names[1]}")
    return Table("reversed", "Pairs of models whose order changes", columns, tuple(rows), 2)


def _part_picture(found: Drifted) -> Picture:
    listed = [(part, shift.shift) for part, shift in found.parts.items()]
    for question, shift in found.questions[:_SHOWN_QUESTIONS]:
        if shift.size:
            points = question.weight * found.agreed.pairing.suite.rescaling.factor
            listed.append((f"{question.labels[1]} {question.labels[2]}", shift.shift.times(points)))
    label = "shift in points of rescaled scores; questions: of their category"
    ranges = ranges_of(listed[:MAX_ROWS], label)
    return Picture("shifts", "How far the judge moved: areas, and the questions that moved most", ranges)
