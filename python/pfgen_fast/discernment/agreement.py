"""Compares evaluators: which comparisons are valid, and how far two evaluators agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DiscernmentError
from ..files.untrusted_text import in_one_line
from ..statistics.correlation import Floats, kendall
from ..statistics.discernment_scores import CONTROL, averages
from ..statistics.resampling import interval
from ..statistics.signed_rank import Zeros
from .cells import cells_of
from .combined import combined_of
from .common import common_names
from .items import MIN_ITEMS
from .result import Discernment
from .running import DRAWS
from .task_scores import by_task


@dataclass(frozen=True)
class Agreement:
    """Agreement of two evaluators."""

    difference: float  # average discernment score of the first, minus the average of the second
    low: float | None  # lower end of its 95 % interval; None without a bootstrap
    high: float | None  # upper end of the interval
    # Kendall's tau-b between their scores over perturbations; None if all scores of an evaluator are equal
    tau: float | None
    n_perturbations: int  # number of perturbations that are defined for both, without controls


def agreement(
    first: Discernment,
    second: Discernment,
    *,
    compared: Sequence[Discernment] = (),
    zeros: Zeros = "drop",
    min_items: int = MIN_ITEMS,
    draws: int = DRAWS,
) -> dict[str, Agreement]:
    """Computes, by task, how far two evaluators agree over the perturbations that they and all compared tests have.

    Both use the same bootstrap draws, so the interval is that of a paired comparison. A task in which they have no
    perturbation in common is left out.
    """
    one, other = first.scored, second.scored
    if one.collection.hash != other.collection.hash:
        raise DiscernmentError(
            f"evaluators {in_one_line(one.evaluator)} and {in_one_line(other.evaluator)} were tested on different "
            "items; expected the same collection"
        )
    found = {}
    of_other = {scores.task: scores for scores in by_task(other, like=one.collection)}
    for scores in by_task(one):
        if (other_scores := of_other.get(scores.task)) is None:
            continue
        ours, theirs = (
            combined_of(cells_of(each, zeros=zeros, min_items=min_items, draws=draws, seed=one.seed), None)
            for each in (scores, other_scores)
        )
        common = common_names((first, second, *compared), scores.task)
        places = {perturbation.name: row for row, perturbation in enumerate(other_scores.perturbations)}
        rows = [row for row, perturbation in enumerate(scores.perturbations) if perturbation.name in common]
        other_rows = [places[scores.perturbations[row].name] for row in rows]
        if np.isnan(ours.scores["d"][rows] + theirs.scores["d"][other_rows]).all():
            continue
        found[scores.task] = agreement_of_scores(
            ours.scores["d"][rows],
            theirs.scores["d"][other_rows],
            [scores.perturbations[row].level for row in rows],
            draws=(ours.draws["d"][:, rows], theirs.draws["d"][:, other_rows]) if ours.draws and theirs.draws else None,
        )
    return found


def agreement_of_scores(
    first: Floats, second: Floats, levels: Sequence[str], *, draws: tuple[Floats, Floats] | None = None
) -> Agreement:
    """Compares the scores of perturbations that are defined for both; `draws` (rows) are the same for both."""
    in_both = ~np.isnan(first) & ~np.isnan(second) & np.array([level != CONTROL for level in levels], dtype=bool)
    if not in_both.any():
        raise DiscernmentError("no perturbation is defined for both evaluators: expected at least one")
    common = [level for level, is_in in zip(levels, in_both, strict=True) if is_in]

    def difference(x: Floats, y: Floats) -> Any:
        return averages(x[..., in_both], common).average - averages(y[..., in_both], common).average

    low, high = (None, None) if draws is None else map(float, interval(difference(*draws)))
    tau = kendall(first[in_both], second[in_both])
    return Agreement(float(difference(first, second)), low, high, tau, int(in_both.sum()))


def comparison_warnings(found: Sequence[Discernment]) -> tuple[str, ...]:
    """Warnings about a comparison of tests, one sentence each; for example, scores grow with the number of items."""
    sizes = {len(each.scored.collection) for each in found}
    if len(sizes) > 1:
        listed = ", ".join(f"{in_one_line(each.scored.evaluator)} {len(each.scored.collection)}" for each in found)
        return (f"Do not compare these scores: they grow with the number of items, which differs ({listed}).",)
    if len({each.scored.collection.hash for each in found}) > 1:
        return ("The tests have different items, which may cause the differences between evaluators.",)
    planned = {(one.name, one.permille, one.k) for each in found for one in each.scored.plan.perturbations}
    if len({each.scored.seed for each in found}) > 1 or len(planned) > len({name for name, *_ in planned}):
        return (
            "The tests have different seeds or amounts of damage, so equal kinds and degrees are different damage.",
        )
    return ()
