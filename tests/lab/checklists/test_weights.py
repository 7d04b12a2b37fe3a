"""Weights and calibrated scores from people's marks: figures, files of marks, and commands."""

import csv
import io
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.own_checklists import N_OF_CATEGORY, judged_models, own_suite, own_suite_in, suite_of_36, write_judged
from makers.people import marked, row_of, write_rows
from makers.published import needs_hellobench, vectors
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.calibration import calibrate
from pfgen_fast.lab.checklists.checklist_runs import open_runs
from pfgen_fast.lab.checklists.checklist_scoring import ChecklistScores, score_judged_runs
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite, write_suite
from pfgen_fast.lab.checklists.fitting import bounded_fit, fit_suite, fit_weights
from pfgen_fast.lab.checklists.marks import Mark, People, read_marks
from pfgen_fast.lab.checklists.tasks import sha256_of
from pfgen_fast.lab.statistics.prediction_powered import MarkedStratum, mean_of_strata


def people(
    suite: ChecklistSuite,
    coefficients: Mapping[tuple[str, str], Sequence[float]],
    *,
    n_answers: int = 12,
    annotators: Sequence[str] = ("a", "b"),
    noise: float = 0.0,
) -> People:
    """Marks of answers to the first task of each category: the coefficients times verdicts, and noise."""
    chance = random.Random(0)
    tasks = {(task.area, task.category): task for task in reversed(suite.tasks) if task.length is None}
    listed = []
    for key, raw in coefficients.items():
        task = tasks[key]
        for number in range(n_answers):
            answer = sha256_of(f"{task.id} {number}")
            for annotator in annotators:
                verdicts = tuple(chance.choice(suite.levels) for _ in raw)
                exact = sum(w * v for w, v in zip(raw, verdicts, strict=True))
                overall = min(10.0, max(0.0, exact + chance.gauss(0, noise)))
                listed.append(marked(task, answer, annotator, verdicts, overall))
    return People(tuple(listed))


@needs_hellobench
def test_the_worked_examples_follow_and_open_weights_fit_as_well_and_are_equal() -> None:
    n_open = 0
    for case in vectors("regression")["cases"]:
        fitted, expected = fit_weights(case["x"], case["y"]), case["fit"]
        assert fitted.mse == pytest.approx(expected["mse"], abs=1e-9)
        assert fitted.r2 == pytest.approx(expected["r2"], abs=1e-9)
        assert fitted.rank == expected["rank"]
        assert fitted.raw == pytest.approx(expected["bvls"], abs=1e-9)
        if fitted.is_identified:
            assert fitted.raw == pytest.approx(expected["weights"], abs=1e-9)
            assert fitted.raw == pytest.approx(expected["published_procedure"], abs=1e-4)
            assert fitted.weights == pytest.approx(expected["normalised"], abs=1e-9)
            assert fitted.at_bound == tuple(expected["at_bound"])
        else:
            n_open += 1
            assert fitted.weights == pytest.approx((50, 50))
    assert n_open == 1


def test_weights_have_the_sum_100_equal_marks_no_r2_and_another_bound_is_kept() -> None:
    fitted = fit_weights([[1, 1, 0.5], [0.5, 1, 0], [0, 0.5, 1], [1, 0, 1]], [7, 4, 5, 7])
    assert (sum(fitted.weights), fitted.n_rows) == (pytest.approx(100), 4)
    assert fitted.perfect_mark == pytest.approx(sum(fitted.raw))
    fitted = fit_weights([[1, 0.5], [0.5, 1]], [6, 6])
    assert (fitted.r2, fitted.mse) == (None, pytest.approx(0))
    fitted = fit_weights([[1, 0], [0, 1], [1, 1]], [3, 0, 3], bound=0)
    assert (fitted.raw, fitted.at_bound) == (pytest.approx((3, 0)), (False, True))
    beyond = fit_weights([[1, 1], [1, 0], [0.5, 0]], [11.3, 4.0, -0.7])  # simulated marks, not whole numbers
    assert beyond.perfect_mark == pytest.approx(11.3, abs=1)


