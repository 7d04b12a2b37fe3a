from __future__ import annotations

from dataclasses import replace

import pytest
from pfgen_fast import ExperimentError
from pfgen_fast.experiments import read_figures, score_runs
from pfgen_fast.experiments.sensitivity import VariedConstants, sensitivity, weighted_scores
from pfgen_fast.suite.rules import Constants


@pytest.fixture(scope="module")
def varied_constants():
    return VariedConstants({"limit": [120, 150, 200], "last_order": [2]}, threads=2)


@pytest.fixture(scope="module")
def scored(varied, mini, varied_constants):
    return score_runs([varied], suite=mini, threads=2, on_batch=varied_constants)


def test_the_usual_constants_give_the_usual_scores(scored, varied_constants):
    assert varied_constants.constants == (
        Constants(), Constants(limit=120), Constants(limit=200), Constants(last_order=2)
    )  # fmt: skip
    assert varied_constants.scores()[0] == pytest.approx(scored.means["score"], abs=1e-5)


def test_equal_weights_are_the_usual_scores_and_no_weight_leaves_the_other_set(scored):
    for weights in ({}, {"A": 3, "B": 3}, {"A": 0, "B": 0}):
        assert weighted_scores(scored, weights) == pytest.approx(scored.means["score"], abs=2e-5)
    of_b = sum(scored.set_scores[metric]["B"] for metric in ("fluency", "truthfulness"))
    only_b = ((of_b + scored.question_scores["helpfulness"]) / 3).mean(axis=1)
    assert weighted_scores(scored, {"A": 0}) == pytest.approx(only_b)


def test_the_finding_lists_every_variation(scored, varied_constants):
    finding = sensitivity(scored, varied_constants)
    rows = [row[:3] for row in finding.tables[0].rows]
    assert rows[:5] == [
        ("longest n-gram", "2", ""),
        ("longest n-gram", "10", "usual"),
        ("limit of length", "120", ""),
        ("limit of length", "150", "usual"),
        ("limit of length", "200", ""),
    ]
    assert [row[1] for row in rows if row[0] == "weight of set A"] == ["0", "0.5", "1", "2", "4"]
    usual = next(row for row in finding.tables[0].rows if row[:3] == ("limit of length", "150", "usual"))
    assert usual[4:] == (0.0, pytest.approx(1), pytest.approx(1), 0)
    assert len(finding.tables[1].rows) == 6
    places = max(row[7] for row in finding.tables[0].rows)
    assert f"but single runs move by up to {places} place" in finding.answer


def test_drawn_answers_are_compared_with_themselves_under_the_usual_constants(varied, mini):
    few = VariedConstants({"limit": [150, 200]}, trials=1, seed=1)
    figures = read_figures([varied], suite=mini, on_batch=few)
    finding = sensitivity(figures, few)
    assert finding.notes[0].startswith("48 of 144 answers were scored with other constants: 1 to each question")
    usual = next(row for row in finding.tables[0].rows if row[:3] == ("limit of length", "150", "usual"))
    assert usual[4:] == (0.0, pytest.approx(1), pytest.approx(1), 0)
    whole = next(row for row in finding.tables[0].rows if row[:3] == ("weight of set A", "1", "usual"))
    assert whole[3] == pytest.approx(figures.means["score"].mean(), abs=1e-4) != usual[3]
    assert whole[4:] == (0.0, pytest.approx(1), pytest.approx(1), 0)


@pytest.mark.parametrize(
    ("varied", "problem"),
    [
        ({"colour": [1]}, "unknown constant 'colour'; expected one of last_order, first_order"),
        ({"limit": [100]}, "^target length 100 and limit 100: expected a target length"),
        ({"last_order": [2.5]}, "last_order 2.5: expected a whole number"),
    ],
)
def test_values_that_a_constant_cannot_have_are_named(varied, problem):
    with pytest.raises(ExperimentError, match=problem):
        VariedConstants(varied)


def test_where_nothing_is_varied_nothing_is_said(varied, mini):
    alone = replace(mini, questions=tuple(replace(q, answers={"A": q.answers["A"]}) for q in mini))
    nothing = VariedConstants({"limit": [150]})
    scored = score_runs([varied], suite=alone, on_batch=nothing)
    with pytest.raises(ExperimentError, match="nothing is varied"):
        sensitivity(scored, nothing)


def test_values_that_are_no_numbers_are_refused_before_anything_is_written(call, varied, tmp_path):
    code, _, err = call("experiment", "sensitivity", varied, "-s", "mini", "--vary", "limit=a", "-o", tmp_path / "none")
    assert code == 2
    assert "expected a constant and its values" in err
    assert not (tmp_path / "none").exists()
