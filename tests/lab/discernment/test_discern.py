"""Tests of evaluators from the first text to the last figure, and by finished tables of scores."""

import csv
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from makers.tested_evaluators import (
    ByText,
    a_collection,
    a_plan,
    column,
    discerned,
    given_texts,
    length,
    letters,
    row_with,
    similarity,
    some_items,
)
from pfgen_fast import DiscernmentError
from pfgen_fast.lab.discernment import damage_scoring as scoring
from pfgen_fast.lab.discernment import discern as running
from pfgen_fast.lab.discernment.discern import discern
from pfgen_fast.lab.discernment.discernment_items import Collection, CollectionItem
from pfgen_fast.lab.discernment.discernment_plan import Plan
from pfgen_fast.lab.discernment.perturbing import Damage, Perturbed, all_texts, texts_of
from pfgen_fast.lab.discernment.weights import open_weights
from pfgen_fast.lab.evaluators.evaluator import Metric, text_column
from pfgen_fast.lab.evaluators.table_evaluator import TableScores


def test_damage_is_noticed_and_a_metric_where_lower_is_better_is_turned_but_not_its_means():
    distance = ByText({"distance": lambda item, text: 1 - similarity(item, text)}, metrics=[Metric("distance", False)])
    result, turned = (row_with(discerned(item, a_collection(10)).cells, degree="300") for item in (None, distance))
    assert result["n_items"] == result["n"] == 10
    assert result["share_lower"] == result["rank_biserial"] == result["mean_original"] == 1
    assert result["d"] == result["ceiling_d"] > 1
    assert result["exact_d"] == pytest.approx(10 * math.log(2) / math.log(20))
    assert (result["noticed"], result["few"]) == (True, False)
    assert result["mean_drop"] == pytest.approx(1 - result["mean_perturbed"])
    for name in ("d", "exact_d", "reverse_d", "share_lower", "r_plus"):
        assert turned[name] == result[name]
    assert turned["mean_drop"] == pytest.approx(result["mean_drop"])
    assert turned["mean_original"] == 0
    assert not math.copysign(1, turned["mean_original"]) < 0
    assert turned["mean_perturbed"] == pytest.approx(1 - result["mean_perturbed"])


def test_an_item_for_which_a_perturbation_is_impossible_takes_no_part():
    items = [*some_items(12), *(CollectionItem(f"mute {n}", "…!", "headlines", "en") for n in range(3))]
    result = discerned(ByText({"length": length}), items, a_plan("char_delete/300", "identity"))
    row = row_with(result.cells, kind="char_delete")
    assert (row["n_items"], row["n_impossible"], row["n_missing"], row["share_lower"]) == (12, 3, 0, 1.0)
    sources, texts = all_texts(Damage(items, a_plan("char_delete/300", "newline")))  # the originals, and each column
    assert [item.id for item in sources] == [item.id for item in items] * 3
    assert (texts.tolist()[:15], texts[29], texts[30]) == ([item.text for item in items], None, items[0].text + "\n")
    row = row_with(result.perturbations, kind="char_delete")
    assert (row["n_items"], row["n_impossible"], row["reason"]) == (12, 3, "nothing to damage")
    assert row_with(result.perturbations, kind="identity")["reason"] is None
    assert (len(result.scored.collection), result.scored.n_texts) == (15, 27)


def test_a_kind_that_is_impossible_for_all_is_listed_with_its_reason():
    items = [CollectionItem(str(n), f"Ice floats{'!' * n}", "headlines", "en") for n in range(12)]
    result = discerned(items=items, plan=a_plan("number_change", "char_delete/150", "char_delete/300"))
    row = row_with(result.perturbations, kind="number_change", degree="200")
    assert (row["n_items"], row["n_impossible"], row["d"], row["noticed"]) == (0, 12, None, None)
    assert row["reason"] == "nothing to damage"
    cell = row_with(result.cells, kind="number_change", degree="200")
    assert cell["d"] is cell["mean_drop"] is cell["few"] is cell["share_lower"] is None
    note = "Task headlines: The damage 'numbers changed' is impossible for all items: nothing to damage."
    assert note in result.notes
    total = row_with(result.summary, score="d", scope="all")
    assert (total["n_perturbations"], total["n_defined"]) == (7, 2)
    assert row_with(result.profile, kind="number_change")["verdict"] is None
    assert {curve.kind for curve in result.curves} == {"char_delete"}


