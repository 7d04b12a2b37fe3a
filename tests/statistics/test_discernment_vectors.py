"""The worked examples of all statistics of discernment, to 1e-12."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from makers.discernment_data import needs_discernment_data, vectors
from pfgen_fast.discernment import average, combine, signed_rank
from pfgen_fast.statistics.discernment_scores import averages, calibrated, discernment_score

pytestmark = needs_discernment_data


def of(what):
    found = [vector for vector in vectors()["vectors"] if vector["what"] == what]
    assert found
    return found


def is_as_expected(found, expected):
    if expected is None:
        return math.isnan(found)
    if isinstance(expected, str):  # a fraction is met exactly
        return found == float(Fraction(expected))
    return found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_signed_ranks():
    for vector in of("wilcoxon"):
        given = vector["input"]
        options = {name: given[name] for name in ("higher_is_better", "zeros")}
        found = signed_rank(given["original"], given["perturbed"], **options)
        for name, expected in vector["expected"].items():
            if name != "exact_log_p":  # the logarithm that `exact_d` is made of
                assert is_as_expected(getattr(found, name), expected), (vector["id"], name)


def test_a_p_value_that_no_float_holds():
    for vector in of("wilcoxon_range"):
        n = vector["input"]["n"]
        found = signed_rank(np.arange(1, n + 1), np.zeros(n))
        assert math.isnan(found.exact_p)
        for name, expected in vector["expected"].items():
            assert is_as_expected(getattr(found, name), expected), (vector["id"], name)


def test_combinations():
    for vector in of("combine"):
        given, expected = vector["input"], vector["expected"]
        log_p = given.get("log_p") or np.log(given["p"])
        plain, printed = combine(log_p), combine(log_p, printed=True)
        weighted = combine(log_p, weights=given["votes"])
        found = {
            "log_p": plain,
            "p": math.exp(plain),
            "d": discernment_score(plain),
            "printed_log_p": printed,
            "printed_d": discernment_score(printed),
            "calibrated_d": discernment_score(calibrated(plain, len(log_p))),
            "weighted_log_p": weighted,
            "weighted_p": math.exp(weighted),
            "weighted_d": discernment_score(weighted),
        }
        assert found.keys() == expected.keys() - {"weights"}
        for name, value in found.items():
            assert is_as_expected(value, expected[name]), (vector["id"], name)
        by_fractions = combine(log_p, weights=[float(Fraction(weight)) for weight in expected["weights"]])
        assert is_as_expected(by_fractions, expected["weighted_log_p"])


def test_averages():
    for vector in of("average"):
        cells, expected = vector["input"]["cells"], vector["expected"]
        d, levels = [cell["d"] for cell in cells], [cell["level"] for cell in cells]
        found_average, found_minimum = average(d, levels)
        assert is_as_expected(found_average, expected["average"])
        assert is_as_expected(found_minimum, expected["minimum"])
        assert cells[averages(d, levels).minimum_at]["perturbation"] == expected["minimum_at"]


def test_cells_from_scores_to_combined_scores():
    for vector in of("cell"):
        given, expected = vector["input"], vector["expected"]
        original, perturbed = (
            np.array([given[side][metric] for metric in given["metrics"]]) for side in ("original", "perturbed")
        )
        higher = [(given["higher_is_better"] or {}).get(metric, True) for metric in given["metrics"]]
        cells = signed_rank(original, perturbed, higher_is_better=higher)
        for index, metric in enumerate(given["metrics"]):
            for name, value in expected["metrics"][metric].items():
                assert is_as_expected(getattr(cells, name)[index], value), (vector["id"], metric, name)
        plain, weighted = combine(cells.log_p), combine(cells.log_p, weights=given["votes"])
        for name, value in {
            "log_p": plain,
            "d": discernment_score(plain),
            "printed_d": discernment_score(combine(cells.log_p, printed=True)),
            "weighted_log_p": weighted,
            "weighted_d": discernment_score(weighted),
        }.items():
            assert is_as_expected(value, expected[name]), (vector["id"], name)
