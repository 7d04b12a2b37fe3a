"""The figures of a result, and the comparison of evaluators on the perturbations that all of them have."""

import math
from dataclasses import replace

import numpy as np
import pytest
from makers.tested_evaluators import (
    ByText,
    a_collection,
    a_plan,
    column,
    discerned,
    length,
    letters,
    row_with,
    similarity,
    some_items,
)
from pfgen_fast import DiscernmentError
from pfgen_fast.lab.discernment import discernment_result as result
from pfgen_fast.lab.discernment.combined_metrics import common_rows, difference_rows
from pfgen_fast.lab.discernment.discernment_plan import Plan
from pfgen_fast.lab.discernment.discernment_result import COMMON_COLUMNS
from pfgen_fast.lab.discernment.kinds import Perturbation
from pfgen_fast.lab.discernment.perturbing import Damage, texts_of
from pfgen_fast.lab.discernment.weights import open_weights
from pfgen_fast.lab.evaluators.evaluator import Metric
from pfgen_fast.lab.statistics.discernment_scores import average
from pfgen_fast.report.discernment.discernment_writing import finding_of


@pytest.fixture
def weights(tmp_path):
    file = tmp_path / "weights.csv"
    file.write_text("task,perturbation,metric,weight\nheadlines,char_delete,similarity,3\n")
    return open_weights(file)


def test_the_tables_have_their_columns_and_a_row_for_each_perturbation_and_metric():
    evaluator = ByText({"similarity": similarity, "length": length})
    outcome = discerned(evaluator, plan=a_plan("char_delete", "sentence_repeat", "identity", "newline"))
    written = (outcome.cells, outcome.perturbations, outcome.summary, outcome.profile)
    columns = (result.CELL_COLUMNS, result.PERTURBATION_COLUMNS, result.SUMMARY_COLUMNS, result.PROFILE_COLUMNS)
    assert tuple(tuple(rows[0]) for rows in written) == columns
    assert (len(outcome.cells), len(outcome.perturbations)) == (2 * 12, 12)
    assert column(outcome.profile, "kind") == ["char_delete", "char_delete", "sentence_repeat", "sentence_repeat"]
    numbers = [value for rows in written for row in rows for value in row.values()]
    assert not any(isinstance(value, float) and math.isnan(value) for value in numbers)
    assert {type(value) for value in numbers} <= {str, int, float, bool, type(None)}


def test_an_evaluator_with_constant_scores_never_moves():
    outcome = discerned(ByText({"rating": lambda item, text: 3.0}), plan=a_plan("char_delete", "newline"))
    assert set(column(outcome.cells, "d")) == set(column(outcome.perturbations, "d")) == {0.0}
    assert row_with(outcome.summary, score="d", scope="all")["average"] == 0
    assert set(column(outcome.cells, "exact_d")) == {0.0}
    assert set(column(outcome.cells, "rank_biserial")) == {None}
    assert column(outcome.profile, "verdict") == ["not noticed"]
    assert "Task headlines: rating never moves: no damage changes a score." in outcome.warnings


def test_items_that_share_a_question_are_one_cluster():
    items = [replace(item, question="?") for item in some_items(12)]
    outcome = discerned(items=items, plan=a_plan("char_delete"))
    assert set(column(outcome.cells, "noticed")) == {False}
    assert "Task headlines: the 12 items share 1 question, too few for a test: " in outcome.warnings[-1]
    assert all(column(discerned(items=some_items(12), plan=a_plan("char_delete")).cells, "noticed"))


def test_a_mean_of_metrics_has_cells_of_its_own_and_is_not_combined():
    functions = {"similarity": similarity, "length": length, "mean": lambda item, text: 5.0}
    metrics = [Metric("similarity"), Metric("length"), Metric("mean", combined=False)]
    outcome = discerned(ByText(functions, metrics=metrics), plan=a_plan("char_delete/300"))
    assert column(outcome.cells, "metric") == ["similarity", "length", "mean"]
    assert row_with(outcome.cells, metric="mean")["d"] == 0
    d = [row["d"] for row in outcome.cells][:2]
    p = [20**-item for item in d]
    row = row_with(outcome.perturbations)
    assert row["d"] == pytest.approx(-math.log(2 / sum(1 / item for item in p)) / math.log(20))
    assert row["printed_d"] == pytest.approx(row["d"] + math.log(2) / math.log(20))
    assert row["calibrated_d"] == pytest.approx(row["d"] - math.log(2) / math.log(20))
    assert row["weighted_d"] is None


def test_with_one_metric_weighted_and_plain_scores_agree(weights):
    outcome = discerned(weights=weights, plan=a_plan("char_delete", "word_drop/50", "newline"))
    assert outcome.weights == "weights.csv"
    assert any("none of its metrics for word_drop" in note for note in outcome.notes)
    weighted = column(outcome.perturbations, "weighted_d")
    assert weighted == [*(pytest.approx(d, rel=1e-12) for d in column(outcome.perturbations, "d")[:5]), None, None]
    assert {row["score"] for row in outcome.summary} == {"d", "printed_d", "weighted_d"}
    assert row_with(outcome.summary, score="weighted_d", scope="all")["n_defined"] == 5


