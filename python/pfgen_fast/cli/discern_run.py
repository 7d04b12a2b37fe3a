"""A test as the options of `pfgen-fast discern run` describe it: checked first, then asked for, then found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .app import counted, counting, note, print_line, shown
from .asking import duration
from .discern_asking import Asking
from .discern_source import Source

if TYPE_CHECKING:
    from ..discernment.model_damage import DamageModel
    from ..discernment.result import Discernment
    from ..discernment.weights import Weights
    from ..evaluators.evaluator import Evaluator, Item
    from ..evaluators.table import TableScores
    from ..native import _core
    from ..statistics.evaluator_agreement import Agreement

MADE_TEXTS = "perturbed-texts.jsonl"
"""The file of the output folder that keeps the texts of a model."""

_LONG_SECONDS = 5.0


@dataclass
class Test:
    """A test as the options describe it."""

    source: Source
    asking: Asking
    weights: Weights | None
    zeros: Any
    min_items: int
    draws: int
    maker: DamageModel | None = None  # model that makes texts

    def __post_init__(self) -> None:
        self.collection = self.source.collection  # fewer items once those that lack replies are left out
        self.plan = self.source.opened_plan
        self.damaging = self.source.damaging  # reads the donors before anything is asked

    def check(self, evaluator: Evaluator | TableScores) -> None:
        """Raises DiscernmentError for what would fail after a model was asked; says what will take long."""
        from ..evaluators.metrics import MetricsEvaluator
        from ..evaluators.table import TableScores

        if isinstance(evaluator, TableScores):
            return
        if isinstance(evaluator, MetricsEvaluator):
            seconds = evaluator.expected_seconds(self.collection.items, self._n_texts)
            if seconds > _LONG_SECONDS and not self.asking.quiet:
                note(f"{evaluator.name} takes about {duration(seconds)} for {counted(self._n_texts, 'text')}")
        metrics = [metric.name for metric in evaluator.metrics if metric.combined]
        if self.weights is not None and metrics:
            for task in self.collection.tasks:
                self.weights.matrix(task, self.plan.perturbations, metrics)

    def make_texts(self, model: str | None, folder: Path) -> None:
        """Asks for the texts that a model makes, if the plan has any."""
        self.maker, self.collection = self.asking.texts(model, folder / MADE_TEXTS, self.collection, self.plan)

    def ask(self, evaluator: Evaluator | TableScores) -> None:
        """Asks for whatever an evaluator needs of a model; if nothing is asked at all, says what would be."""
        from ..evaluators.asking_evaluator import AskingEvaluator

        if isinstance(evaluator, AskingEvaluator):
            items, texts = self._all_texts()
            self.collection = self.asking.ratings(evaluator, items, texts, self.collection, self.plan)
        elif self.asking.dry_run:
            texts_to_score = counted(self._n_texts, "text")
            print_line(f"{shown(evaluator.name)}: {texts_to_score} at most to be scored; asks no model of a server")

    @property
    def _n_texts(self) -> int:
        return len(self.collection.items) * (1 + len(self.plan.perturbations))

    def _all_texts(self) -> tuple[list[Item], _core.TextColumn]:
        from ..discernment.damaged import all_texts

        return all_texts(self.source.damage(self.collection, self.maker))

    def run(self, evaluator: Evaluator | TableScores) -> Discernment:
        """Scores all texts, and finds what follows."""
        from ..discernment.running import discern as find

        with counting("texts", quiet=self.asking.quiet) as count:
            return find(
                evaluator,
                self.collection,
                self.plan,
                self.weights,
                maker=self.maker,
                zeros=self.zeros,
                min_items=self.min_items,
                draws=self.draws,
                on_progress=count,
                **self.damaging,
            )

    def agreements(self, found: Sequence[Discernment]) -> dict[tuple[int, int], dict[str, Agreement]]:
        """How far each two evaluators agree, by their numbers and by task."""
        from ..discernment.agreement import agreement

        return {
            (i, j): agreement(found[i], found[j], zeros=self.zeros, min_items=self.min_items, draws=self.draws)
            for j in range(len(found))
            for i in range(j)
        }
