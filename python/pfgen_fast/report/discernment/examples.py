"""Examples of a test: originals and damaged texts side by side, with their changes marked and their scores."""

from __future__ import annotations

from collections.abc import Sequence

from ...discernment.result import Example
from ...experiments.finding import Comparison, Pair, PairGroup
from ...files.untrusted_text import in_one_line
from ..differences import marked
from .rows import Result


def comparison(result: Result) -> Comparison | None:
    """The items whose scores fell most and least in each cell, by kind of damage; None if there are no examples."""
    kinds = {one.name: one.kind for one in result.found.scored.plan.perturbations}
    tasks = {item.id: item.task for item in result.found.scored.collection.items}
    by_kind: dict[str, dict[tuple[str, str], list[Example]]] = {}
    for example in result.found.examples:
        if tasks.get(example.item, result.task) == result.task:
            of_kind = by_kind.setdefault(kinds.get(example.perturbation, example.perturbation), {})
            of_kind.setdefault((example.perturbation, example.item), []).append(example)
    groups = tuple(
        PairGroup(in_one_line(kind), tuple(map(_pair, of_kind.values()))) for kind, of_kind in by_kind.items()
    )
    title = f"Examples of {result.title}: the largest and the smallest drop of each score"
    return Comparison(title, groups, "original", "damaged") if groups else None


def _pair(examples: Sequence[Example]) -> Pair:
    """A damaged text with all the scores that it is an example for."""
    first = examples[0]
    said = "; ".join(
        f"{in_one_line(one.metric, 40)} {_score(one.original_score)} → {_score(one.damaged_score)} ({one.which} drop)"
        for one in examples
    )
    title = f"{in_one_line(first.perturbation)}, item {in_one_line(first.item, 40)}: {said}"
    return Pair(title, *marked(first.original, first.damaged))


def _score(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