def test_a_cell_with_too_few_items_is_undefined():
    texts = ["Ice does not float."] * 12 + [f"One and {n}7 seals swim." for n in range(6)]
    items = [CollectionItem(str(n), text, "headlines", "en") for n, text in enumerate(texts)]
    result = discerned(items=items, plan=a_plan("number_change/1000"))
    note = "Task headlines: 1 perturbation is undefined, because too few items have scores: all numbers changed."
    assert (column(result.cells, "d"), result.notes) == ([None], (note,))


def test_missing_scores_are_left_out_and_too_many_make_a_cell_undefined():
    def with_missing(n_missing, n_items):
        names = {f"item {number}" for number in range(n_missing)}

        def some_missing(item, text):
            return math.nan if item.id in names and text != item.text else similarity(item, text)

        return discerned(ByText({"similarity": some_missing}), a_collection(n_items), a_plan("char_delete/300"))

    for n_missing, n_items in ((2, 10), (3, 15)):
        some = with_missing(n_missing, n_items)
        cell = row_with(some.cells)
        assert (cell["n_items"], cell["n_missing"], cell["n"]) == (n_items, n_missing, n_items - n_missing)
        assert cell["noticed"]
        assert some.scored.n_missing == n_missing
    many = with_missing(4, 15)
    assert (column(many.cells, "d"), column(many.cells, "n_missing")) == ([None], [4])
    named = "because more than 20 % of the scores are missing: 30 % of characters deleted (similarity)."
    assert many.warnings == (f"Task headlines: 1 cell is undefined, {named}",)
    no_original = ByText({"length": lambda item, text: math.inf if text == some_items()[0].text else len(text)})
    result = discerned(no_original, a_collection(15), a_plan("char_delete"))
    assert (set(column(result.cells, "n_missing")), set(column(result.cells, "n_items"))) == ({1}, {15})


def test_too_few_items_are_an_error():
    with pytest.raises(DiscernmentError, match="some texts: 9 items, expected at least 10"):
        discerned(items=a_collection(9))


def test_neither_the_size_of_calls_nor_the_order_of_items_changes_a_figure(monkeypatch):
    plan = a_plan("char_delete", "word_drop", "answer_swap", "identity")
    expected = discerned(plan=plan)
    evaluator = ByText({"similarity": similarity})
    monkeypatch.setattr(scoring, "TEXTS_AT_A_TIME", 30)
    result = discerned(evaluator, plan=plan)
    assert max(evaluator.calls) == 24
    assert result.cells == expected.cells
    backwards = discerned(items=Collection(a_collection().items[::-1], "some texts"), plan=plan)
    assert column(backwards.cells, "d") == column(expected.cells, "d")
    assert backwards.signature == expected.signature


def test_the_signature_names_all_that_figures_depend_on(tmp_path, monkeypatch):
    weights = tmp_path / "weights.csv"
    weights.write_text("task,perturbation,metric,weight\nheadlines,char_delete,similarity,3\n")
    usual = {"plan": a_plan("char_delete/30", "answer_swap")}
    result = discerned(**usual)
    assert re.fullmatch(
        r"discernment:[^|]+\|collection:[0-9a-f]{64}\|plan:[0-9a-f]{64}\|seed:0\|evaluator:by text:\['similarity'\]"
        r"\|zeros:drop\|combine:harmonic\|weights:none",
        result.signature,
    )
    changes = [{"evaluator": ByText({"length": length})}, {"items": a_collection(13)}]
    changes += [{"plan": a_plan("char_delete/30")}, {"seed": 1}, {"weights": open_weights(weights)}]
    others = [discerned(**{**usual, **change}) for change in changes]
    assert column(result.cells, "mean_drop") != column(others[3].cells, "mean_drop")
    monkeypatch.setattr(running, "tables_hash", lambda: "other tables")
    others.append(discerned(**usual))
    assert len({result.signature, *(other.signature for other in others)}) == len(others) + 1


