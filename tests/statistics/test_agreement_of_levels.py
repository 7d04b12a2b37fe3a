"""Agreement of raters: kappas and Krippendorff's alpha."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.checklist_data import needs_hellobench, vectors
from pfgen_fast.errors import ChecklistError
from pfgen_fast.statistics.agreement_of_levels import (
    FIGURES,
    LevelAgreement,
    agreement_of_levels,
    agreement_of_table,
    figures_of_tables,
    tables_of,
)
from pfgen_fast.statistics.correlation import pearson, spearman
from pfgen_fast.statistics.raters import fleiss_kappa, krippendorff_alpha

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
NAN = math.nan
UNEVEN = (0.0, 0.1, 0.5, 0.75, 1.0)
given_levels = st.lists(st.tuples(st.sampled_from(UNEVEN), st.sampled_from(UNEVEN)), min_size=1, max_size=40)


@needs_hellobench
def test_the_published_example_is_reproduced():
    case = vectors("agreement")
    found = {**vars(agreement_of_levels(case["a"], case["b"], LEVELS)), "n": 12}
    found |= {"mean_difference_b_minus_a": found.pop("mean_difference")}
    found |= {name: of(case["a"], case["b"]) for name, of in (("pearson", pearson), ("spearman", spearman))}
    assert found == pytest.approx({"n": 12, **{name: case[name] for name in found.keys() - {"n"}}}, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (LEVELS, LEVELS, (5, 1, 1, 0, 1, 1)),
        ([0, 0, 1, 1], [1, 1, 0, 0], (4, 0, 0, 0, -1, -1)),
        # Where a side gives one level only, kappa is undefined.
        ([1, 1], [1, 1], (2, 1, 1, 0, None, None)),
        ([1, 1], [0, 1], (2, 0.5, 0.5, -0.5, None, None)),
        ([0, 1], [0.5, 0.5], (2, 0, 0, 0, None, None)),
        ([], [], (0, None, None, None, None, None)),
    ],
)
def test_agreement_by_hand(first, second, expected):
    assert agreement_of_levels(first, second, LEVELS) == LevelAgreement(*expected)


def test_what_is_no_level_is_named():
    with pytest.raises(ChecklistError, match=r"0\.3 is not a level: expected one of 0, 0\.25"):
        agreement_of_levels([0.3], [0.25], LEVELS)
    with pytest.raises(ChecklistError, match="2 and 1 levels"):
        agreement_of_levels([0, 1], [1], LEVELS)


@given(given_levels)
def test_kappas_are_those_of_their_definition(pairs):
    first, second = zip(*pairs, strict=True)
    found = agreement_of_levels(first, second, UNEVEN)
    n = len(pairs)
    chance = list(itertools.product(first, second))
    observed = sum(a == b for a, b in pairs) / n
    expected = sum(a == b for a, b in chance) / n**2
    if len(set(first)) > 1 and len(set(second)) > 1:
        assert found.kappa == pytest.approx((observed - expected) / (1 - expected))
        apart = [sum((a - b) ** 2 for a, b in some) / len(some) for some in (pairs, chance)]
        assert found.kappa_quadratic == pytest.approx(1 - apart[0] / apart[1])
    assert found.mean_difference == pytest.approx(sum(b - a for a, b in pairs) / n)


def test_tables_of_groups_add_up_to_the_table_of_all():
    draw = np.random.default_rng(0)
    given_numbers, groups = draw.integers(0, 5, (2, 200)), draw.integers(0, 7, 200)
    tables = tables_of(given_numbers, groups, 7, 5)
    whole = tables_of(given_numbers, np.zeros(200, dtype=np.int64), 1, 5)[0]
    assert (tables.sum(axis=0) == whole).all()
    found = agreement_of_table(whole, LEVELS)
    assert [getattr(found, name) for name in FIGURES] == figures_of_tables([whole], LEVELS)[0].tolist()


def test_alpha_of_krippendorffs_own_example():
    # Computing Krippendorff's Alpha-Reliability (2011), section D: four observers, twelve units, interval data.
    ratings = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
    alpha = krippendorff_alpha(ratings)
    assert alpha is not None
    assert round(alpha, 3) == 0.849


@pytest.mark.parametrize("ratings", [[[1, 1], [1, 1]], [[1, NAN], [NAN, 0]], [[]], [[0.1, 0.1, 0.1]] * 3])
def test_alpha_is_empty_where_nothing_varies_or_nothing_is_shared(ratings):
    assert krippendorff_alpha(ratings) is None


def test_fleiss_kappa_of_the_example_of_fleiss():
    counts = """
    0 0 0 0 14   0 2 6 4 2   0 0 3 5 6   0 3 9 2 0   2 2 8 1 1
    7 7 0 0 0   3 2 6 3 0   2 5 3 2 2   6 5 2 1 0   0 2 2 3 7"""
    assert fleiss_kappa(np.array(counts.split(), dtype=int).reshape(10, 5)) == pytest.approx(0.20993, abs=5e-6)
    assert (fleiss_kappa([[3, 0], [0, 3]]), fleiss_kappa([[1, 1], [1, 1]])) == (1, -1)


@pytest.mark.slow  # importing statsmodels takes longer than all other tests of this directory
@pytest.mark.parametrize("seed", range(20))
def test_fleiss_kappa_equals_that_of_statsmodels(seed):
    from statsmodels.stats import inter_rater

    generator = np.random.default_rng(seed)
    counts = generator.multinomial(int(generator.integers(2, 12)), [0.2, 0.5, 0.3], size=int(generator.integers(2, 9)))
    expected = inter_rater.fleiss_kappa(counts)
    assert fleiss_kappa(counts) == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("counts", [[], [[]], [[1, 0], [0, 1]], [[3, 0], [3, 0]], [[0, 0]]])
def test_fleiss_kappa_is_undefined_where_it_means_nothing(counts):
    assert math.isnan(fleiss_kappa(counts))