@pytest.mark.parametrize(
    ("verdicts", "marks", "message"),
    [
        ([], [], r"verdicts of the shape \(0,\), marks of the shape \(0,\); expected a row"),
        ([[1, 0]], [1, 2], r"verdicts of the shape \(1, 2\), marks of the shape \(2,\)"),
        ([[1, 0], [1]], [1, 2], "verdicts or marks are not numbers"),
        ([[1, None]], [1], "the verdict nan; expected"),
        ([[1], [2]], [1, 1], "the verdict 2; expected a row of verdicts from 0 to 1"),
        ([[1], [1]], [1, 13], "the mark 13; "),
    ],
)
def test_bad_marks_are_named(verdicts: Any, marks: Any, message: str) -> None:
    with pytest.raises(ChecklistError, match=f"^{message}"):
        fit_weights(verdicts, marks)


@pytest.mark.parametrize(("bound", "message"), [(-1, "the bound"), (11, "the bound"), (0, "all weights are 0")])
def test_an_invalid_bound_and_weights_of_zero_are_refused(bound: float, message: str) -> None:
    with pytest.raises(ChecklistError, match=message):
        fit_weights([[1]], [0], bound=bound)


@given(st.integers(0, 10**6), st.sampled_from([5, 15]), st.integers(1, 7), st.sampled_from([0.0, 0.5, 2.0]))
def test_no_coefficient_can_be_improved(seed: int, n_rows: int, n_columns: int, bound: float) -> None:
    """The conditions of Karush, Kuhn and Tucker, also where the data leave the coefficients open."""
    rng = np.random.default_rng(seed)
    x = rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], size=(n_rows, n_columns), p=[0.05, 0.1, 0.15, 0.3, 0.4])
    y = np.rint(x @ rng.uniform(-1, 3, n_columns) + rng.normal(0, 0.7, n_rows))
    fit = bounded_fit(x, y, bound)
    gradient = x.T @ (x @ np.array(fit.raw) - y)
    for slope, weight, at_bound in zip(gradient, fit.raw, fit.at_bound, strict=True):
        assert weight == bound if at_bound else weight > bound
        assert slope > -1e-6 if at_bound else abs(slope) < 1e-6


@pytest.mark.parametrize(
    ("verdicts", "marks", "rank", "raw"),
    [
        ([[1, 0, 0], [0, 1, 1]], [6, 1.2], 2, (6, 0.6, 0.6)),  # the nearest to equal ones would be below the bound
        ([[1, 0, 0], [0, 1, 0.5]], [6, 0.75], 2, (6, 0.5, 0.5)),
        ([[1, 0], [0.5, 0]], [6, 3], 1, (6, 6)),
        ([[0, 0], [0, 0]], [3, 5], 0, (0.5, 0.5)),
    ],
)
def test_what_is_left_open_keeps_the_bound_or_gets_the_mean_of_the_others(
    verdicts: Any, marks: Any, rank: int, raw: tuple[float, ...]
) -> None:
    fit = fit_weights(verdicts, marks)
    assert (fit.rank, fit.raw) == (rank, pytest.approx(raw))


SUITE = own_suite()
THANKS, REQUESTS, WEATHER = ("letters", "thanks"), ("letters", "requests"), ("reports", "weather")
RULE = {THANKS: (3.0, 2.0, 5.0), REQUESTS: (6.0, 3.0)}


def test_the_rule_that_people_followed_comes_back() -> None:
    fit = fit_suite(SUITE, people(SUITE, RULE))
    assert fit.weights[THANKS] == pytest.approx((30, 20, 50))
    assert fit.weights[REQUESTS] == pytest.approx((200 / 3, 100 / 3))
    assert WEATHER not in fit.weights
    assert fit.notes == ("1 of 3 categories have no marks, and keep their weights",)


ROW = {"id": "letter_1", "response_sha256": "0a", "annotator": "a", "category": "thanks"}
ROW |= {"verdicts": [1, 0.5, 0.25], "overall": 7}


def read_back(path: Path, *rows: dict[str, Any]) -> Any:
    return read_marks([write_rows(path / "marks.jsonl", rows)], SUITE)


def test_equal_marks_count_once(tmp_path: Path) -> None:
    (mark, other) = read_back(tmp_path, ROW, ROW, {**ROW, "annotator": "b"}).marks
    assert (mark.verdicts, mark.overall, other.annotator) == ((1, 0.5, 0.25), 7, "b")


