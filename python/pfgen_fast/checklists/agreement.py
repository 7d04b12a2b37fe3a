"""`agree`: how far judges agree who judged the same answers with the same checklists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from ..errors import ChecklistError
from ..experiments.charts import Matrix, Points, Scatter
from ..experiments.finding import Cell, Finding, Picture, Table
from ..statistics.agreement_of_levels import (
    FIGURES,
    LevelAgreement,
    agreement_of_table,
    figures_of_tables,
    krippendorff_alpha,
    tables_of,
)
from ..statistics.clustered_correlation import pearson, resampled_pearson, resampled_spearman, spearman
from ..statistics.correlation import Floats
from ..statistics.resampling import resampled_means
from .judgements import AnswerKey
from .pairing import Ints, Pairing, pair, part_of
from .redrawn import draws_within
from .sides import Side
from .suite import ChecklistSuite
from .two_tables import Estimate, TwoTables, estimate, place_cell, two_tables

USUAL_DRAWS = 1000

_LEVEL_COLUMNS = tuple(
    column
    for name in ("same level", "within one level", "mean difference", "kappa", "quadratic kappa")
    for column in (name, f"{name}, low", f"{name}, high")
)


@dataclass(frozen=True, eq=False)
class Agreed:
    """How far two sides agree.

    Attributes:
        pairing: What they said.
        tables: The tables of models that follow.
        n_draws: How many draws of tasks the intervals are made of.
        seed: The seed of the draws.
    """

    pairing: Pairing
    tables: TwoTables
    n_draws: int
    seed: int = 0

    @cached_property
    def levels(self) -> dict[str, tuple[int, dict[str, Estimate]]]:
        """By part of the suite, and over all ('all'): the number of verdicts, and each of `FIGURES`."""
        pairing, n_levels = self.pairing, len(self.pairing.suite.levels)
        task_of = pairing.task_of[pairing.rated_answers]
        of_tasks = tables_of(pairing.rated_levels, task_of, len(pairing.tasks), n_levels)
        found = {"all": self._of_levels(of_tasks, self._counts)}
        for number, part in enumerate(pairing.parts):
            tasks = pairing.part_of_task == number
            found[part] = self._of_levels(of_tasks[tasks], self._counts[:, tasks])
        return found

    def _of_levels(self, of_tasks: Ints, counts: Floats) -> tuple[int, dict[str, Estimate]]:
        levels = self.pairing.suite.levels
        whole = of_tasks.sum(axis=0)
        # Whole numbers: their sums are exact in any order.
        flat = counts @ of_tasks.reshape(len(of_tasks), -1).astype(np.float64)
        draws = figures_of_tables(flat.reshape(-1, len(levels), len(levels)), levels)
        figures = agreement_of_table(whole, levels)
        return figures.n, {
            name: estimate(getattr(figures, name), draws[:, number]) for number, name in enumerate(FIGURES)
        }

    @cached_property
    def _counts(self) -> Floats:
        return draws_within(self.pairing.part_of_task, self.n_draws, self.seed).astype(np.float64)

    @cached_property
    def questions(self) -> list[LevelAgreement]:
        """For each question."""
        pairing, levels = self.pairing, self.pairing.suite.levels
        n_questions, of_questions = len(pairing.questions), pairing.rated_questions
        tables = tables_of(pairing.rated_levels, of_questions, n_questions, len(levels))
        return [agreement_of_table(table, levels) for table in tables]

    @cached_property
    def level_counts(self) -> Floats:
        """How often the first side gave each level (row) and the second each (column)."""
        levels = self.pairing.suite.levels
        everything = np.zeros(self.pairing.rated_levels.shape[1], dtype=np.int64)
        found: Floats = tables_of(self.pairing.rated_levels, everything, 1, len(levels))[0].astype(np.float64)
        return found

    @cached_property
    def answers(self) -> dict[str, tuple[int, dict[str, Estimate]]]:
        """By part of the suite, and over all: the number of answers, and how their scores agree."""
        pairing = self.pairing
        part_of_answer = pairing.part_of_task[pairing.task_of]
        found = {"all": self._of_answers(np.arange(pairing.n_answers))}
        for number, part in enumerate(pairing.parts):
            found[part] = self._of_answers(np.flatnonzero(part_of_answer == number))
        return found

    def _of_answers(self, answers: Ints) -> tuple[int, dict[str, Estimate]]:
        pairing = self.pairing
        x, y = pairing.scores[:, answers]
        used, clusters = np.unique(pairing.task_of[answers], return_inverse=True)
        counts = self._counts[:, used].astype(np.int32)
        apart = np.abs(x - y)
        # The mean over answers, whose number differs from task to task: sums over sums.
        sums = np.stack([np.bincount(clusters, apart), np.bincount(clusters)])
        drawn, whole = (resampled_means(sums, some) for some in (counts, np.ones((1, len(used)), dtype=np.int32)))
        return len(x), {
            "pearson": estimate(pearson(x, y), resampled_pearson(x, y, clusters, counts)),
            "spearman": estimate(spearman(x, y), resampled_spearman(x, y, clusters, counts)),
            "mean_absolute_difference": estimate(whole[0, 0] / whole[0, 1], drawn[:, 0] / drawn[:, 1]),
        }


def agreed(first: Side, second: Side, suite: ChecklistSuite, *, draws: int = USUAL_DRAWS, seed: int = 0) -> Agreed:
    """How far two sides agree over the answers that both judged.

    Raises:
        ChecklistError: They have no answer in common.
    """
    pairing = pair(first, second, suite)
    return Agreed(pairing, two_tables(pairing, draws, seed), draws, seed)


def agree(sides: Sequence[Side], suite: ChecklistSuite, *, draws: int = USUAL_DRAWS, seed: int = 0) -> Finding:
    """How far sides agree: the two, or every pair of several and all of them together.

    Args:
        sides: The sides, two or more.
        suite: Their suite.
        draws: How many draws of tasks the intervals are made of.
        seed: The seed of the draws.

    Raises:
        ChecklistError: There is one side only, or two have no answer in common.
    """
    if len(sides) < 2:
        raise ChecklistError(
            f"{sides[0].name if sides else 'nothing'}: one judge only; expected two paths, or one with the judgements "
            "of several judges"
        )
    if len(sides) == 2:
        return _finding_of_two(agreed(sides[0], sides[1], suite, draws=draws, seed=seed), sides)
    return _finding_of_many(sides, suite, draws, seed)


def level_table(found: Agreed) -> Table:
    """The agreement of verdicts over all and by part."""
    rows = tuple(
        (part, n, *(cell for one in figures.values() for cell in one.cells))
        for part, (n, figures) in found.levels.items()
    )
    names = [name for name in _LEVEL_COLUMNS if not name.endswith(("low", "high"))]
    shown = ("part", "verdicts", *names)
    return Table("levels", "Verdicts", ("part", "verdicts", *_LEVEL_COLUMNS), rows, 3, shown)


def model_table(tables: TwoTables, names: tuple[str, str]) -> Table:
    """The averages and places of models by the two sides, best by the first side first."""
    first, second = tables.values.tolist()
    before, after = tables.places.tolist()
    rows: list[tuple[Cell, ...]] = []
    for i in sorted(range(len(tables.models)), key=lambda i: (before[i], tables.models[i])):
        at = (place_cell(place) for place in (before[i], after[i], before[i] - after[i]))
        rows.append((tables.models[i], first[i], second[i], second[i] - first[i], *at))
    columns = ("model", names[0], names[1], "difference", f"place, {names[0]}", f"place, {names[1]}", "places gained")
    return Table("models", "Rescaled averages of models over the same answers", columns, tuple(rows), 2)


def model_picture(tables: TwoTables, names: tuple[str, str]) -> Picture:
    """The averages of models by the one side against the other."""
    first, second = tables.values
    points = Points(first, second, *names, labels=tables.models, has_diagonal=True)
    return Picture("models", "Rescaled averages of models by both sides", Scatter((points,)))


def unequal_names(names: tuple[str, str]) -> tuple[str, str]:
    """Names that columns of a table can have."""
    return names if names[0] != names[1] else (f"{names[0]} (1)", f"{names[1]} (2)")


def one_value_note(questions: Sequence[LevelAgreement]) -> list[str]:
    """A sentence that says for how many questions there is no kappa."""
    n = sum(one.kappa is None for one in questions)
    if not n:
        return []
    return [f"kappa is empty for {n:,} of {len(questions):,} questions, where a side gave one level only"]


def _finding_of_two(found: Agreed, sides: Sequence[Side]) -> Finding:
    pairing, names = found.pairing, unequal_names(found.pairing.names)
    tables = [level_table(found), _answer_table(found), _question_table(found), _count_table(found, names)]
    pictures = [_count_picture(found, names)]
    if found.tables.is_defined and len(pairing.models) > 1:
        tables.insert(0, model_table(found.tables, names))
        pictures.insert(0, model_picture(found.tables, names))
    return Finding(
        "agree",
        _answer(found, names),
        _words(found, names),
        tuple(tables),
        tuple(pictures),
        (*(note for side in sides for note in side.notes), *pairing.notes(), *one_value_note(found.questions)),
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
        words += f"; their tables of {len(found.pairing.models)} models have tau-b {tau.value:.3f}{_between(tau, 3)}"
        words += f", and no model changes its place by more than {change.value:g}"
    return words + "."


def _words(found: Agreed, names: tuple[str, str]) -> str:
    figures = found.levels["all"][1]
    n_answers, of_answers = found.answers["all"]
    difference, within = figures["mean_difference"], figures["within_one_level"]
    apart = of_answers["mean_absolute_difference"]
    words = (
        f"Over {n_answers:,} answers to {len(found.pairing.tasks):,} tasks that both judged. "
        f"{100 * (within.value or 0):.1f} % of the verdicts are within one level; {names[1]} gives "
        f"{difference.value or 0:+.4f}{_between(difference, 4)} on average beside {names[0]}. "
        f"Scores of answers (0 to 100) differ by {apart.value or 0:.2f}{_between(apart, 2)} on average"
    )
    for name in ("pearson", "spearman"):
        if of_answers[name].value is not None:
            words += f", {name.capitalize()} {of_answers[name].value:.3f}{_between(of_answers[name], 3)}"
    words += "."
    if found.tables.is_defined:
        words += f" Averages of models are over {', '.join(found.tables.parts)}, which count alike."
    if found.n_draws:
        words += f" Intervals (95 %) are from {found.n_draws:,} draws of tasks within each area."
    return words


def _between(figure: Estimate, n_digits: int) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f" ({figure.low:.{n_digits}f} to {figure.high:.{n_digits}f})"


def _answer_table(found: Agreed) -> Table:
    names = ("Pearson", "Spearman", "mean absolute difference")
    columns = tuple(column for name in names for column in (name, f"{name}, low", f"{name}, high"))
    rows = tuple(
        (part, n, *(cell for one in figures.values() for cell in one.cells))
        for part, (n, figures) in found.answers.items()
    )
    return Table("answers", "Scores of answers", ("part", "answers", *columns), rows, 3)


def _question_table(found: Agreed) -> Table:
    columns = ("area", "category", "number", "verdicts", "same level", "within one level", "mean difference", "kappa")
    rows: list[tuple[Cell, ...]] = []
    for question, one in zip(found.pairing.questions, found.questions, strict=True):
        figures = (getattr(one, name) for name in FIGURES)
        rows.append((*question.labels, one.n, *figures, question.text))
    return Table("questions", "Verdicts by question", (*columns, "quadratic kappa", "question"), tuple(rows), 3)


def _count_table(found: Agreed, names: tuple[str, str]) -> Table:
    levels = [f"{level:g}" for level in found.pairing.suite.levels]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (level, *map(int, row)) for level, row in zip(levels, found.level_counts.tolist(), strict=True)
    )
    title = f"How often {names[0]} gave each level (row) and {names[1]} each (column)"
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
    kappas = np.ones((len(sides), len(sides)))
    for (i, j), found in pairs.items():
        kappa = found.levels["all"][1]["kappa_quadratic"].value
        kappas[i, j] = kappas[j, i] = np.nan if kappa is None else kappa
    of_all = alphas["all"][1]
    said = "undefined, because all verdicts are the same" if of_all is None else f"{of_all:.3f}"
    names = tuple(side.name for side in sides)
    lowest = 0.0 if not (kappas < 0).any() else -1.0
    return Finding(
        "agree",
        f"Krippendorff's alpha of {len(sides)} judges over {alphas['all'][0]:,} verdicts is {said}.",
        f"Levels count as numbers (interval scale). Every two judges are compared over the answers that both judged: "
        f"{'; '.join(names)}.",
        (_alpha_table(alphas), _pair_table(names, pairs)),
        (
            Picture(
                "kappas",
                "Quadratic kappa of every two judges",
                Matrix(names, names, np.nan_to_num(kappas), "quadratic kappa", lowest, 1.0, 3),
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


def _alpha_table(alphas: dict[str, tuple[int, float | None]]) -> Table:
    rows = tuple((part, n, alpha) for part, (n, alpha) in alphas.items())
    return Table("alpha", "Krippendorff's alpha", ("part", "verdicts", "alpha"), rows, 3)


def _pair_table(names: Sequence[str], pairs: dict[tuple[int, int], Agreed]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (i, j), found in pairs.items():
        n, figures = found.levels["all"]
        n_answers, of_answers = found.answers["all"]
        tau = found.tables.tau.value if found.tables.is_defined else None
        change = found.tables.largest_change.value if found.tables.is_defined else None
        of_pair = (one.value for one in (*figures.values(), *of_answers.values()))
        rows.append((names[i], names[j], n, n_answers, *of_pair, tau, change))
    columns = (
        *("first", "second", "verdicts", "answers", "same level", "within one level", "mean difference", "kappa"),
        *("quadratic kappa", "Pearson", "Spearman", "mean absolute difference", "tau-b of tables"),
        "largest change of place",
    )
    return Table("pairs", "Every two judges", columns, tuple(rows), 3)