@pytest.mark.parametrize("n_items", [12, 40])
def test_an_interval_holds_its_figure(n_items):
    evaluator = ByText({"similarity": similarity, "letters": letters, "length": lambda item, text: -float(len(text))})
    outcome = discerned(evaluator, some_items(n_items), a_plan("char_delete", "word_swap", "newline"))
    for table, name, end in (
        *((outcome.cells, "mean_drop", "drop"), (outcome.cells, "d", "d")),
        *((outcome.perturbations, "d", "d"), (outcome.summary, "average", "average")),
    ):
        for row in table:
            if row.get("score", "d") == "d":
                assert row[f"{end}_low"] <= row[name] + 1e-9, row
                assert row[name] <= row[f"{end}_high"] + 1e-9, row


def test_scores_as_large_as_floats_are_computed_or_refused():
    def huge(original_value, damaged_value):
        return ByText({"huge": lambda item, text: original_value if text == item.text else damaged_value})

    outcome = discerned(huge(1e100, -1e100), plan=a_plan("char_delete", "newline"))
    assert row_with(outcome.cells, degree="300")["mean_drop"] == pytest.approx(2e100)
    for rows in (outcome.cells, outcome.perturbations, outcome.summary):
        assert all(math.isfinite(value) for row in rows for value in row.values() if isinstance(value, float))
    assert finding_of([outcome]).answer
    for scores, which in (((1e308, 1.0), "original"), ((1.0, -1e308), "damaged text")):
        with pytest.raises(DiscernmentError, match=f"no {which} has a score; expected numbers of at most 1e"):
            discerned(huge(*scores))


def test_levels_have_the_same_weight_in_the_average_and_controls_have_none():
    functions = {"similarity": similarity}
    outcome = discerned(ByText(functions), plan=a_plan("char_delete", "word_drop/50", "newline", "sentence_delete/200"))
    d = {row["kind"] + "/" + row["degree"]: row["d"] for row in outcome.perturbations}
    total = row_with(outcome.summary, score="d", scope="all")
    character_mean = sum(d[f"char_delete/{degree}"] for degree in (10, 30, 70, 150, 300)) / 5
    assert total["average"] == pytest.approx((character_mean + d["word_drop/50"] + d["sentence_delete/200"]) / 3)
    assert total["minimum"] == min(value for name, value in d.items() if name != "newline/")
    assert d[total["minimum_at"]] == total["minimum"]
    assert row_with(outcome.summary, score="d", scope="level:character")["average"] == pytest.approx(character_mean)
    scopes = [row["scope"] for row in outcome.summary if row["score"] == "d"]
    assert scopes == [
        *("all", "level:character", "level:word", "level:sentence"),
        *("degree:10", "degree:30", "degree:50", "degree:70", "degree:150", "degree:200", "degree:300"),
    ]


def test_examples_are_the_largest_and_the_smallest_drop_of_each_cell():
    outcome = discerned(plan=a_plan("char_delete/300", "newline"))
    largest, smallest = (example for example in outcome.scored.examples if example.perturbation == "char_delete/300")
    assert (largest.which, smallest.which) == ("largest", "smallest")
    damage = Damage(a_collection(), a_plan("char_delete/300"))
    texts = {(item, perturbation): text for item, perturbation, text in texts_of(damage)}
    drops = {item.id: 1 - similarity(item, texts[item.id, "char_delete/300"]) for item in a_collection().items}
    assert drops[largest.item] == max(drops.values())
    assert drops[smallest.item] == min(drops.values())
    assert largest.damaged == texts[largest.item, "char_delete/300"]
    assert largest.original == texts[largest.item, "original"]
    assert largest.original_score - largest.damaged_score == pytest.approx(drops[largest.item])


def test_a_curve_is_of_the_scores_as_they_are_over_the_items_that_have_all_degrees():
    long, short = some_items(12), [replace(item, id=f"short {item.id}", text="Ice sank.") for item in some_items(12)]
    plan = Plan(tuple(Perturbation("word_drop", f"k{k}", k=k) for k in (1, 2, 3)))
    outcome = discerned(ByText({"length": length}), [*long, *short], plan)
    (curve,) = outcome.curves
    assert curve.n_items == 12
    assert curve.names == ("original", "k1", "k2", "k3")
    assert curve.permille.tolist() == [0, 1, 2, 3]
    assert curve.mean[0] == np.mean([len(item.text) for item in long])
    assert list(curve.mean) == sorted(curve.mean, reverse=True)
    by_rate = discerned(plan=a_plan("char_delete")).curves[0]
    assert by_rate.permille.tolist() == [0, 10, 30, 70, 150, 300]
    assert (by_rate.mean_low <= by_rate.mean).all()
    assert (by_rate.mean <= by_rate.mean_high).all()
    one_question = [replace(item, question="Why?") for item in some_items(12)]
    assert np.isnan(discerned(items=one_question, plan=a_plan("char_delete")).curves[0].mean_low).all()
    lower = ByText({"length": length}, metrics=[Metric("length", higher_is_better=False)])
    (curve,) = discerned(lower).curves
    (expected,) = discerned(ByText({"length": length})).curves
    assert curve.mean.tolist() == expected.mean.tolist()


