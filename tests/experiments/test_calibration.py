"""`experiment calibrate`: n-gram scores as the cheap evaluator, and tables of scores of any two evaluators."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from pfgen_fast.errors import ExperimentError
from pfgen_fast.experiments.calibration import calibrate
from pfgen_fast.item_scores.table import ItemScores
from pfgen_fast.statistics import prediction_powered_mean

GENERATOR = np.random.default_rng(2)
TRUTH = GENERATOR.normal(6, 2, (2, 120))
ITEMS = tuple(f"q{number:03d}" for number in range(120))
CHEAP = ItemScores(("a", "b"), ITEMS, {"score": TRUTH / 10 + GENERATOR.normal(0, 0.05, TRUTH.shape)})
N_MARKS = 30
CHOSEN = GENERATOR.permutation(120)[:N_MARKS]
DEAR = ItemScores(("b", "a"), tuple(ITEMS[at] for at in CHOSEN), {"rating": TRUTH[::-1][:, CHOSEN]})


def test_a_calibrated_mean_is_the_prediction_powered_mean_of_the_items():
    finding = calibrate(CHEAP, DEAR, half_width=0.5)
    rows = {row["model"]: row for row in finding.tables[0].to_dicts()}
    cheap = CHEAP.of("a", "score")
    expected = prediction_powered_mean(TRUTH[0][CHOSEN], cheap[CHOSEN], np.delete(cheap, CHOSEN))
    row = rows["a"]
    assert (row["calibrated"], row["low"], row["high"]) == pytest.approx((expected.mean, expected.low, expected.high))
    assert (row["items"], row["dear scores"], row["cheap score"]) == (120, N_MARKS, pytest.approx(cheap.mean()))
    assert row["low"] < TRUTH[0].mean() < row["high"]
    assert row["effective dear scores"] > 2 * N_MARKS
    assert row["needed for ±0.5"] < row["needed without the cheap"]
    assert finding.answer.endswith("they narrow the interval of 2 of 2 models.")


def test_a_cheap_metric_that_is_better_if_lower_helps_too_and_missing_scores_are_left_out():
    negative = {"score": -CHEAP.values["score"]}
    lower = replace(CHEAP, values=negative, higher_is_better={"score": False})
    assert calibrate(lower, DEAR).tables[0].rows[0][4:7] == pytest.approx(calibrate(CHEAP, DEAR).tables[0].rows[0][4:7])
    useless = calibrate(replace(CHEAP, values=negative), DEAR)
    assert "the cheap evaluator is as good as none for a, b: it narrows no interval" in useless.notes
    gaps = CHEAP.values["score"].copy()
    gaps[0, CHOSEN[:25]] = np.nan
    finding = calibrate(replace(CHEAP, values={"score": gaps}), DEAR)
    assert finding.tables[0].rows[0][2:4] == (95, 5)
    assert "fewer than 10 dear scores, so they stand alone: a" in finding.notes


@pytest.mark.parametrize(
    ("cheap", "dear", "message"),
    [
        (CHEAP, replace(DEAR, models=("c", "d")), "no model has a cheap and a dear score for the same item; expected"),
        (replace(CHEAP, values={"x": TRUTH, "y": TRUTH}), DEAR, r"has 2 metrics \(x, y\): name one \(--metric\)"),
        (CHEAP, replace(DEAR, values={"x": DEAR.values["rating"], "y": DEAR.values["rating"]}), "--against-metric"),
    ],
)
def test_tables_that_do_not_fit_are_named(cheap, dear, message):
    with pytest.raises(ExperimentError, match=message):
        calibrate(cheap, dear)


def test_the_command_takes_tables(tmp_path, call):
    def write(name, scores, metric):
        rows = zip(scores.models, scores.values[metric], strict=True)
        lines = [
            f"{item},{model},{value}"
            for model, values in rows
            for item, value in zip(scores.items, values, strict=True)
        ]
        (tmp_path / name).write_text("\n".join([f"item,model,{metric}", *lines]) + "\n")
        return tmp_path / name

    cheap, dear = write("cheap.csv", CHEAP, "score"), write("dear.csv", DEAR, "rating")
    code, printed, _ = call("experiment", "calibrate", cheap, "--against", dear, "-o", tmp_path / "out")
    assert code == 0
    assert "With the cheap scores, 60 dear scores count like " in printed
    (row, _) = csv.DictReader(io.StringIO((tmp_path / "out" / "calibrate-models.csv").read_text()))
    assert float(row["calibrated"]) == pytest.approx(calibrate(CHEAP, DEAR).tables[0].rows[0][4])