def test_each_task_has_tables_of_its_own_and_only_the_metrics_that_score_it():
    items = [*some_items(12), *(replace(item, id=f"s {item.id}", task="story") for item in some_items(11))]
    evaluator = ByText(
        {
            "similarity": lambda item, text: similarity(item, text) if item.task == "headlines" else math.nan,
            "length": lambda item, text: length(item, text) if item.task == "story" else math.nan,
            "letters": letters,
        }
    )
    result = discerned(evaluator, items, a_plan("char_delete/300"))
    assert [(row["task"], row["metric"], row["n_items"]) for row in result.cells] == [
        *(("headlines", "similarity", 12), ("headlines", "letters", 12)),
        *(("story", "length", 11), ("story", "letters", 11)),
    ]
    assert [row["d"] is None for row in result.perturbations] == [False, False]
    assert result.warnings == ()
    of_story = {example.metric for example in result.scored.examples if example.item.startswith("s ")}
    assert of_story == {"length", "letters"}


def test_texts_that_come_with_items_are_taken_as_they_are():
    items = [replace(item, perturbed={"typo/1": item.text[1:], "typo/2": item.text}) for item in some_items()]
    items[0] = replace(items[0], perturbed={})
    items[1] = replace(items[1], perturbed={"typo/1": " \n"})
    result = discerned(ByText({"length": length}), items, Plan((given_texts("typo/1"), given_texts("typo/2"))))
    first, second = result.perturbations
    assert (first["n_items"], first["n_impossible"], first["method"]) == (10, 2, "given")
    assert first["d"] > 2
    assert (second["n_items"], second["reason"]) == (0, "the text would be the same")
    assert {example.damaged for example in result.scored.examples} <= {item.text[1:] for item in items}


def test_kinds_of_a_model_need_a_model_and_their_texts_are_a_part_of_the_signature():
    plan = a_plan("paraphrase", "char_delete/30")
    with pytest.raises(DiscernmentError, match="paraphrase: a language model makes its texts; expected"):
        discerned(plan=plan)

    def by_model(suffix):
        def maker(items, perturbations):
            texts = text_column([None, *(item.text + suffix for item in items[1:])])
            impossible = np.array([3] + [0] * (len(items) - 1), dtype=np.uint8)
            return [Perturbed(texts, impossible) for _ in perturbations]

        return discerned(plan=plan, maker=maker)

    result = by_model(" So.")
    row = row_with(result.perturbations, kind="paraphrase")
    assert (row["n_items"], row["reason"]) == (11, "no usable reply")
    assert result.signature == by_model(" So.").signature != by_model(" Thus.").signature


def test_identity_is_scored_by_another_call():
    class Kept(ByText):
        def again(self):
            return ByText({"length": lambda item, text: length(item, text) + 1})

    evaluator = Kept({"length": length})
    result = discerned(evaluator, plan=a_plan("newline", "identity", "char_delete"))
    controls = [row for row in result.cells if row["level"] == "control"]
    assert [row["mean_drop"] for row in controls] == [-1, -1]
    assert row_with(controls, kind="identity")["reverse_d"] > 1
    assert column(result.cells, "kind") == ["newline", "identity", *["char_delete"] * 5]
    begin = "Task headlines: length is not repeatable: 12 of 12 originals got a different score when they were scored "
    assert result.warnings[0].startswith(begin)


# ---- Finished tables of scores: nothing is run, and the figures are those of a run

FUNCTIONS = {"similarity": similarity, "distance": lambda item, text: 1 - similarity(item, text)}
METRICS = (Metric("similarity"), Metric("distance", higher_is_better=False))


