"""How far two judges of the same answers agree: by verdict, by answer, and in the tables of models that follow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from ...statistics.agreement_of_levels import (
    FIGURES,
    LevelAgreement,
    agreement_of_table,
    figures_of_tables,
    tables_of,
)
from ...statistics.correlation import (
    COMPARED_DIGITS,
    Floats,
    kendall_rows,
    pearson,
    places,
    resampled_pearson,
    resampled_spearman,
    spearman,
)
from ...statistics.resampling import resampled_means
from ..suite import ChecklistSuite
from .answer_grid import AnswerGrid, Estimate, Ints
from .judge_selection import Side
from .paired_judgements import PairedJudgements, pair

USUAL_DRAWS = 1000


@dataclass(frozen=True, eq=False)
class TwoTables:
    """The rescaled averages of models by two sides, over the answers that both judged."""

    grid: AnswerGrid
    parts: tuple[str, ...]
    values: Floats
    draws: Floats

    @property
    def models(self) -> tuple[str, ...]:
        """The models."""
        return self.grid.models

    @property
    def is_defined(self) -> bool:
        """Whether there are averages."""
        return bool(self.parts)

    @cached_property
    def places(self) -> Floats:
        """For the two sides (rows), the place of each model; equal averages share the mean of their places."""
        return places(self.values)

    @property
    def tau(self) -> Estimate:
        """Kendall's tau-b between the two tables; the interval holds its mean over samples of as many tasks."""
        of_draws = kendall_rows(self.draws[:, 0], self.draws[:, 1])
        value = float(kendall_rows(self.values[:1], self.values[1:])[0])
        return self._of_order(value, of_draws, (-1.0, 1.0))

    @property
    def largest_change(self) -> Estimate:
        """The largest change of a place, with the interval of its mean over samples of as many tasks."""
        change, *of_draws = (
            np.abs(np.diff(each, axis=-2)).max(axis=(-2, -1), initial=0) for each in (self.places, places(self.draws))
        )
        return self._of_order(float(change), of_draws[0], (0.0, len(self.models) - 1.0))

    def _of_order(self, value: float, draws: Floats, bounds: tuple[float, float]) -> Estimate:
        return self.grid.estimate(value, draws, self.grid.tasks_of(self.parts), scale="linear", bounds=bounds)

    @property
    def reversed_pairs(self) -> list[tuple[int, int]]:
        """The pairs of models whose order changes, the former leader first, and pairs furthest apart first."""
        old, new = self.values.round(COMPARED_DIGITS)
        n = len(self.models)
        found = [(i, j) for i in range(n) for j in range(n) if old[i] > old[j] and new[i] < new[j]]
        return sorted(found, key=lambda pair: old[pair[1]] - old[pair[0]])


def two_tables(pairing: PairedJudgements, scores: Floats | None = None) -> TwoTables:
    """The tables of models by the scores of two sides."""
    (parts, *_), values, draws = zip(*map(pairing.averages, pairing.scores if scores is None else scores), strict=True)
    rescale = pairing.suite.rescaling
    return TwoTables(
        pairing,
        parts,
        (np.stack(values) - rescale.centre) * rescale.factor,
        (np.stack(draws, axis=1) - rescale.centre) * rescale.factor,
    )


@dataclass(frozen=True, eq=False)
class Agreed:
    """How far two sides agree."""

    pairing: PairedJudgements
    tables: TwoTables

    @cached_property
    def levels(self) -> dict[str, tuple[int, dict[str, Estimate]]]:
        """By part of the suite, and over all ('all'): the number of verdicts, and each of `FIGURES`."""
        pairing = self.pairing
        of_tasks = self._tables(pairing.task_of[pairing.rated_answers], len(pairing.tasks))
        of_parts = (np.flatnonzero(pairing.part_of_task == number) for number in range(len(pairing.parts)))
        parts = {"all": np.arange(len(pairing.tasks)), **dict(zip(pairing.parts, of_parts, strict=True))}
        return {part: self._of_levels(of_tasks, tasks) for part, tasks in parts.items()}

    def _of_levels(self, of_tasks: Ints, tasks: Ints) -> tuple[int, dict[str, Estimate]]:
        levels = self.pairing.suite.levels
        # Whole numbers: their sums are exact in any order.
        flat = of_tasks[tasks].reshape(len(tasks), -1).astype(np.float64)
        drawn = self.pairing.counts[:, tasks].astype(np.float64) @ flat
        draws = figures_of_tables(drawn.reshape(-1, len(levels), len(levels)), levels)
        figures = agreement_of_table(of_tasks[tasks].sum(axis=0), levels)
        return figures.n, {
            name: self.pairing.estimate(getattr(figures, name), of_draws, tasks, scale=scale)
            for (name, scale), of_draws in zip(FIGURES.items(), draws.T, strict=True)
        }

    def _tables(self, groups: Ints, n_groups: int) -> Ints:
        """For each group of verdicts, how often the first side gave each level (row) and the second each (column)."""
        return tables_of(self.pairing.rated_levels, groups, n_groups, len(self.pairing.suite.levels))

    @cached_property
    def questions(self) -> list[LevelAgreement]:
        """For each question."""
        tables = self._tables(self.pairing.rated_questions, len(self.pairing.questions))
        return [agreement_of_table(table, self.pairing.suite.levels) for table in tables]

    @cached_property
    def level_counts(self) -> Ints:
        """How often the first side gave each level (row) and the second each (column)."""
        found: Ints = self._tables(np.zeros_like(self.pairing.rated_answers), 1)[0]
        return found

    @cached_property
    def answers(self) -> dict[str, tuple[int, dict[str, Estimate]]]:
        """By part of the suite, and over all: the number of answers, and how their scores agree."""
        parts = {"all": np.arange(self.pairing.n_answers), **self.pairing.answers_of_parts}
        return {part: self._of_answers(answers) for part, answers in parts.items()}

    def _of_answers(self, answers: Ints) -> tuple[int, dict[str, Estimate]]:
        pairing = self.pairing
        x, y = pairing.scores[:, answers]
        used, clusters = np.unique(pairing.task_of[answers], return_inverse=True)
        counts, of = pairing.counts[:, used], partial(pairing.estimate, tasks=used)
        apart = np.abs(x - y)
        # The mean over answers, whose number differs from task to task: sums over sums.
        sums = np.stack([np.bincount(clusters, apart), np.bincount(clusters)])
        drawn, whole = (resampled_means(sums, some) for some in (counts, np.ones((1, len(used)), dtype=np.int32)))
        return len(x), {
            "pearson": of(pearson(x, y), resampled_pearson(x, y, clusters, counts)),
            "spearman": of(spearman(x, y), resampled_spearman(x, y, clusters, counts)),
            "mean_absolute_difference": of(
                whole[0, 0] / whole[0, 1], drawn[:, 0] / drawn[:, 1], scale="logarithm", bounds=(0.0, 100.0)
            ),
        }


def agreed(first: Side, second: Side, suite: ChecklistSuite, *, draws: int = USUAL_DRAWS, seed: int = 0) -> Agreed:
    """How far two sides agree over the answers that both judged."""
    pairing = pair(first, second, suite, draws=draws, seed=seed)
    return Agreed(pairing, two_tables(pairing))
