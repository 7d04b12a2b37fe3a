"""The agreement of judges in words, tables and pictures: of two judges, or of each pair and of all judges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from ...errors import ChecklistError
from ...experiments.chart_data import Matrix, Points, Scatter
from ...experiments.finding import Cell, Finding, Picture, Table
from ...files.cells import place_cell
from ...statistics.agreement_of_levels import FIGURES
from ...statistics.raters import krippendorff_alpha
from ..judgements import AnswerKey
from ..suite import ChecklistSuite
from .agreement import USUAL_DRAWS, Agreed, TwoTables, agreed
from .answer_grid import Estimate, matrix_of_pairs, part_of, with_ends
from .judge_selection import Side, signature_of_sides

_LEVELS = ("same level", "within one level", "mean difference", "kappa", "quadratic kappa")
_SCORES = ("Pearson", "Spearman", "mean absolute difference")


def agree(sides: Sequence[Side], suite: ChecklistSuite, *, draws: int = USUAL_DRAWS, seed: int = 0) -> Finding:
    """The agreement of two judges, or of each pair of several judges and of all judges together."""
    if len(sides) < 2:
        raise ChecklistError(
            f"{sides[0].name if sides else 'nothing'}: one judge only; expected two paths, or one path with the "
            "judgements of several judges"
        )
    if len(sides) == 2:
        return _finding_of_two(agreed(sides[0], sides[1], suite, draws=draws, seed=seed), sides)
    return _finding_of_many(sides, suite, draws, seed)


def level_table(found: Agreed) -> Table:
    """The agreement of verdicts over all and by part."""
    shown = ("part", "verdicts", *_LEVELS)
    return Table("levels", "Verdicts", *_by_part("verdicts", _LEVELS, found.levels), 3, shown)


def _by_part(
    counted: str, names: Sequence[str], figures: Mapping[str, tuple[int, Mapping[str, Estimate]]]
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Columns and rows of figures with their intervals."""
    rows = ((part, n, *(cell for one in of.values() for cell in one.cells)) for part, (n, of) in figures.items())
    return ("part", counted, *with_ends(names)), tuple(rows)


def model_table(tables: TwoTables, names: tuple[str, str]) -> Table:
    """The averages and places of models by the two sides, ordered by the places of the first side."""
    first, second = tables.values.tolist()
    before, after = tables.places.tolist()
    rows: list[tuple[Cell, ...]] = []
    for i in sorted(range(len(tables.models)), key=lambda i: (before[i], tables.models[i])):
        at = (place_cell(place) for place in (before[i], after[i], before[i] - after[i]))
        rows.append((tables.models[i], first[i], second[i], second[i] - first[i], *at))
    columns = ("model", names[0], names[1], "difference", f"place, {names[0]}", f"place, {names[1]}", "places gained")
    return Table("models", "Rescaled averages of models over the same answers", columns, tuple(rows), 2)


def model_picture(tables: TwoTables, names: tuple[str, str], title: str) -> Picture:
    """The averages of models by the one side against the other."""
    first, second = tables.values
    points = Points(first, second, *names, labels=tables.models, has_diagonal=True)
    return Picture("models", title, Scatter((points,)))


def unequal_names(names: tuple[str, str]) -> tuple[str, str]:
    """Different names for the two sides, as columns of a table need them."""
    return names if names[0] != names[1] else (f"{names[0]} (1)", f"{names[1]} (2)")


def _finding_of_two(found: Agreed, sides: Sequence[Side]) -> Finding:
    pairing, names = found.pairing, unequal_names(found.pairing.names)
    notes = [*(note for side in sides for note in side.notes), *pairing.notes()]
    if n := sum(one.kappa is None for one in found.questions):
        notes.append(
            f"kappa is empty for {n:,} of {len(found.questions):,} questions, where a side gave one level only"
        )
    signature = signature_of_sides(pairing.suite, sides, draws=pairing.n_draws, seed=pairing.seed)
    of_answers = Table("answers", "Scores of answers", *_by_part("answers", _SCORES, found.answers), 3)
    tables = [level_table(found), of_answers, _question_table(found), _count_table(found, names)]
    pictures = [_count_picture(found, names)]
    if found.tables.is_defined and len(pairing.models) > 1:
        tables.insert(0, model_table(found.tables, names))
        pictures.insert(0, model_picture(found.tables, names, "Rescaled averages of models by both sides"))
    return Finding(
        "agree",
        _answer(found, names),
        f"{_words(found, names)} Signature: {signature}",
        tuple(tables),
        tuple(pictures),
        tuple(notes),
        question="How far do two judges agree?",
    )


def _answer(found: Agreed, names: tuple[str, str]) -> str:
    n, figures = found.levels["all"]
    same, kappa = figures["same"].value, figures["kappa_quadratic"].value
    words = f"{names[0]} and {names[1]} give the same level in {100 * (same or 0):.1f} % of {n:,} verdicts"
    if kappa is not None:
        words += f" (quadratic kappa {kappa:.3f})"
    tau, change = found.tables.tau, found.tables.largest_change
    if found.tables.is_defined and tau.value is not None and change.value is not None:
        words += f"; their tables of {len(found.pairing.models)} models have tau-b {tau.value:.3f}{tau.between(3)}"
        by = (
            f"no model changes its place by more than {change.value:g}"
            if change.value
            else "every model keeps its place"
        )
        words += f", and {by}"
    return words + "."


