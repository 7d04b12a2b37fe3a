from __future__ import annotations

from typing import Any

import pytest
from makers.checklist_data import needs_hellobench, vectors
from pfgen_fast.checklists import fit_weights
from pfgen_fast.errors import ChecklistError


def cases() -> Any:
    return vectors("regression")["cases"]


@needs_hellobench
def test_the_worked_examples_follow() -> None:
    names = []
    for case in cases():
        fitted, expected = fit_weights(case["x"], case["y"]), case["fit"]
        assert fitted.mse == pytest.approx(expected["mse"], abs=1e-9)
        assert fitted.r2 == pytest.approx(expected["r2"], abs=1e-9)
        assert fitted.rank == expected["rank"]
        if fitted.is_identified:
            names.append(case["name"])
            assert fitted.raw == pytest.approx(expected["weights"], abs=1e-9)
            assert fitted.raw == pytest.approx(expected["bvls"], abs=1e-9)
            assert fitted.raw == pytest.approx(expected["published_procedure"], abs=1e-4)
            assert fitted.weights == pytest.approx(expected["normalised"], abs=1e-9)
            assert fitted.at_bound == tuple(expected["at_bound"])
    assert len(names) == len(cases()) - 1


@needs_hellobench
def test_open_weights_fit_as_well_and_are_equal() -> None:
    (case,) = (case for case in cases() if case["fit"]["rank"] < len(case["x"][0]))
    fitted = fit_weights(case["x"], case["y"])
    assert not fitted.is_identified
    assert fitted.weights == pytest.approx((50, 50))
    assert fitted.raw == pytest.approx(case["fit"]["bvls"])


def test_weights_have_the_sum_100_equal_marks_no_r2_and_another_bound_is_kept() -> None:
    fitted = fit_weights([[1, 1, 0.5], [0.5, 1, 0], [0, 0.5, 1], [1, 0, 1]], [7, 4, 5, 7])
    assert (sum(fitted.weights), fitted.n_rows) == (pytest.approx(100), 4)
    assert fitted.perfect_mark == pytest.approx(sum(fitted.raw))
    fitted = fit_weights([[1, 0.5], [0.5, 1]], [6, 6])
    assert (fitted.r2, fitted.mse) == (None, pytest.approx(0))
    fitted = fit_weights([[1, 0], [0, 1], [1, 1]], [3, 0, 3], bound=0)
    assert (fitted.raw, fitted.at_bound) == ((3, 0), (False, True))
    beyond = fit_weights([[1, 1], [1, 0], [0.5, 0]], [11.3, 4.0, -0.7])  # simulated marks, not whole numbers
    assert beyond.perfect_mark == pytest.approx(11.3, abs=1)


@pytest.mark.parametrize(
    ("verdicts", "marks", "message"),
    [
        ([], [], "no marks: expected at least one"),
        ([[1, 0]], [1, 2], "1 rows of verdicts for 2 marks"),
        ([[1, 0], [1]], [1, 2], "verdicts are not a table of numbers"),
        ([1, 0], [1, 2], "verdicts of 1 dimensions"),
        ([[]], [1], "verdicts without a question"),
        ([[1, None]], [1], "row 0, question 1: the verdict is missing or no number"),
        ([[1], [2]], [1, 1], "row 1, question 0: the verdict is 2; expected a number from 0 to 1; divide"),
        ([[1], [1]], [1, 11], "row 1: the mark is 11; expected a number from 0 to 10"),
        ([[1], [1]], [1, float("inf")], "row 1: the mark is inf"),
        ([[1], [1]], [[1], [2]], "marks of 2 dimensions"),
    ],
)
def test_bad_marks_are_named(verdicts: Any, marks: Any, message: str) -> None:
    with pytest.raises(ChecklistError, match=f"^{message}"):
        fit_weights(verdicts, marks)


@pytest.mark.parametrize(("bound", "message"), [(-1, "the bound"), (11, "the bound"), (0, "all weights are 0")])
def test_an_invalid_bound_and_weights_of_zero_are_refused(bound: float, message: str) -> None:
    with pytest.raises(ChecklistError, match=message):
        fit_weights([[1]], [0], bound=bound)
