"""Evaluators, and plain and weighted averages, are compared on the perturbations that all of them have."""

from dataclasses import replace

import pytest
from makers.tested_evaluators import (
    ByText,
    a_collection,
    a_plan,
    column,
    discerned,
    length,
    letters,
    similarity,
    some_items,
    written,
)
from pfgen_fast import DiscernmentError
from pfgen_fast.lab.discernment.combined import agreement, common_rows, comparison_warnings
from pfgen_fast.lab.discernment.discernment_items import Collection
from pfgen_fast.lab.discernment.discernment_plan import Perturbation, Plan
from pfgen_fast.lab.discernment.discernment_result import COMMON_COLUMNS
from pfgen_fast.lab.discernment.running import discern
from pfgen_fast.lab.discernment.weights import open_weights
from pfgen_fast.lab.statistics.discernment_scores import average
from pfgen_fast.report.discernment.discernment_writing import finding_of

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
    for result, (row, *_), n_own in zip((first, second), rows, (9, 5), strict=True):
        assert (row["scope"], row["n_own"], row["n_common"]) == ("all", n_own, 5)
        assert (row["average"], row["minimum"]) == pytest.approx(average(*zip(*scores_of(result, FIVE), strict=True)))
        assert row["average_low"] <= row["average"] <= row["average_high"]
    assert column(first.summary, "n_defined")[0] == 9  # the summary is of each evaluator alone
    agreed = agreement(first, second)["headlines"]
    assert agreed.n_perturbations == 5
    assert agreed.difference == pytest.approx(rows[0][0]["average"] - rows[1][0]["average"])
    finding = finding_of([first, second])
    (table,) = (shown_table for shown_table in finding.shown_tables if shown_table.name == "common")
    assert [row[1] for row in table.rows] == ["5 of 9", "5"]
    assert ", on the 5 of 9 kinds and degrees that all have." in finding.answer
    assert any("have: ByText 5 of 9." in note or "5 of 9" in note for note in finding.notes)
    bars = next(picture for picture in finding.pictures if picture.name == "bars")
    assert bars.title == "Average and minimum of d, on the kinds and degrees that all have"
    assert bars.chart.panels[0].series[0].values.tolist() == [part[0]["average"] for part in rows]


def test_evaluators_without_a_common_perturbation_are_not_compared():
    listed = [discerned(ByText({"length": length}), plan=a_plan(name)) for name in ("loop/200", "truncate/400")]
    assert [common_row[0]["n_common"] for common_row in common_rows(listed)] == [0, 0]
    assert agreement(*listed) == {}
    finding = finding_of(listed)
    assert "have no kind and degree in common, so nothing is compared." in finding.notes[0]
    assert finding.answer == "No evaluator has a discernment score."


def test_a_task_whose_originals_have_no_score_is_left_out_with_a_warning():
    items = [*some_items(12), *(replace(item, id=f"{item.id} b", task="other") for item in some_items(12))]
    half = {"half": lambda item, text: length(item, text) if item.task == "headlines" else float("nan")}
    first, second = (discerned(ByText(part), items, a_plan(*FIVE)) for part in (half, {"length": length}))
    assert set(column(first.cells, "task")) == {"headlines"}
    assert "Task other: no original has a score, so the task is left out." in first.warnings
    assert list(agreement(first, second)) == ["headlines"]
    assert {row["task"] for common_row in common_rows([first, second]) for row in common_row} == {"headlines"}
    assert finding_of([first, second]).answer.startswith("Of 2 results for the task headlines, ")


def test_weighted_and_plain_averages_and_their_difference_are_of_the_same_perturbations(tmp_path):
    lines = "".join(f"headlines,{name.partition('/')[0]},letters,3\n" for name in FIVE)
    weights = open_weights(written(tmp_path / "w.csv", f"task,perturbation,metric,weight\n{lines}"))
    evaluator = ByText({"letters": letters, "similarity": similarity})
    result = discerned(evaluator, a_collection(20), plan=a_plan(*NINE), weights=weights)
    plain, weighted, difference = (row for row in common_rows([result])[0] if row["scope"] == "all")
    assert (plain["n_own"], weighted["n_own"], plain["n_common"], weighted["n_common"]) == (9, 5, 5, 5)
    assert difference["average"] == pytest.approx(weighted["average"] - plain["average"])
    assert difference["average_low"] <= difference["average"] <= difference["average_high"]
    assert difference["minimum"] is None
    expected = average(*zip(*scores_of(result, FIVE, "weighted_d"), strict=True))
    assert (weighted["average"], weighted["minimum"]) == pytest.approx(expected)
    other = discerned(ByText({"length": length}), a_collection(20), plan=a_plan(*NINE[1:]))
    plain, others = (rows[0] for rows in common_rows([result, other]))
    agreed = agreement(result, other)["headlines"]
    assert (agreed.n_perturbations, agreed.difference) == (4, pytest.approx(plain["average"] - others["average"]))
    third = discerned(ByText({"length": length}), a_collection(20), plan=a_plan(*NINE))
    assert agreement(other, third, compared=[result])["headlines"].n_perturbations == 4


PLAN = a_plan("char_delete", "word_drop", "sentence_repeat", "newline")


def found_by(functions, collection=None, plan=PLAN, **options):
    return discern(ByText(functions), collection or a_collection(20), plan, **options)


def test_the_difference_of_averages_does_not_depend_on_the_order_of_the_items():
    first, second = found_by({"similarity": similarity}), found_by({"length": length, "letters": letters})
    result = agreement(first, second)["headlines"]
    averages = [column(item.summary, "average")[0] for item in (first, second)]
    assert result.difference == pytest.approx(averages[0] - averages[1])
    assert result.low < result.difference < result.high
    turned = agreement(second, first)["headlines"]
    assert (turned.low, turned.tau) == (pytest.approx(-result.high), result.tau)
    third = found_by({"length": length}, plan=a_plan("char_delete/30", "truncate"))
    assert agreement(first, third)["headlines"].n_perturbations == 1  # of the common ones
    backwards = Collection(first.scored.collection.items[::-1], "backwards")
    turned = found_by({"length": length, "letters": letters}, backwards)
    result, again = (agreement(first, item)["headlines"] for item in (second, turned))
    assert vars(again) == pytest.approx(vars(result))


def test_a_comparison_of_different_numbers_of_items_is_warned_of():
    first = found_by({"similarity": similarity})
    assert comparison_warnings([first, first]) == ()
    fewer = found_by({"length": length}, a_collection(19))
    with pytest.raises(DiscernmentError, match="evaluators by text and by text were tested on different items"):
        agreement(first, fewer)
    (warning,) = comparison_warnings([first, fewer])
    assert warning.endswith("they grow with the number of items, which differs (by text 20, by text 19).")
    others = Collection.of([replace(item, id=f"other {item.id}") for item in a_collection(20).items])
    (warning,) = comparison_warnings([first, found_by({"length": length}, others)])
    assert warning.startswith("The tests have different items")
    fewer = found_by({"length": length}, plan=a_plan("char_delete/30"))
    assert comparison_warnings([first, fewer]) == ()  # they are compared on the common perturbations
    amounts = [Plan((Perturbation("char_delete", "minor", k=k),)) for k in (1, 2)]
    for result in (
        [first, found_by({"length": length}, seed=1)],
        [found_by({"length": length}, plan=plan) for plan in amounts],
    ):
        (warning,) = comparison_warnings(result)
        assert warning.startswith("The tests have different seeds or amounts of damage")