def test_the_profile_says_what_is_noticed_rewarded_or_not_seen():
    metrics = {
        "length": length,
        "shortness": lambda item, text: -length(item, text),
        "much": lambda item, text: float(min(len(text), 60)),
        "nothing": lambda item, text: float(len(item.text)),
    }
    outcome = discerned(ByText(metrics), a_collection(24), plan=a_plan("truncate"))
    profile = {row["metric"]: (row["verdict"], row["noticed_from"]) for row in outcome.profile}
    assert profile["length"] == ("notices", "100")
    assert profile["shortness"] == ("rewards", None)
    assert profile["much"][0] == "needs much"
    assert profile["nothing"] == ("not noticed", None)


# ---- Evaluators, and plain and weighted averages, are compared on what all have

NINE = ("char_delete/30", "char_swap/30", "char_repeat/70", "word_drop/200", "word_swap/100", "word_repeat/200",
        "sentence_delete/400", "sentence_reorder/1000", "truncate/400")  # fmt: skip
FIVE = NINE[:3] + NINE[6:8]


def scores_of(result, names, score="d"):
    return [(row[score], row["level"]) for row in result.perturbations if f"{row['kind']}/{row['degree']}" in names]


def test_an_evaluator_with_five_of_nine_perturbations_is_compared_on_these_five():
    first = discerned(ByText({"length": length}), a_collection(20), plan=a_plan(*NINE, "newline"))
    second = discerned(ByText({"letters": letters}), a_collection(20), plan=a_plan(*FIVE[::-1]))
    rows = common_rows([first, second])
    assert {tuple(row) for part in rows for row in part} == {COMMON_COLUMNS}
    for outcome, (row, *_), n_own in zip((first, second), rows, (9, 5), strict=True):
        assert (row["n_own"], row["n_common"]) == (n_own, 5)
        assert (row["average"], row["minimum"]) == pytest.approx(average(*zip(*scores_of(outcome, FIVE), strict=True)))
        assert row["average_low"] <= row["average"] <= row["average_high"]
    assert column(first.summary, "n_defined")[0] == 9  # the summary is of each evaluator alone
    (row,) = difference_rows([first, second])
    assert row["n_common"] == 5
    assert row["difference"] == pytest.approx(rows[0][0]["average"] - rows[1][0]["average"])
    assert row["low"] < row["difference"] < row["high"]
    (turned,) = difference_rows([second, first])
    assert turned["low"] == pytest.approx(-row["high"])
    finding = finding_of([first, second])
    (table,) = (shown_table for shown_table in finding.shown_tables if shown_table.name == "common")
    assert [row["n_own"] for row in table.to_dicts()] == [9, 5]
    assert "the highest average d, " in finding.sentences[0]
    averages = next(picture for picture in finding.pictures if picture.name == "averages")
    assert averages.title == "Average d, on the kinds and degrees that all have, with 95 % intervals"
    assert averages.chart.values.tolist() == [part[0]["average"] for part in rows]


def test_evaluators_without_a_common_perturbation_are_not_compared():
    listed = [discerned(ByText({"length": length}), plan=a_plan(name)) for name in ("loop/200", "truncate/400")]
    assert [common_row[0]["n_common"] for common_row in common_rows(listed)] == [0, 0]
    assert list(difference_rows(listed)) == []
    finding = finding_of(listed)
    assert "The evaluators have no discernment score in common." in finding.sentences


def test_a_task_whose_originals_have_no_score_is_left_out_with_a_warning():
    items = [*some_items(12), *(replace(item, id=f"{item.id} b", task="other") for item in some_items(12))]
    half = {"half": lambda item, text: length(item, text) if item.task == "headlines" else float("nan")}
    first, second = (discerned(ByText(part), items, a_plan(*FIVE)) for part in (half, {"length": length}))
    assert set(column(first.cells, "task")) == {"headlines"}
    assert "Task other: no original has a score, so the task is left out." in first.warnings
    assert column(difference_rows([first, second]), "task") == ["headlines"]
    assert {row["task"] for common_row in common_rows([first, second]) for row in common_row} == {"headlines"}
    assert "the highest average d for the task headlines, " in finding_of([first, second]).sentences[0]


def test_tests_of_different_items_have_no_difference():
    first, fewer = (discerned(items=a_collection(n), plan=a_plan("char_delete")) for n in (20, 19))
    assert list(difference_rows([first, fewer])) == []