def _words(found: Agreed, names: tuple[str, str]) -> str:
    figures = found.levels["all"][1]
    n_answers, of_answers = found.answers["all"]
    difference, within = figures["mean_difference"], figures["within_one_level"]
    apart = of_answers["mean_absolute_difference"]
    words = (
        f"Both judged {n_answers:,} answers to {len(found.pairing.tasks):,} tasks. "
        f"{100 * (within.value or 0):.1f} % of the verdicts are within one level; levels of {names[1]} minus "
        f"those of {names[0]}: {difference.value or 0:+.4f}{difference.between(4)} on average. "
        f"Scores of answers (0 to 100) differ by {apart.value or 0:.2f}{apart.between(2)} on average"
    )
    for name in ("pearson", "spearman"):
        if of_answers[name].value is not None:
            words += f", {name.capitalize()} {of_answers[name].value:.3f}{of_answers[name].between(3)}"
    words += "."
    if found.tables.is_defined:
        words += f" Averages of models are over {', '.join(found.tables.parts)}, which have equal weights."
    return words + found.pairing.words


def _question_table(found: Agreed) -> Table:
    columns = ("area", "category", "number", "verdicts", *_LEVELS, "question")
    rows: list[tuple[Cell, ...]] = []
    for question, one in zip(found.pairing.questions, found.questions, strict=True):
        figures = (getattr(one, name) for name in FIGURES)
        rows.append((*question.labels, one.n, *figures, question.text))
    return Table("questions", "Verdicts by question", columns, tuple(rows), 3)


def _count_table(found: Agreed, names: tuple[str, str]) -> Table:
    levels = [f"{level:g}" for level in found.pairing.suite.levels]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (level, *row) for level, row in zip(levels, found.level_counts.tolist(), strict=True)
    )
    title = f"Number of verdicts at each level of {names[0]} (row) and each level of {names[1]} (column)"
    return Table("levels-crossed", title, ("level", *levels), rows, 0)


def _count_picture(found: Agreed, names: tuple[str, str]) -> Picture:
    levels = tuple(f"{level:g}" for level in found.pairing.suite.levels)
    shares = found.level_counts / found.level_counts.sum()
    chart = Matrix(levels, levels, shares, "share of the verdicts", 0.0, float(shares.max()), 3)
    return Picture("levels", f"Levels by {names[0]} (rows) and {names[1]} (columns)", chart)


def _finding_of_many(sides: Sequence[Side], suite: ChecklistSuite, draws: int, seed: int) -> Finding:
    pairs = {
        (i, j): agreed(sides[i], sides[j], suite, draws=draws, seed=seed) for i, j in combinations(range(len(sides)), 2)
    }
    alphas = _alphas(sides, suite)
    kappas = {places: found.levels["all"][1]["kappa_quadratic"].value for places, found in pairs.items()}
    rows = tuple((part, n, alpha) for part, (n, alpha) in alphas.items())
    of_all = alphas["all"][1]
    said = "undefined, because all verdicts are the same" if of_all is None else f"{of_all:.3f}"
    names = tuple(side.name for side in sides)
    return Finding(
        "agree",
        f"Krippendorff's alpha of {len(sides)} judges over {alphas['all'][0]:,} verdicts is {said}.",
        f"Levels count as numbers (interval scale). Each pair of judges is compared over the answers that both judged: "
        f"{'; '.join(names)}. Signature: {signature_of_sides(suite, sides, draws=draws, seed=seed)}",
        (
            Table("alpha", "Krippendorff's alpha", ("part", "verdicts", "alpha"), rows, 3),
            _pair_table(names, pairs),
        ),
        (
            Picture(
                "kappas",
                "Quadratic kappa of each pair of judges",
                matrix_of_pairs(names, kappas, "quadratic kappa", n_digits=3),
            ),
        ),
        tuple(note for side in sides for note in side.notes),
        question="How far do judges agree?",
    )


def _alphas(sides: Sequence[Side], suite: ChecklistSuite) -> dict[str, tuple[int, float | None]]:
    """By part, and over all: the number of verdicts that two judges or more gave, and Krippendorff's alpha."""
    texts: dict[tuple[str, AnswerKey], str] = {}
    verdicts: dict[tuple[str, AnswerKey, int], dict[int, float]] = {}
    for number, side in enumerate(sides):
        for model, answers in side.models.items():
            for key, (first, *_) in answers.items():
                if texts.setdefault((model, key), first.response_sha256) == first.response_sha256:
                    for place, verdict in enumerate(first.scores or ()):
                        verdicts.setdefault((model, key, place), {})[number] = verdict
    rows: dict[str, list[list[float]]] = {"all": []}
    for (_, (task, length, _), _), of_sides in verdicts.items():
        if len(of_sides) > 1:
            row = [of_sides.get(number, math.nan) for number in range(len(sides))]
            rows["all"].append(row)
            rows.setdefault(part_of(suite.by_key[task, length]), []).append(row)
    return {part: (len(listed), krippendorff_alpha(np.array(listed).T)) for part, listed in rows.items()}


def _pair_table(names: Sequence[str], pairs: dict[tuple[int, int], Agreed]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (i, j), found in pairs.items():
        n, figures = found.levels["all"]
        n_answers, of_answers = found.answers["all"]
        tau = found.tables.tau.value if found.tables.is_defined else None
        change = found.tables.largest_change.value if found.tables.is_defined else None
        of_pair = (one.value for one in (*figures.values(), *of_answers.values()))
        rows.append((names[i], names[j], n, n_answers, *of_pair, tau, change))
    counts = ("first", "second", "verdicts", "answers")
    columns = (*counts, *_LEVELS, *_SCORES, "tau-b of tables", "largest change of place")
    return Table("pairs", "Pairs of judges", columns, tuple(rows), 3)
