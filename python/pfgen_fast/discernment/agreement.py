"""Several evaluators side by side: what may be compared, and how far two of them agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import DiscernmentError
from ..files.untrusted_text import in_one_line
from ..statistics.evaluator_agreement import Agreement
from ..statistics.evaluator_agreement import agreement as agreement_of
from ..statistics.signed_rank import Zeros
from .items import MIN_ITEMS
from .result import Discernment, Scored
from .running import DRAWS, analysed
from .task_scores import by_task


def agreement(
    first: Discernment,
    second: Discernment,
    *,
    zeros: Zeros = "drop",
    min_items: int = MIN_ITEMS,
    draws: int = DRAWS,
) -> dict[str, Agreement]:
    """How far two evaluators agree that were tested on the same items: by task, over the common perturbations.

    Items are drawn together for both, so the interval is that of a paired comparison.
    """
    one, other = first.scored, second.scored
    if one.collection.hash != other.collection.hash:
        raise DiscernmentError(
            f"evaluators {in_one_line(one.evaluator)} and {in_one_line(other.evaluator)} were tested on different "
            "items; expected the same collection"
        )
    found = {}
    for scores, others in zip(by_task(one), by_task(_in_order_of(other, one)), strict=True):
        sides = (scores, others)
        ours, theirs = (analysed(each, None, zeros, min_items, draws, one.seed).combined for each in sides)
        our_places, their_places = ({p.name: row for row, p in enumerate(each.perturbations)} for each in sides)
        names = [name for name in our_places if name in their_places]
        rows, other_rows = ([places[name] for name in names] for places in (our_places, their_places))
        found[scores.task] = agreement_of(
            ours.scores["d"][rows],
            theirs.scores["d"][other_rows],
            [scores.perturbations[row].level for row in rows],
            first_draws=None if ours.draws is None else ours.draws["d"][:, rows],
            second_draws=None if theirs.draws is None else theirs.draws["d"][:, other_rows],
        )
    return found


def comparison_warnings(found: Sequence[Discernment]) -> tuple[str, ...]:
    """What casts doubt on a comparison of tests, one sentence each: a score grows with the number of items."""
    sizes = {len(each.scored.collection) for each in found}
    if len(sizes) > 1:
        listed = ", ".join(f"{in_one_line(each.scored.evaluator)} {len(each.scored.collection)}" for each in found)
        return (f"Scores grow with the number of items, which differs ({listed}): do not compare them.",)
    if len({each.scored.collection.hash for each in found}) > 1:
        return ("The tests are of different items, so differences between evaluators may be those of the items.",)
    if len({(each.scored.seed, each.scored.plan.perturbations) for each in found}) > 1:
        return ("The tests have other perturbations or seeds, so their averages are not of the same damage.",)
    return ()


def _in_order_of(scored: Scored, other: Scored) -> Scored:
    """Scores with their items in the order of another test's."""
    places = {item.id: row for row, item in enumerate(scored.collection.items)}
    rows: NDArray[np.intp] = np.array([places[item.id] for item in other.collection.items], dtype=np.intp)
    perturbed = tuple(
        replace(
            each,
            is_possible=each.is_possible[rows],
            differs_from_lower=each.differs_from_lower[rows],
            scores={name: scores[rows] for name, scores in each.scores.items()},
        )
        for each in scored.perturbed
    )
    originals = {name: scores[rows] for name, scores in scored.originals.items()}
    return replace(scored, collection=other.collection, originals=originals, perturbed=perturbed)
