from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from makers.own_checklists import own_suite
from makers.people import people
from pfgen_fast.checklists.scoring.scores import AnswerScore, Average, ModelScores, Part, Scores
from pfgen_fast.checklists.weights.fit_finding import fit_finding
from pfgen_fast.checklists.weights.fitting import fit_suite
from pfgen_fast.checklists.weights.sensitivity import (
    drawn_weights,
    sensitivity,
    sensitivity_finding,
    sensitivity_to_dict,
)
from pfgen_fast.checklists.weights.table_stability import fitted_stability, stability, verdict_sums
from pfgen_fast.errors import ChecklistError

SUITE = own_suite()
IDS = ("letter_1", "letter_2", "letter_3", "report_1", "report_2")
GOOD = dict(zip(IDS, ((1, 1, 0.5), (1, 0.5, 1), (1, 0.5), (1, 1, 0), (1, 1, 1)), strict=True))
FAIR = dict(zip(IDS, ((0.5, 1, 1), (0.5, 1, 1), (0.5, 1), (1, 1, 0), (1, 0, 1)), strict=True))
MISSING = {"letter_1": (1, 1, 1), "report_2": (1, 1, 1)}


def scores_of(verdicts: Mapping[str, Mapping[str, tuple[float, ...]]]) -> Scores:
    models = []
    tasks = [task for task in SUITE.tasks if task.length is None]
    for name, of_tasks in verdicts.items():
        answers = tuple(
            AnswerScore((id, None, 1), SUITE.by_key[id, None], said, 0.0, 0.0, None) for id, said in of_tasks.items()
        )
        missing = [task for task in tasks if task.id not in of_tasks]
        areas = {area: Part(0, tuple(task.id for task in missing if task.area == area)) for area in SUITE.areas}
        models.append(ModelScores(name, name, "", areas, {}, {}, Average(), answers))
    return Scores(SUITE, tuple(models))


def test_averages_follow_from_sums_of_verdicts() -> None:
    sums = verdict_sums(scores_of({"good": GOOD}))
    # letters: 50+30+10, 50+15+20, 60+20; reports: 200/3, 100
    expected = (((90 + 85 + 80) / 3 - 75) * 4 + ((200 / 3 + 100) / 2 - 75) * 4) / 2
    assert sums.averages(sums.weights)[0].tolist() == pytest.approx([expected])
    answers = ((90 + 85 + 80 + 200 / 3 + 100) / 5 - 75) * 4
    assert sums.over_answers(sums.weights)[0].tolist() == pytest.approx([answers])
    sums = verdict_sums(scores_of({"few": MISSING}))
    assert sums.averages(sums.weights)[0].tolist() == pytest.approx([100])
    as_zero = sums.averages(sums.weights, missing_as_zero=True)[0]
    assert as_zero.tolist() == pytest.approx([((100 / 3 - 75) * 4 + (50 - 75) * 4) / 2])


def test_tasks_with_a_length_do_not_count() -> None:
    scores = scores_of({"good": GOOD})
    long = AnswerScore(("report_1", "90", 1), SUITE.by_key["report_1", "90"], (0, 0, 0), 0, 0, None)
    longer = replace(scores.models[0], answers=(*scores.models[0].answers, long))
    one, other = verdict_sums(scores), verdict_sums(replace(scores, models=(longer,)))
    assert one.averages(one.weights).tolist() == other.averages(one.weights).tolist()


def test_a_model_without_an_area_is_left_out_and_named() -> None:
    only_letters = {id: said for id, said in GOOD.items() if id.startswith("letter")}
    found = sensitivity(scores_of({"good": GOOD, "half": only_letters, "fair": FAIR}), draws=0)
    assert found.models == ("good", "fair")
    assert "left out, because an area has no judged answer: half" in found.notes


def test_each_decision_is_compared_with_the_usual_table_and_the_finding_names_who_moves_farthest() -> None:
    found = sensitivity(scores_of({"fair": FAIR, "good": GOOD, "few": MISSING}), draws=50)
    assert found.models == ("few", "good", "fair")
    equal, as_zero, over_answers = found.variations
    names = ("equal weights", "missing answers as zero", "the mean of all answers")
    assert tuple(one.name for one in found.variations) == names
    assert as_zero.places.tolist() == [3, 1, 2]
    assert as_zero.moved.tolist() == [2, -1, -1]
    assert as_zero.kendall == pytest.approx(-1 / 3)
    assert as_zero.shifts[1:].tolist() == [0, 0]
    assert equal.averages[0] == over_answers.averages[0] == pytest.approx(100)
    finding = sensitivity_finding(found)
    assert "at most few moves by 2 places (missing answers as zero)" in finding.answer
    assert [len(table.rows) for table in finding.tables] == [3, 3, 3, 3]
    data = sensitivity_to_dict(found)
    assert data["variations"]["missing answers as zero"]["models"][0]["place"] == 3
    assert data["draws"]["concentration"] == 100


