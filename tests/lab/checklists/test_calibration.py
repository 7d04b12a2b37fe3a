"""Scores that few marks of people calibrate: figures, forms, and marks that do not fit the runs."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from makers.own_checklists import N_OF_CATEGORY, judged_models, suite_of_36, write_judged
from makers.people import marked, row_of, write_rows
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.calibration import calibrate
from pfgen_fast.lab.checklists.checklist_runs import open_runs
from pfgen_fast.lab.checklists.checklist_scoring import Scores, score_runs
from pfgen_fast.lab.checklists.checklist_suite import write_suite
from pfgen_fast.lab.checklists.marks import Mark
from pfgen_fast.lab.statistics.prediction_powered import MarkedStratum, mean_of_strata

SUITE = suite_of_36((40.0, 30.0, 20.0, 10.0))
JUDGED = judged_models(SUITE)
WEIGHTS = (40, 30, 20, 10)


def marks(model: str, n: int, annotator: str = "a", shift: float = 0.25) -> Iterator[Mark]:
    """Marks of the first answers in each category: those of the judge, lower by a level or two."""
    for item in JUDGED[model]:
        task = SUITE.by_key[item.id, None]
        if int(item.id[-3:]) < n:
            lower = shift * (1 + int(item.id[-2:]) % 2)
            verdicts = tuple(max(0.0, verdict - lower) for verdict in item.scores or ())
            yield marked(task, item.response_sha256, annotator, verdicts, 5)


@pytest.fixture
def scores(tmp_path: Path) -> Scores:
    return score_runs(SUITE, open_runs([write_judged(tmp_path / "runs", JUDGED)]))


def score(verdicts: tuple[float, ...]) -> float:
    return (sum(w * v for w, v in zip(WEIGHTS, verdicts, strict=True)) - 75) * 4


def test_a_calibrated_score_is_that_of_the_weighted_marks_with_areas_as_strata(scores):
    listed = [*marks("alpha", 6), *marks("alpha", 6, "b", shift=0.5)]
    actual = calibrate(scores, listed).models["alpha"]
    strata = {}
    for area in ("letters", "stories"):
        items = [item for item in JUDGED["alpha"] if SUITE.by_key[item.id, None].area == area]
        case = {item.id: [score(mark.verdicts) for mark in listed if mark.id == item.id] for item in items}
        truth = [sum(values) / 2 for values in case.values() if values]
        verdicts = {item.id: score(item.scores) for item in items}
        proxy = [[verdicts[id] for id, values in case.items() if bool(values) == has] for has in (True, False)]
        strata[area] = MarkedStratum(truth, *proxy)
    expected = {"": mean_of_strata(list(strata.values())), **{k: mean_of_strata([item]) for k, item in strata.items()}}
    for part, calibrated in actual.items():
        assert calibrated.fit.mean == pytest.approx(expected[part].mean)
        assert calibrated.fit.half_width == pytest.approx(expected[part].half_width)
    assert (actual[""].marks, actual["letters"].marks) == (18, 12)
    assert actual[""].judge == scores.models[0].average.rescaled
    # People are stricter than the judge.
    assert actual[""].fit.high < actual[""].judge


def test_models_without_marks_and_areas_without_marks_are_named(scores):
    some = [mark for mark in marks("beta", 3) if mark.area == "letters"]
    item = list(marks("gamma", 1))
    stale = replace(some[0], response_sha256="f" * 64, annotator="c")
    result = calibrate(scores, [*marks("alpha", 8), *some, *item, stale], half_width=30.0)
    assert list(result.sentences()) == [
        f"alpha: the judge correlates by {result.models['alpha'][''].fit.correlation:.2f} with 24 marks, so they "
        f"count like {result.models['alpha'][''].fit.effective_marks:.0f} marks without it; ±30 would take about "
        f"{result.models['alpha'][''].fit.marks_for(30)} marks with the judge, and "
        f"{result.models['alpha'][''].fit.marks_alone_for(30)} without it",
        "beta: an average needs marks in each area; areas without marks: stories",
        "gamma: no interval of the average: expected two marks or more in each area, and not all equal",
        "delta: no marks of its answers, so its score is not calibrated",
    ]
    assert result.notes[-1] == "1 mark of answers that the judge has not judged, not used: complaint-000"
    assert result.models["beta"]["letters"].fit is not None
    with pytest.raises(ChecklistError, match="none of the 1 mark is of an answer that the judge has judged; exp"):
        calibrate(scores, [stale])


def test_the_command_shows_all_three_figures(tmp_path, call):
    write_judged(tmp_path / "runs", JUDGED)
    write_suite(SUITE, tmp_path / "suite")
    path = write_rows(tmp_path / "marks.jsonl", list(map(row_of, marks("alpha", 6))))
    common = ("checklists", "table", tmp_path / "runs", "--suite", tmp_path / "suite")
    code, printed, _ = call(*common, "--calibrate", path, "--scale", "unit", "--csv", tmp_path / "t.csv")
    assert code == 0
    assert "Calibrated by marks of people" in printed
    assert "alpha: the judge correlates by " in printed
    line = next(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text())))
    _, printed, _ = call(*common, "--calibrate", path, "--scale", "unit", "--json")
    result = json.loads(printed)["rows"][0]["calibrated"]["average"]
    assert float(line["calibrated_low"]) == result["calibrated_low"] < result["judge"]
    assert "marks_needed" not in result
    options = ("--calibrate", path, "--scale", "unit", "--half-width", 30)
    result = json.loads(call(*common, *options, "--json")[1])["rows"]
    needed = [result[0]["calibrated"]["average"][name] for name in ("half_width", "marks_needed", "marks_needed_alone")]
    sentence = "±{:g} would take about {} marks with the judge, and {} without it".format(*needed)
    for form in ((), ("--markdown",)):
        assert sentence in " ".join(call(*common, *options, *form)[1].split())
    assert result[1]["calibrated"]["average"]["marks_needed"] is None  # without marks
    for options, message in (
        (("--half-width", 2), "error: --half-width: only --calibrate MARKS uses it"),
        (("--calibrate", path, "--missing", "bounds"), "error: --calibrate estimates one score of each model; exp"),
    ):
        code, _, sentence = call(*common, *options)
        assert (code, sentence.startswith(message)) == (2, True), sentence


def test_missing_answers_that_count_as_zero_are_zero_for_people_too(tmp_path):
    gaps = {"alpha": [item for item in JUDGED["alpha"] if int(item.id[-3:]) < N_OF_CATEGORY - 4]}
    listed = list(marks("alpha", 6))
    both = {}
    for rule in ("skip", "zero"):
        scores = score_runs(SUITE, open_runs([write_judged(tmp_path / "runs", gaps)]), missing=rule)
        both[rule] = calibrate(scores, listed).models["alpha"]["letters"].fit
    share = (N_OF_CATEGORY - 4) / N_OF_CATEGORY
    assert both["zero"].mean == pytest.approx((share * (both["skip"].mean / 4 + 75) - 75) * 4)