@pytest.mark.parametrize("cell", ["[1, 0.5, 0.25]", "1 0.5 0.25", "1;0.5;0.25", "1, 0.5, 0.25"])
def test_a_cell_of_a_csv_file_holds_all_verdicts(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "marks.csv"
    path.write_text(f'id,response_sha256,annotator,verdicts,overall\nletter_1,0a,a,"{cell}",7\n')
    (mark,) = read_marks([path], SUITE).marks
    assert (mark.verdicts, mark.overall, mark.area, mark.category) == ((1, 0.5, 0.25), 7, "letters", "thanks")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": "letter_7"}, "line 1: unknown task 'letter_7'; expected one of letter_3"),
        ({"length": "8k"}, "line 1: the task letter_1 has no length '8k'; expected no length"),
        ({"verdicts": [1, 0.5]}, "line 1: verdicts: expected 3, one for each question, not 2"),
        ({"verdicts": [1, 3, 0]}, r"line 1: verdicts\[1\]: 3; expected a number from 0 to 1; divide verdicts"),
        ({"verdicts": [1, -0.25, 0]}, r"line 1: verdicts\[1\]: -0.25; expected a number from 0 to 1; "),
        ({"overall": 11}, "line 1: overall: 11; expected a number from 0 to 10"),
    ],
)
def test_a_bad_mark_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ChecklistError, match=rf"marks\.jsonl, {message}"):
        read_back(tmp_path, {**ROW, **changes})


@pytest.fixture
def suite(tmp_path: Path) -> ChecklistSuite:
    return own_suite_in(tmp_path / "suite")


@pytest.fixture
def marks(tmp_path: Path, suite: ChecklistSuite) -> Path:
    return write_rows(tmp_path / "marks.jsonl", list(map(row_of, people(suite, RULE, noise=0.5).marks)))


@pytest.mark.slow
def test_fit_writes_weights_and_suites(call: Any, tmp_path: Path, marks: Path) -> None:
    common = ("checklists", "fit", marks, "--suite", tmp_path / "suite")
    code, out, err = call(*common)
    assert code == 0
    assert "48 marks of 2 annotators define the weights of 2 of 2 categories" in out
    assert "1 of 3 categories have no marks" in err
    (tmp_path / "suite" / "guideline.md").write_text("# Our rules\n")
    parsed = json.loads(call(*common, "--json", "--output", tmp_path / "fitted")[1])
    weights: dict[str, list[float]] = {}
    for row in parsed["tables"]["weights"]:
        weights.setdefault(row["category"], []).append(row["weight"])
    before, fitted = (ChecklistSuite.load(tmp_path / name) for name in ("suite", "fitted"))
    assert (fitted.checklists[WEATHER], fitted.hash == before.hash) == (before.checklists[WEATHER], False)
    assert list(fitted.checklists[THANKS].weights) == weights["thanks"]
    assert (tmp_path / "fitted" / "guideline.md").read_text() == "# Our rules\n"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "guideline.md").write_text("# My own notes\n")
    assert "is not the folder of a suite" in call(*common, "-o", tmp_path / "notes")[2]
    assert (tmp_path / "notes" / "guideline.md").read_text() == "# My own notes\n"
    assert call(*common, "--output", tmp_path / "weights.json")[0] == 0
    assert json.loads((tmp_path / "weights.json").read_text())["letters"] == weights


def test_fit_writes_no_weights_that_marks_leave_open(call: Any, tmp_path: Path, suite: ChecklistSuite) -> None:
    few = people(suite, {THANKS: (3.0, 2.0, 5.0)}, n_answers=1).marks
    path = write_rows(tmp_path / "marks.jsonl", list(map(row_of, few)))
    common = ("checklists", "fit", path, "--suite", tmp_path / "suite", "-o", tmp_path / "w.json")
    code, out, err = call(*common)
    assert code == 2
    assert "not defined: rank 2 of 3" in out
    assert "letters/thanks: 2 marks define only 2 of 3 weights" in err
    assert not (tmp_path / "w.json").exists()


# ---- Scores that few marks of people calibrate

