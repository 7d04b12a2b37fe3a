"""Weights from marks: the regression of one checklist, and the fit of a suite."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from makers.checklist_data import needs_hellobench, vectors
from makers.own_checklists import own_suite, suite_of
from makers.people import people
from pfgen_fast.checklists.tasks import Task
from pfgen_fast.checklists.weights.fitting import fit_suite
from pfgen_fast.checklists.weights.marks import Marks
from pfgen_fast.checklists.weights.regression import fit_weights
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
    ],
)
def test_bad_marks_are_named(verdicts: Any, marks: Any, message: str) -> None:
    with pytest.raises(ChecklistError, match=f"^{message}"):
        fit_weights(verdicts, marks)


@pytest.mark.parametrize(("bound", "message"), [(-1, "the bound"), (11, "the bound"), (0, "all weights are 0")])
def test_an_invalid_bound_and_weights_of_zero_are_refused(bound: float, message: str) -> None:
    with pytest.raises(ChecklistError, match=message):
        fit_weights([[1]], [0], bound=bound)


SUITE = own_suite()
THANKS, REQUESTS, WEATHER = ("letters", "thanks"), ("letters", "requests"), ("reports", "weather")
RULE = {THANKS: (3.0, 2.0, 5.0), REQUESTS: (6.0, 3.0)}


def test_the_rule_that_people_followed_comes_back() -> None:
    fit = fit_suite(SUITE, people(SUITE, RULE))
    assert fit.weights[THANKS] == pytest.approx((30, 20, 50))
    assert fit.weights[REQUESTS] == pytest.approx((200 / 3, 100 / 3))
    assert WEATHER not in fit.weights
    assert fit.notes == ("1 of 3 categories have no marks, and keep their weights",)


def test_intervals_hold_the_rule_about_as_often_as_they_say() -> None:
    keys = [("letters", f"kind {number}") for number in range(20)]
    tasks = [Task(category, area, category, "Write.") for area, category in keys]
    suite = suite_of("many", dict.fromkeys(keys, ("One?", "Two?", "Three?")), {}, tasks)
    marks = people(suite, dict.fromkeys(keys, (3.0, 2.0, 4.0)), n_answers=40, noise=0.5)
    fit = fit_suite(suite, marks, draws=200)
    pairs = [zip(one.spreads, (100 / 3, 200 / 9, 400 / 9), strict=True) for one in fit.categories.values()]
    inside = [spread.low <= weight <= spread.high for of_category in pairs for spread, weight in of_category]
    assert len(inside) == 60
    assert 0.85 < sum(inside) / 60 < 1


def test_annotators_are_pooled_or_their_means_are_fitted() -> None:
    marks = people(SUITE, {THANKS: (3.0, 2.0, 5.0)}, annotators="abc", noise=1)
    pooled, means = (fit_suite(SUITE, marks, combine=way).categories[THANKS] for way in ("pool", "mean"))
    assert (pooled.fitted.n_rows, means.fitted.n_rows) == (36, 12)
    assert pooled.n_answers == means.n_answers == 12
    by_answer: dict[str, list[tuple[float, ...]]] = {}
    for mark in marks.listed:
        by_answer.setdefault(mark.response_sha256, []).append((*mark.verdicts, mark.overall))
    rows = np.array([np.mean(some, axis=0) for some in by_answer.values()])
    assert means.fitted.raw == pytest.approx(fit_weights(rows[:, :-1], rows[:, -1]).raw)
    with pytest.raises(ChecklistError, match="unknown way 'median'; expected one of mean, pool"):
        fit_suite(SUITE, marks, combine="median")  # type: ignore[arg-type]
    with pytest.raises(ChecklistError, match="the bound 0: expected a number above 0"):
        fit_suite(SUITE, marks, bound=0)


def test_without_an_annotator_it_is_the_fit_of_the_others() -> None:
    marks = people(SUITE, {THANKS: (3.0, 2.0, 5.0)}, annotators="abc", noise=1)
    (one,) = fit_suite(SUITE, marks).categories.values()
    others = replace(marks, listed=tuple(mark for mark in marks.listed if mark.annotator != "b"))
    assert one.without["b"] == fit_suite(SUITE, others).categories[THANKS].fitted
    assert list(one.without) == ["a", "b", "c"]
    assert one.largest_change is not None
    assert one.largest_change[0] > 0
    (alone,) = fit_suite(SUITE, people(SUITE, {THANKS: (3.0, 2.0, 5.0)}, annotators="a")).categories.values()
    assert (alone.without, alone.largest_change) == ({}, None)


def test_a_draw_takes_an_answer_with_all_its_annotators() -> None:
    """Marks of two annotators who agree are worth no more than those of one."""
    marks = people(SUITE, {THANKS: (3.0, 2.0, 5.0)}, annotators="a", noise=1)
    twice = Marks(tuple(replace(mark, annotator=name) for mark in marks.listed for name in "ab"))
    once, doubled = (fit_suite(SUITE, each, draws=200).categories[THANKS] for each in (marks, twice))
    np.testing.assert_allclose(once.draws, doubled.draws, atol=1e-9)


def test_spreads_are_those_of_the_draws() -> None:
    (one,) = fit_suite(SUITE, people(SUITE, {THANKS: (3.0, 0.5, 5.0)}, noise=1), draws=300, seed=4).categories.values()
    assert one.draws.shape == (300, 3)
    np.testing.assert_allclose(one.draws.sum(axis=1), 100)
    for question, spread in enumerate(one.spreads):
        drawn = one.draws[:, question]
        assert spread.mean == pytest.approx(drawn.mean())
        assert spread.sd == pytest.approx(drawn.std(ddof=1))
        assert (spread.low, spread.high) == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])))
        assert spread.low < one.fitted.weights[question] < spread.high
    assert 0.2 < one.spreads[1].at_bound < 0.9


def test_the_same_seed_gives_the_same_draws_whatever_else_is_fitted() -> None:
    both, alone = people(SUITE, RULE, noise=1), people(SUITE, {THANKS: RULE[THANKS]}, noise=1)
    one, other = (fit_suite(SUITE, marks, draws=50, seed=2).categories[THANKS] for marks in (both, alone))
    assert one.draws.tolist() == other.draws.tolist()
    assert fit_suite(SUITE, alone, draws=50, seed=3).categories[THANKS].draws.tolist() != one.draws.tolist()


def test_draws_that_define_no_weights_are_left_out_and_counted() -> None:
    fit = fit_suite(SUITE, people(SUITE, {THANKS: RULE[THANKS]}, n_answers=4, annotators="a"), draws=200)
    (one,) = fit.categories.values()
    assert 0 < one.n_undefined < 200
    assert fit.notes[0] == f"letters/thanks: {one.n_undefined} of 200 draws define no weights and are left out"
    assert len(one.spreads) == 3
