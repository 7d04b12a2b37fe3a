"""What follows from the published judgements of weights, and what marks by a known rule would give."""

from __future__ import annotations

import random

import pytest
from makers.checklist_data import expected, folder, needs_hellobench
from pfgen_fast.checklists import ChecklistSuite, open_runs, score_runs
from pfgen_fast.checklists.importing.hellobench_suite import import_suite
from pfgen_fast.checklists.scoring.scores import Scores
from pfgen_fast.checklists.weights.fitting import fit_suite
from pfgen_fast.checklists.weights.marks import Mark, Marks
from pfgen_fast.checklists.weights.sensitivity import sensitivity

pytestmark = [pytest.mark.slow, needs_hellobench]
LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)


@pytest.fixture(scope="module")
def suite() -> ChecklistSuite:
    return import_suite(folder())


@pytest.fixture(scope="module")
def scores(suite: ChecklistSuite) -> Scores:
    return score_runs(suite, open_runs(sorted((folder() / "judgements").iterdir())), draws=0)


def test_other_decisions_give_the_expected_averages(scores: Scores) -> None:
    found = sensitivity(scores, draws=0)
    names = {
        "equal weights": "rescaled_plain",
        "missing answers as zero": "rescaled_missing_as_zero",
        "the mean of all answers": "rescaled_over_answers",
    }
    of_models = [expected()[model]["average"] for model in found.models]
    assert found.usual.tolist() == pytest.approx([average["rescaled"] for average in of_models], abs=1e-9)
    for variation in found.variations:
        averages = [average[names[variation.name]] for average in of_models]
        assert variation.averages.tolist() == pytest.approx(averages, abs=1e-9)
    assert len(found.models) == 20


def test_weights_shift_levels_and_hardly_any_place(scores: Scores) -> None:
    """The weights take 1.8 to 5.6 points; over the 23 models of the main table tau-b is 0.976, over these 20 0.968."""
    found = sensitivity(scores)
    equal, as_zero, over_answers = found.variations
    assert (equal.shifts.min(), equal.shifts.max()) == pytest.approx((1.8, 5.6), abs=0.02)
    assert equal.kendall == pytest.approx(184 / 190)
    assert abs(equal.moved).max() == 2
    assert as_zero.kendall == pytest.approx(1)
    assert as_zero.shifts.min() == pytest.approx(-19.38, abs=0.005)
    assert over_answers.kendall == pytest.approx(180 / 190)
    assert found.drawn is not None
    assert found.drawn.kendall is not None
    assert found.drawn.kendall > 0.99


def test_the_rule_behind_marks_of_the_public_verdicts_comes_back(suite: ChecklistSuite, scores: Scores) -> None:
    """Verdicts of four models with a little noise, marked by ten times the published weights: 38 categories."""
    fit = fit_suite(suite, marks_by_the_published_weights(suite, scores), draws=200)
    assert len(fit.weights) == 38
    inside = [
        spread.low <= weight <= spread.high
        for key, one in fit.categories.items()
        for spread, weight in zip(one.spreads, suite.checklists[key].weights, strict=True)
    ]
    assert len(inside) == sum(len(checklist.questions) for checklist in suite.checklists.values())
    assert 0.85 < sum(inside) / len(inside) <= 1, "intervals of the bootstrap hold the rule about as often as they say"


def marks_by_the_published_weights(suite: ChecklistSuite, scores: Scores) -> Marks:
    chance = random.Random(20)
    found = []
    for model in scores.models[:4]:
        for answer in model.answers:
            if answer.task.length is None:
                for annotator in "abc":
                    verdicts = tuple(
                        min(1.0, max(0.0, verdict + chance.choice((-0.25, 0, 0, 0.25)))) for verdict in answer.verdicts
                    )
                    weights = suite.checklist(answer.task).weights
                    overall = sum(w * v for w, v in zip(weights, verdicts, strict=True)) / 10 + chance.gauss(0, 0.4)
                    place = answer.task.area, answer.task.category
                    marked = min(10.0, max(0.0, overall))
                    found.append(Mark(answer.task.id, None, model.model, annotator, *place, verdicts, marked))
    return Marks(tuple(found), "unit")