JUDGED_SUITE = suite_of_36((40.0, 30.0, 20.0, 10.0))
JUDGED = judged_models(JUDGED_SUITE)
WEIGHTS = (40, 30, 20, 10)


def lower_marks(model: str, n: int, annotator: str = "a", shift: float = 0.25) -> Iterator[Mark]:
    """Marks of the first answers in each category: those of the judge, lower by a level or two."""
    for item in JUDGED[model]:
        task = JUDGED_SUITE.by_key[item.id, None]
        if int(item.id[-3:]) < n:
            lower = shift * (1 + int(item.id[-2:]) % 2)
            verdicts = tuple(max(0.0, verdict - lower) for verdict in item.verdicts or ())
            yield marked(task, item.response_sha256, annotator, verdicts, 5)


@pytest.fixture
def scores(tmp_path: Path) -> ChecklistScores:
    return score_judged_runs(JUDGED_SUITE, open_runs([write_judged(tmp_path / "runs", JUDGED)]))


def score(verdicts: tuple[float, ...]) -> float:
    return (sum(w * v for w, v in zip(WEIGHTS, verdicts, strict=True)) - 75) * 4


def test_a_calibrated_score_is_that_of_the_weighted_marks_with_areas_as_strata(scores):
    listed = [*lower_marks("alpha", 6), *lower_marks("alpha", 6, "b", shift=0.5)]
    actual = calibrate(scores, listed).models["alpha"]
    strata = {}
    for area in ("letters", "stories"):
        items = [item for item in JUDGED["alpha"] if JUDGED_SUITE.by_key[item.id, None].area == area]
        case = {item.id: [score(mark.verdicts) for mark in listed if mark.id == item.id] for item in items}
        truth = [sum(values) / 2 for values in case.values() if values]
        verdicts = {item.id: score(item.verdicts) for item in items}
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
    some = [mark for mark in lower_marks("beta", 3) if mark.area == "letters"]
    item = list(lower_marks("gamma", 1))
    stale = replace(some[0], response_sha256="f" * 64, annotator="c")
    result = calibrate(scores, [*lower_marks("alpha", 8), *some, *item, stale])
    fits = {model: parts[""].fit for model, parts in result.models.items()}
    assert (fits["alpha"].n, fits["beta"], fits["gamma"].low, fits["delta"]) == (24, None, None, None)
    assert result.notes[-1] == "1 mark of answers that the judge has not judged, not used: complaint-000"
    assert result.models["beta"]["letters"].fit is not None
    with pytest.raises(ChecklistError, match="none of the 1 mark is of an answer that the judge has judged; exp"):
        calibrate(scores, [stale])


def test_the_command_shows_all_three_figures(tmp_path, call):
    write_judged(tmp_path / "runs", JUDGED)
    write_suite(JUDGED_SUITE, tmp_path / "suite")
    path = write_rows(tmp_path / "marks.jsonl", list(map(row_of, lower_marks("alpha", 6))))
    common = ("checklists", "table", tmp_path / "runs", "--suite", tmp_path / "suite")
    code, printed, _ = call(*common, "--calibrate", path, "--csv", tmp_path / "t.csv")
    assert code == 0
    assert "Calibrated by marks of people" in printed
    line = next(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text())))
    _, printed, _ = call(*common, "--calibrate", path, "--json")
    result = json.loads(printed)["rows"][0]
    assert float(line["calibrated_low"]) == result["calibrated_low"] < result["rescaled"]


def test_missing_answers_that_count_as_zero_are_zero_for_people_too(tmp_path):
    gaps = {"alpha": [item for item in JUDGED["alpha"] if int(item.id[-3:]) < N_OF_CATEGORY - 4]}
    listed = list(lower_marks("alpha", 6))
    both = {}
    for rule in ("skip", "zero"):
        scores = score_judged_runs(JUDGED_SUITE, open_runs([write_judged(tmp_path / "runs", gaps)]), missing=rule)
        both[rule] = calibrate(scores, listed).models["alpha"]["letters"].fit
    share = (N_OF_CATEGORY - 4) / N_OF_CATEGORY
    assert both["zero"].mean == pytest.approx((share * (both["skip"].mean / 4 + 75) - 75) * 4)
