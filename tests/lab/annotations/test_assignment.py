"""Who gets which items: the shares, the balance, and that only options, seed and items decide."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from pfgen_fast.lab.annotations.annotation_plan import assign

CASES = st.tuples(
    st.lists(st.sampled_from("abcd"), min_size=6, max_size=60),
    st.integers(1, 6),
    st.floats(0, 1),
    st.integers(2, 6),
    st.integers(0, 3),
)


@given(CASES)
def test_shared_items_have_their_raters_and_the_others_one_and_all_are_balanced(case):
    strata, n_annotators, overlap, raters, seed = case
    strata = [(name,) for name in strata]
    raters = min(raters, n_annotators)
    keys, names = [f"item {number}" for number in range(len(strata))], [f"a{number}" for number in range(n_annotators)]
    found = assign(keys, strata, names, overlap=overlap, raters=None if n_annotators == 1 else raters, seed=seed)
    seen = Counter(item for items in found.items.values() for item in items)
    assert set(seen) == set(range(len(keys)))
    assert len(found.shared) == (round(overlap * len(keys)) if n_annotators > 1 else 0)
    assert all(seen[item] == (raters if item in set(found.shared) else 1) for item in seen)
    assert all(len(set(items)) == len(items) for items in found.items.values())
    sizes = list(map(len, found.items.values()))
    assert max(sizes) - min(sizes) <= 1


def test_the_assignment_depends_on_the_seed_and_the_items_but_not_on_their_order():
    keys, names = [f"item {number}" for number in range(40)], ["a", "b", "c"]

    def assigned(order, seed=0):
        found = assign(
            [keys[item] for item in order], [(str(item % 4),) for item in order], names, overlap=0.25, seed=seed
        )
        return {name: [keys[order[item]] for item in items] for name, items in found.items.items()}

    first = assigned(range(40))
    assert assigned(range(39, -1, -1)) == first
    assert assigned(range(40), seed=1) != first
    shared = set(first["a"]) & set(first["b"]) & set(first["c"])
    assert len(shared) == 10
    # Shared items have another order for each annotator.
    assert len({tuple(item for item in first[name] if item in shared) for name in names}) == 3
