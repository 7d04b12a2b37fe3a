"""Two evaluators that were tested on the same items."""

from __future__ import annotations

from dataclasses import replace

import pytest
from makers.tested_evaluators import ByText, a_collection, a_plan, length, letters, similarity
from pfgen_fast import DiscernmentError
from pfgen_fast.discernment.agreement import agreement, comparison_warnings
from pfgen_fast.discernment.items import Collection
from pfgen_fast.discernment.plan import Perturbation, Plan
from pfgen_fast.discernment.running import discern

PLAN = a_plan("char_delete", "word_drop", "sentence_repeat", "newline")


def found_by(functions, collection=None, plan=PLAN, **options):
    return discern(ByText(functions), collection or a_collection(20), plan, draws=0, **options)


def test_the_difference_of_averages_does_not_depend_on_the_order_of_the_items():
    first, second = found_by({"similarity": similarity}), found_by({"length": length, "letters": letters})
    found = agreement(first, second, draws=100)["headlines"]
    averages = [each.summary["average"][0] for each in (first, second)]
    assert found.difference == pytest.approx(averages[0] - averages[1])
    assert found.low < found.difference < found.high
    assert agreement(first, second, draws=0)["headlines"].low is None
    turned = agreement(second, first, draws=100)["headlines"]
    assert (turned.low, turned.tau) == (pytest.approx(-found.high), found.tau)
    third = found_by({"length": length}, plan=a_plan("char_delete/30", "truncate"))
    assert agreement(first, third, draws=0)["headlines"].n_perturbations == 1  # of the common ones
    backwards = Collection(first.scored.collection.items[::-1], "backwards")
    found = agreement(first, found_by({"similarity": similarity}, backwards), draws=50)["headlines"]
    assert (found.difference, found.low, found.high, found.n_perturbations) == (0, 0, 0, 15)
    assert found.tau == pytest.approx(1)


def test_a_comparison_of_different_numbers_of_items_is_warned_of():
    first = found_by({"similarity": similarity})
    assert comparison_warnings([first, first]) == ()
    fewer = found_by({"length": length}, a_collection(19))
    with pytest.raises(DiscernmentError, match="evaluators by text and by text were tested on different items"):
        agreement(first, fewer)
    (warning,) = comparison_warnings([first, fewer])
    assert warning.endswith("they grow with the number of items, which differs (by text 20, by text 19).")
    others = Collection.of([replace(item, id=f"other {item.id}") for item in a_collection(20).items])
    (warning,) = comparison_warnings([first, found_by({"length": length}, others)])
    assert warning.startswith("The tests have different items")
    fewer = found_by({"length": length}, plan=a_plan("char_delete/30"))
    assert comparison_warnings([first, fewer]) == ()  # they are compared on the common perturbations
    amounts = [Plan((Perturbation("char_delete", "minor", k=k),)) for k in (1, 2)]
    for found in (
        [first, found_by({"length": length}, seed=1)],
        [found_by({"length": length}, plan=plan) for plan in amounts],
    ):
        (warning,) = comparison_warnings(found)
        assert warning.startswith("The tests have different seeds or amounts of damage")