@pytest.fixture
def write(tmp_path):
    """Writes the scores of damaged texts, like a program that reads the output of `discern perturb`."""

    def write(*names, items=None, leave_out=(), extra=()):
        damage = Damage(items or a_collection(), a_plan(*names))
        by_id = {item.id: item for item in damage.collection.items}
        path = tmp_path / "scores.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["item", "perturbation", "metric", "score", "level"])
            for item, perturbation, text in texts_of(damage):
                for metric, function in FUNCTIONS.items():
                    if (item, perturbation) not in leave_out:
                        table.writerow([item, perturbation, metric, repr(function(by_id[item], text)), ""])
            table.writerows(extra)
        return TableScores(path, lower_is_better=["distance"])

    return write


def test_a_table_gives_the_figures_of_a_run(write):
    names = ("char_delete", "number_change", "answer_swap", "newline")
    table, plan = write(*names), a_plan(*names)
    result = discern(table, a_collection(), plan)
    expected = discern(ByText(FUNCTIONS, name="scores", metrics=METRICS), a_collection(), plan)
    for name in ("cells", "perturbations", "summary", "profile"):
        assert getattr(result, name) == getattr(expected, name)
    assert result.scored.examples == expected.scored.examples
    assert result.scored.signature.startswith("table:")
    assert (result.notes, result.warnings) == ((), ())
    assert discern(table, a_collection()).cells == expected.cells  # the table decides what is tested


def test_a_possible_text_without_a_row_has_a_missing_score_and_an_impossible_one_has_none(write):
    items = [*some_items(12), CollectionItem("mute", "…!", "headlines", "en")]
    table = write("char_delete/300", items=items, leave_out=[("item 3", "char_delete/300")])
    result = discern(table, items, a_plan("char_delete/300"))
    assert set(column(result.cells, "n_items")) == {12}
    assert set(column(result.cells, "n_missing")) == {1}
    assert set(column(result.cells, "n_impossible")) == {1}


def test_a_perturbation_that_no_plan_knows_is_taken_as_it_is(write):
    extra = [
        [item.id, name, metric, str(0.5), level]
        for item in some_items()
        for name, level in (("backwards/2", ""), ("backwards/10", ""), ("upside_down", "sentence"), ("calm", "control"))
        for metric in FUNCTIONS
        if (item.id, name) != ("item 2", "calm")
    ]
    result = discern(write("char_delete/300", extra=extra), a_collection())
    levels = dict(zip(column(result.perturbations, "kind"), column(result.perturbations, "level"), strict=True))
    assert levels == {"char_delete": "character", "backwards": "word", "upside_down": "sentence", "calm": "control"}
    assert column(result.perturbations, "n_impossible") == [0, 0, 0, 0, 1]
    assert column(result.perturbations, "reason")[-1] == "no text given"
    assert result.notes == ("Kinds that are unknown and have no level count as damage to words: backwards.",)
    known_texts = {example.perturbation for example in result.scored.examples}
    assert known_texts == {"char_delete/300"}


def test_texts_that_a_model_made_are_not_asked_for(write):
    extra = [[item.id, "paraphrase", metric, "0.5", ""] for item in some_items() for metric in FUNCTIONS]
    table = write("char_delete/300", extra=extra)
    result = discern(table, a_collection(), a_plan("char_delete/300", "paraphrase"))
    assert column(result.perturbations, "method") == ["rule", "given"]


def test_perturbations_that_the_table_lacks_are_a_note(write):
    result = discern(write("char_delete/300"), a_collection(11), a_plan("char_delete"))
    assert column(result.perturbations, "degree") == ["300"]
    named = "char_delete/10, char_delete/30, char_delete/70, char_delete/150"
    assert result.notes == (f"The table has no scores of 4 perturbations of the plan: {named}.",)


def test_a_table_with_nothing_to_compare_is_an_error(write):
    with pytest.raises(DiscernmentError, match="evaluator scores: no perturbation; expected at least one"):
        discern(write(), a_collection())
