"""The mean of each run: all that some experiments need, and all that a leaderboard in a CSV file holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from ..files.foreign_text import in_one_line
from ..runs.leaderboard import is_system
from ..statistics.correlation import Floats


@dataclass(frozen=True, eq=False)
class RunMeans:
    """The mean of each run over the questions.

    Attributes:
        names: The names of the runs.
        models: Their models.
        means: By metric, the mean of each run.
        problems: Why runs were left out, one sentence each.
    """

    names: tuple[str, ...]
    models: tuple[str, ...]
    means: dict[str, Floats]
    problems: tuple[str, ...] = ()

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The runs' labels in charts: their models, or their own names if a model has several runs."""
        counts = Counter(self.models)
        return tuple(
            in_one_line(model if counts[model] == 1 else name, 60)
            for name, model in zip(self.names, self.models, strict=True)
        )

    def rows_of_models(self) -> list[int]:
        """The rows without those of `system/...`, which are yardsticks (human and reference answers), not models."""
        return [row for row, model in enumerate(self.models) if not is_system(model)]

    def rows_of_systems(self) -> list[int]:
        """The rows of the yardsticks."""
        return [row for row, model in enumerate(self.models) if is_system(model)]

    def chosen(self, rows: list[int]) -> RunMeans:
        """Some of the runs."""
        return RunMeans(
            tuple(self.names[row] for row in rows),
            tuple(self.models[row] for row in rows),
            {metric: column[rows] for metric, column in self.means.items()},
            self.problems,
        )