def test_equal_weights_shift_a_category_by_the_change_of_its_scores() -> None:
    found = sensitivity(scores_of({"good": GOOD, "fair": FAIR}), draws=0)
    requests = next(one for one in found.categories if (one.area, one.category) == ("letters", "requests"))
    # 60/40: good 80, fair 70; equal: 75 both. Times four.
    assert (requests.mean_shift, requests.largest_shift) == pytest.approx((0, -20))
    assert (requests.lowest_weight, requests.highest_weight) == (40, 60)


@pytest.mark.parametrize(
    ("verdicts", "message"),
    [({"good": GOOD}, "good is the only model"), ({"few": {"letter_1": (1, 1, 1)}}, "no model has a judged answer in")],
)
def test_fewer_than_two_whole_models_are_refused(verdicts: dict[str, Any], message: str) -> None:
    with pytest.raises(ChecklistError, match=message):
        sensitivity(scores_of(verdicts))


@pytest.mark.parametrize("weights", [(20, 80), (50, 30, 20), (0.5, 99.5), (100 / 7,) * 7])
@pytest.mark.parametrize("concentration", [2, 10, 100])
def test_random_weights_have_the_given_mean_and_the_sum_100(weights: tuple[float, ...], concentration: int) -> None:
    drawn = drawn_weights(weights, 4000, concentration=concentration)
    np.testing.assert_allclose(drawn.sum(axis=1), 100)
    assert (drawn >= 0).all()
    error = drawn.std(axis=0) / np.sqrt(4000)
    assert (abs(drawn.mean(axis=0) - weights) < 5 * error + 1e-9).all()


def test_random_weights_vary_as_those_of_a_dirichlet_distribution() -> None:
    weights = np.array([20.0, 30.0, 50.0])
    drawn = drawn_weights(weights, 20_000, concentration=100)
    assert drawn.std(axis=0) == pytest.approx(np.sqrt(weights * (100 - weights) / 101), rel=0.03)


def test_draws_show_how_stable_an_order_is() -> None:
    sums = verdict_sums(scores_of({"fair": FAIR, "good": GOOD, "same": dict(GOOD)}))
    usual = sums.weights
    draws = {("letters", "requests"): np.array([[60.0, 40.0], [40.0, 60.0], [0.0, 100.0], [60.0, 40.0]])}
    found = stability(sums, usual, draws)
    assert found.models == ("good", "same", "fair")
    assert found.n_draws == 4
    assert found.keeps_order.tolist() == [0, 1], "equal averages are not above each other"
    assert found.kendall == pytest.approx(1)
    assert found.low[0] < found.usual[0] == found.high[0]


def test_models_that_are_equal_have_no_order() -> None:
    found = sensitivity(scores_of({"good": GOOD, "same": dict(GOOD)}), draws=20)
    assert found.drawn is not None
    assert (found.drawn.kendall, found.variations[0].kendall) == (None, None)
    assert "the 2 models have no order" in sensitivity_finding(found).paragraph
    json.dumps(sensitivity_to_dict(found))


def test_draws_of_fitted_weights_make_draws_of_the_table() -> None:
    marks = people(SUITE, {("letters", "thanks"): (2.0, 4.0, 3.0)}, noise=1)
    fit = fit_suite(SUITE, marks, draws=100)
    found = fitted_stability(fit, verdict_sums(scores_of({"good": GOOD, "fair": FAIR})))
    assert found is not None
    sums = verdict_sums(scores_of({"good": GOOD}))
    usual = sums.averages({**sums.weights, **fit.weights})[0, 0]
    assert found.usual[found.models.index("good")] == pytest.approx(usual)
    assert "above the next" in fit_finding(fit, found).to_markdown()
    assert fitted_stability(fit_suite(SUITE, marks), verdict_sums(scores_of({"good": GOOD}))) is None
