"""How far two judges agree who judged the same answers with the same checklists: by verdict, answer and model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...statistics.agreement_of_levels import (
    FIGURES,
    LevelAgreement,
    agreement_of_table,
    figures_of_tables,
    tables_of,
)
from ...statistics.correlation import Floats, pearson, resampled_pearson, resampled_spearman, spearman
from ...statistics.resampling import resampled_means
from ..suite import ChecklistSuite
from .judge_selection import Side
from .paired_judgements import Ints, PairedJudgements, pair
from .table_changes import Estimate, TwoTables, draws_within, estimate, two_tables

USUAL_DRAWS = 1000


@dataclass(frozen=True, eq=False)
class Agreed:
    """How far two sides agree."""

    pairing: PairedJudgements
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
    """How far two sides agree over the answers that both judged."""
    pairing = pair(first, second, suite)
    return Agreed(pairing, two_tables(pairing, draws, seed), draws, seed)
