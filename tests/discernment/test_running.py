"""Tests of evaluators from the first text to the last figure."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from makers.tested_evaluators import ByText, a_collection, a_plan, given, length, letters, similarity, some_items
from pfgen_fast import DiscernmentError, Scorer
from pfgen_fast.discernment import Collection, CollectionItem, Perturbation, Plan, discern, scoring, usual_plan
from pfgen_fast.discernment.damaged import all_texts, texts_of
from pfgen_fast.discernment.originals import from_suite
from pfgen_fast.discernment.result import (
    CELL_COLUMNS,
    CONTROL_COLUMNS,
    PERTURBATION_COLUMNS,
    PROFILE_COLUMNS,
    SUMMARY_COLUMNS,
)
from pfgen_fast.discernment.running import damage_of
from pfgen_fast.discernment.weights import open_weights
from pfgen_fast.evaluators import Metric, NgramEvaluator
from pfgen_fast.evaluators.evaluator import text_column
from pfgen_fast.evaluators.function import FunctionEvaluator
from pfgen_fast.report.discernment.rows import results
from pfgen_fast.report.discernment.words import remarks

SIMILARITY = ByText({"similarity": similarity})


def rows(columns):
    """The rows of a table as dictionaries."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def one(columns, **wanted):
    """The one row with these values."""
    (found,) = (row for row in rows(columns) if all(row[name] == value for name, value in wanted.items()))
    return found


def discerned(evaluator=SIMILARITY, items=None, plan=None, **options):
    options = {"draws": 0, **options}
    return discern(evaluator, a_collection() if items is None else items, plan or a_plan("char_delete"), **options)


def test_the_tables_have_their_columns_and_a_row_for_each_perturbation_and_metric():
    evaluator = ByText({"similarity": similarity, "length": length})
    found = discerned(evaluator, plan=a_plan("char_delete", "sentence_repeat", "identity", "newline"), draws=20)
    assert tuple(found.cells) == CELL_COLUMNS
    assert tuple(found.perturbations) == PERTURBATION_COLUMNS
    assert tuple(found.summary) == SUMMARY_COLUMNS
    assert tuple(found.profile) == PROFILE_COLUMNS
    assert tuple(found.controls) == CONTROL_COLUMNS
    assert {len(column) for column in found.cells.values()} == {2 * 12}
    assert {len(column) for column in found.perturbations.values()} == {12}
    assert found.controls["kind"] == ["identity", "identity", "newline", "newline"]
    assert found.profile["kind"] == ["char_delete", "char_delete", "sentence_repeat", "sentence_repeat"]
    numbers = [
        value for table in (found.cells, found.summary, found.profile) for column in table.values() for value in column
    ]
    assert not any(isinstance(value, float) and math.isnan(value) for value in numbers)
    assert {type(value) for value in numbers} <= {str, int, float, bool, type(None)}


def test_damage_is_noticed_by_an_evaluator_that_compares_with_the_original():
    row = one(discerned().cells, degree="300")
    assert row["n_items"] == row["n"] == 12
    assert row["share_lower"] == row["rank_biserial"] == 1
    assert row["mean_original"] == 1
    assert row["mean_drop"] == pytest.approx(1 - row["mean_perturbed"])
    assert row["d"] == row["ceiling_d"] > 2
    assert row["exact_d"] == pytest.approx(12 * math.log(2) / math.log(20))
    assert row["noticed"] is row["significant_bh"] is True
    assert row["few"] is False


def test_a_metric_where_lower_is_better_is_turned_and_its_means_are_not():
    distance = ByText({"distance": lambda item, text: 1 - similarity(item, text)}, metrics=[Metric("distance", False)])
    found, turned = one(discerned().cells, degree="300"), one(discerned(distance).cells, degree="300")
    for name in ("d", "exact_d", "reverse_d", "share_lower", "r_plus"):
        assert turned[name] == found[name]
    assert turned["mean_drop"] == pytest.approx(found["mean_drop"])
    assert turned["mean_original"] == 0
    assert not math.copysign(1, turned["mean_original"]) < 0
    assert turned["mean_perturbed"] == pytest.approx(1 - found["mean_perturbed"])


def test_an_evaluator_that_says_the_same_of_everything_never_moves():
    found = discerned(ByText({"rating": lambda item, text: 3.0}), plan=a_plan("char_delete", "newline"), draws=20)
    assert set(found.cells["d"]) == set(found.perturbations["d"]) == {0.0}
    assert one(found.summary, score="d", scope="all")["average"] == 0
    assert set(found.cells["exact_d"]) == {0.0}
    assert set(found.cells["rank_biserial"]) == {None}
    assert found.profile["verdict"] == ["blind"]
    assert "Task headlines: rating never moves: no damage changes any score." in found.warnings


def test_an_item_for_which_a_perturbation_is_impossible_takes_no_part():
    items = [*some_items(12), *(CollectionItem(f"mute {n}", "…!", "headlines", "en") for n in range(3))]
    found = discerned(ByText({"length": length}), items, a_plan("char_delete/300", "identity"))
    row = one(found.cells, kind="char_delete")
    assert (row["n_items"], row["n_impossible"], row["n_missing"], row["share_lower"]) == (12, 3, 0, 1.0)
    of_all = one(found.perturbations, kind="char_delete")
    assert (of_all["n_items"], of_all["n_impossible"], of_all["reason"]) == (12, 3, "nothing to damage")
    assert one(found.perturbations, kind="identity")["reason"] is None
    assert (found.work.n_items, found.work.n_texts, found.work.n_impossible) == (15, 27, 3)


def test_a_kind_that_is_impossible_for_all_is_listed_with_its_reason():
    items = [
        replace(item, text=item.text.replace("th", "").translate({ord(c): None for c in "0123456789"}))
        for item in some_items()
    ]
    found = discerned(items=items, plan=a_plan("number_change", "char_delete/30"))
    row = one(found.perturbations, kind="number_change", degree="200")
    assert (row["n_items"], row["n_impossible"], row["d"], row["noticed"]) == (0, 12, None, None)
    assert row["reason"] == "nothing to damage"
    cell = one(found.cells, kind="number_change", degree="200")
    assert cell["d"] is cell["mean_drop"] is cell["few"] is cell["share_lower"] is None
    assert "Task headlines: number_change is impossible for all items: nothing to damage." in found.notes
    total = one(found.summary, score="d", scope="all")
    assert (total["n_perturbations"], total["n_defined"]) == (6, 1)
    assert one(found.profile, kind="number_change")["verdict"] is None


def test_a_cell_with_too_few_items_is_undefined():
    items = [
        *some_items(12),
        *(CollectionItem(f"numbered {n}", f"One and {n}7 seals swim.", "headlines", "en") for n in range(6)),
    ]
    items = [item if item.id.startswith("numbered") else replace(item, text="Ice does not float.") for item in items]
    plan = a_plan("number_change/1000")
    found = discerned(items=items, plan=plan)
    assert one(found.cells, kind="number_change")["d"] is None
    assert found.notes == (
        "Task headlines: 1 perturbation is undefined, because too few items have scores: number_change/1000.",
    )
    assert one(discerned(items=items, plan=plan, min_items=6).cells, kind="number_change")["d"] > 1


def test_items_without_a_score_count_as_items_of_a_cell():
    def of(item, text):
        return math.nan if item.id in ("item 0", "item 1") and text != item.text else similarity(item, text)

    cell = one(discerned(ByText({"similarity": of}), a_collection(10), a_plan("char_delete/300")).cells)
    assert (cell["n_items"], cell["n_missing"], cell["n"]) == (10, 2, 8)
    assert cell["noticed"]


def test_missing_scores_are_left_out_and_too_many_make_a_cell_undefined():
    def missing_for(n_missing):
        names = {f"item {number}" for number in range(n_missing)}
        return ByText(
            {
                "similarity": lambda item, text: (
                    math.nan if item.id in names and text != item.text else similarity(item, text)
                )
            }
        )

    some = discerned(missing_for(3), a_collection(15), a_plan("char_delete/300"))
    assert (one(some.cells)["n_items"], one(some.cells)["n_missing"], one(some.cells)["n"]) == (15, 3, 12)
    assert one(some.cells)["d"] > 2
    assert some.work.n_missing == 3
    many = discerned(missing_for(4), a_collection(15), a_plan("char_delete/300"))
    assert one(many.cells)["d"] is None
    assert one(many.cells)["n_missing"] == 4
    assert many.warnings == (
        "Task headlines: 1 cell is undefined, because more than 20 % of the scores are missing: "
        "char_delete/300 (similarity).",
    )


def test_an_original_without_a_score_is_missing_in_all_cells():
    def of(item, text):
        return math.inf if text == "Ice does not float in the 0th cold lake." else length(item, text)

    found = discerned(ByText({"length": of}), a_collection(15, n_sentences=1), a_plan("char_delete"))
    assert set(found.cells["n_missing"]) == {1}
    assert set(found.cells["n_items"]) == {15}


def test_no_score_at_all_is_an_error():
    with pytest.raises(DiscernmentError, match="evaluator by text: no original has a score"):
        discerned(ByText({"length": lambda item, text: math.nan}))
    only_originals = ByText({"length": lambda item, text: 1.0 if text == item.text else math.nan})
    with pytest.raises(DiscernmentError, match="evaluator by text: no damaged text has a score"):
        discerned(only_originals)


def test_a_score_outside_of_its_scale_is_missing():
    bounded = ByText({"length": length}, metrics=[Metric("length", low=0, high=131)])
    found = discerned(bounded, plan=a_plan("sentence_repeat/1000", "char_delete/10"), min_items=5)
    assert one(found.cells, kind="sentence_repeat")["n_missing"] == 12


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda texts: {"length": [1.0]}, "evaluator by text: returned 1 scores of the metric length for 12 texts"),
        (lambda texts: {"length": [1.0] * 13}, "evaluator by text: returned 13 scores"),
        (lambda texts: {}, "evaluator by text: returned no scores of the metric length"),
        (lambda texts: 1 // 0, "evaluator by text: raised ZeroDivisionError"),
    ],
)
def test_an_evaluator_that_does_not_keep_to_the_protocol_is_an_error_that_names_it(fault, message):
    class Faulty(ByText):
        def score(self, items, texts):
            return fault(texts)

    with pytest.raises(DiscernmentError, match=message):
        discerned(Faulty({"length": length}))


def test_fewer_than_ten_items_are_an_error_unless_fewer_are_allowed():
    with pytest.raises(DiscernmentError, match="some texts: 9 items, expected at least 10; --min-items lowers this"):
        discerned(items=a_collection(9))
    assert one(discerned(items=a_collection(9), min_items=9).cells, degree="300")["n"] == 9
    with pytest.raises(DiscernmentError, match="min_items: expected at least 5, not 4"):
        discerned(items=a_collection(9), min_items=4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"zeros": "keep"}, "unknown treatment of zeros 'keep'; expected one of drop, pratt"),
        ({"draws": -1}, "draws: expected at least 0, not -1"),
        ({"language": "de"}, "unknown language 'de'; expected one of"),
    ],
)
def test_an_argument_out_of_range_is_an_error(options, message):
    with pytest.raises(DiscernmentError, match=message):
        discerned(**options)


def test_two_scores_for_one_text_are_a_warning_if_the_evaluator_says_that_there_is_one():
    counter = itertools.count()
    restless = ByText({"rating": lambda item, text: float(next(counter) % 7)})
    found = discerned(restless, plan=a_plan("char_delete/300", "identity"))
    assert any(
        "calls itself deterministic, but gave an original two different scores" in each for each in found.warnings
    )
    assert any("rating does not repeat itself: " in each for each in found.warnings)
    honest = discerned(replace(restless, is_deterministic=False), plan=a_plan("char_delete/300"))
    assert not any("calls itself deterministic" in each for each in honest.warnings)


def test_one_percent_of_the_originals_is_asked_twice():
    evaluator = ByText({"length": length})
    discerned(evaluator, a_collection(201), a_plan("newline"))
    assert evaluator.calls == [201, 3, 201]


def test_neither_the_size_of_calls_nor_the_order_of_items_nor_threads_change_a_figure(monkeypatch):
    plan = a_plan("char_delete", "word_drop", "answer_swap", "identity")
    expected = discerned(plan=plan)
    evaluator = ByText({"similarity": similarity})
    monkeypatch.setattr(scoring, "TEXTS_AT_A_TIME", 30)
    found = discerned(evaluator, plan=plan, threads=1)
    assert max(evaluator.calls) == 24
    assert found.cells == expected.cells
    backwards = discerned(items=Collection(a_collection().items[::-1], "some texts"), plan=plan)
    assert backwards.cells["d"] == expected.cells["d"]
    assert backwards.signature == expected.signature


def test_the_seed_changes_the_damage_and_the_signature():
    first, second = discerned(seed=0), discerned(seed=1)
    assert first.cells["mean_drop"] != second.cells["mean_drop"]
    assert "|seed:0|" in first.signature
    assert "|seed:1|" in second.signature


def test_intervals_contain_what_they_are_of_and_fewer_draws_are_said():
    evaluator = ByText({"similarity": similarity, "letters": letters})
    found = discerned(evaluator, a_collection(30), a_plan("char_delete", "word_swap", "newline"), draws=200)
    assert found.n_draws == 200
    for row in rows(found.cells):
        assert row["d_low"] <= row["d_high"]
    for row in rows(found.summary):
        assert row["average_low"] <= row["average_high"]
        assert row["minimum_low"] <= row["minimum_high"]
    assert discerned(draws=0).cells["d_low"] == [None] * 5
    assert discerned(draws=0).n_draws == 0


def test_a_mean_of_metrics_has_cells_of_its_own_and_is_not_combined():
    functions = {"similarity": similarity, "length": length, "mean": lambda item, text: 5.0}
    metrics = [Metric("similarity"), Metric("length"), Metric("mean", combined=False)]
    found = discerned(ByText(functions, metrics=metrics), plan=a_plan("char_delete/300"))
    assert found.cells["metric"] == ["similarity", "length", "mean"]
    assert one(found.cells, metric="mean")["d"] == 0
    d = [row["d"] for row in rows(found.cells)][:2]
    p = [20**-each for each in d]
    row = one(found.perturbations)
    assert row["d"] == pytest.approx(-math.log(2 / sum(1 / each for each in p)) / math.log(20))
    assert row["printed_d"] == pytest.approx(row["d"] + math.log(2) / math.log(20))
    assert row["calibrated_d"] == pytest.approx(row["d"] - math.log(2) / math.log(20))
    assert row["weighted_d"] is None


def test_with_one_metric_weighted_and_unweighted_scores_agree(tmp_path):
    file = tmp_path / "weights.csv"
    file.write_text("task,perturbation,metric,weight\nheadlines,char_delete,similarity,3\n")
    found = discerned(weights=open_weights(file), plan=a_plan("char_delete", "word_drop/50"))
    for row in rows(found.perturbations)[:5]:
        assert row["weighted_d"] == pytest.approx(row["d"], rel=1e-12)
    assert rows(found.perturbations)[5]["weighted_d"] is None
    assert found.weights == "weights.csv"
    assert any("no row for word_drop" in note for note in found.notes)
    assert {row["score"] for row in rows(found.summary)} == {"d", "printed_d", "weighted_d"}
    assert "|weights:none" in discerned().signature
    assert "|weights:none" not in found.signature


def test_plain_figures_beside_weighted_ones_are_of_the_same_perturbations(tmp_path):
    file = tmp_path / "weights.csv"
    file.write_text("task,perturbation,metric,weight\nheadlines,char_delete,similarity,3\n")
    found = discerned(weights=open_weights(file), plan=a_plan("char_delete", "word_drop/50", "newline"), draws=20)
    plain, weighted = (one(found.summary, score=score, scope="weighted") for score in ("d", "weighted_d"))
    for name in ("n_perturbations", "n_defined", "average", "minimum", "minimum_at", "average_low", "minimum_high"):
        assert plain[name] == (pytest.approx(weighted[name]) if isinstance(weighted[name], float) else weighted[name])
    assert plain["n_defined"] == 5 < one(found.summary, score="d", scope="all")["n_defined"] == 6
    everywhere = discerned(weights=open_weights(file))
    assert "weighted" not in everywhere.summary["scope"]


@pytest.mark.parametrize("n_items", [12, 40])
def test_an_interval_holds_its_figure(n_items):
    """Where all scores fall, an item that is drawn twice is a tie, and every draw has a higher d."""
    evaluator = ByText({"similarity": similarity, "letters": letters, "length": lambda item, text: -float(len(text))})
    found = discerned(evaluator, some_items(n_items), a_plan("char_delete", "word_swap", "newline"), draws=100)
    n_ends = 0
    for table, names in ((found.cells, ["d"]), (found.perturbations, ["d"]), (found.summary, ["average", "minimum"])):
        for row in rows(table):
            for name in names:
                if row.get("score", "d") == "d" and row[f"{name}_low"] is not None:
                    assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"], row
                    n_ends += 1
    assert n_ends > 20


def test_scores_as_large_as_floats_are_computed_or_refused():
    def huge(of_original, of_damaged):
        return ByText({"huge": lambda item, text: of_original if text == item.text else of_damaged})

    found = discerned(huge(1e100, -1e100), plan=a_plan("char_delete", "newline"), draws=20)
    assert one(found.cells, degree="300")["mean_drop"] == pytest.approx(2e100)
    for columns in (found.cells, found.perturbations, found.summary, found.controls):
        assert all(math.isfinite(value) for column in columns.values() for value in column if isinstance(value, float))
    assert [remarks(result) for result in results([found])]
    for scores, which in (((1e308, 1.0), "original"), ((1.0, -1e308), "damaged text")):
        with pytest.raises(DiscernmentError, match=f"no {which} has a score; expected numbers of at most 1e"):
            discerned(huge(*scores))


def test_levels_have_the_same_weight_in_the_average_and_controls_have_none():
    functions = {"similarity": similarity}
    found = discerned(ByText(functions), plan=a_plan("char_delete", "word_drop/50", "newline", "sentence_delete/200"))
    d = {row["kind"] + "/" + row["degree"]: row["d"] for row in rows(found.perturbations)}
    total = one(found.summary, score="d", scope="all")
    of_characters = sum(d[f"char_delete/{degree}"] for degree in (10, 30, 70, 150, 300)) / 5
    assert total["average"] == pytest.approx((of_characters + d["word_drop/50"] + d["sentence_delete/200"]) / 3)
    assert total["minimum"] == min(value for name, value in d.items() if name != "newline/")
    assert d[total["minimum_at"]] == total["minimum"]
    assert one(found.summary, score="d", scope="level:character")["average"] == pytest.approx(of_characters)
    scopes = [row["scope"] for row in rows(found.summary) if row["score"] == "d"]
    assert scopes == [
        *("all", "level:character", "level:word", "level:sentence"),
        *("degree:10", "degree:30", "degree:50", "degree:70", "degree:150", "degree:200", "degree:300"),
    ]


def test_specificity_is_the_share_of_controls_that_are_not_noticed():
    evaluator = ByText({"length": lambda item, text: -float(len(text)), "letters": letters})
    found = discerned(evaluator, plan=a_plan("identity", "newline", "char_delete/300"))
    assert found.specificity == {"length": 0.5, "letters": 1.0}
    row = one(found.controls, kind="newline", metric="length")
    assert row["noticed"] is True
    assert row["mean_drop"] == 1
    assert row["relative_drop"] is None  # the metric rewards what shortens
    assert one(found.controls, kind="newline", metric="letters")["relative_drop"] == 0
    assert discerned().specificity == {"similarity": None}


def test_each_task_has_tables_of_its_own_and_only_the_metrics_that_score_it():
    items = [*some_items(12), *(replace(item, id=f"s {item.id}", task="story") for item in some_items(11))]
    evaluator = ByText(
        {
            "similarity": lambda item, text: similarity(item, text) if item.task == "headlines" else math.nan,
            "length": lambda item, text: length(item, text) if item.task == "story" else math.nan,
            "letters": letters,
        }
    )
    found = discerned(evaluator, items, a_plan("char_delete/300"))
    assert [(row["task"], row["metric"], row["n_items"]) for row in rows(found.cells)] == [
        *(("headlines", "similarity", 12), ("headlines", "letters", 12)),
        *(("story", "length", 11), ("story", "letters", 11)),
    ]
    assert [row["d"] is None for row in rows(found.perturbations)] == [False, False]
    assert found.warnings == ()
    assert {example.metric for example in found.examples if example.item.startswith("s ")} == {"length", "letters"}


def test_texts_that_come_with_items_are_taken_as_they_are():
    items = [replace(item, perturbed={"typo/1": item.text[1:], "typo/2": item.text}) for item in some_items()]
    items[0] = replace(items[0], perturbed={})
    items[1] = replace(items[1], perturbed={"typo/1": " \n"})
    found = discerned(ByText({"length": length}), items, Plan((given("typo/1"), given("typo/2"))))
    first, second = rows(found.perturbations)
    assert (first["n_items"], first["n_impossible"], first["method"]) == (10, 2, "given")
    assert first["d"] > 2
    assert (second["n_items"], second["reason"]) == (0, "the text would be the same")
    assert {example.damaged for example in found.examples} <= {item.text[1:] for item in items}


def test_items_plans_weights_and_evaluators_may_be_given_in_short():
    items = [{"id": number, "text": item.text, "task": "story"} for number, item in enumerate(some_items())]

    def fluency(items, texts):
        return {"fluency": [similarity(item, text) for item, text in zip(items, texts, strict=True)]}

    found = discern(fluency, items, ["char_delete/30", "newline"], draws=0)
    evaluator = FunctionEvaluator(fluency, name="fluency")
    rows = [CollectionItem(str(row["id"]), row["text"], row["task"]) for row in items]
    expected = discern(evaluator, rows, a_plan("char_delete/30", "newline"), draws=0)
    assert found.cells == expected.cells
    assert found.signature.split("|plan:")[1] == expected.signature.split("|plan:")[1]
    assert len(discern(fluency, items, "usual", draws=0).perturbations["d"]) == len(usual_plan().perturbations)
    with pytest.raises(DiscernmentError, match="unknown plan 'unusual'; expected one of usual, "):
        discern(fluency, items, "unusual")
    with pytest.raises(DiscernmentError, match="expected an object with the protocol, a table or a function, not 'ngr"):
        discern("ngram", items)
    with pytest.raises(DiscernmentError, match="item 1: no text in column 'text'"):
        discern(fluency, [{"id": "1", "task": "story"}])


def test_weights_may_be_named():
    def scores(items, texts):
        column = [similarity(item, text) for item, text in zip(items, texts, strict=True)]
        return dict.fromkeys(("coherence", "consistency", "fluency"), column)

    found = discern(scores, a_collection(task="story"), ["char_delete/30"], "assumed", draws=0)
    assert found.weights == "assumed"
    assert found.perturbations["weighted_d"][0] == pytest.approx(found.perturbations["d"][0])


def test_donors_of_the_user_are_a_part_of_the_signature():
    plan = a_plan("answer_swap", "newline")
    pools = (None, ["It rained."], ["It snowed."], ["It rained.", "It rained."])
    by_items, rained, snowed, again = (discerned(plan=plan, donors=pool).signature for pool in pools)
    assert len({by_items, rained, snowed}) == 3
    assert again == rained


def test_kinds_of_a_model_need_a_model_and_their_texts_are_a_part_of_the_signature():
    plan = a_plan("paraphrase", "char_delete/30")
    with pytest.raises(DiscernmentError, match="paraphrase: its texts are made by a language model"):
        discerned(plan=plan)

    def maker(suffix):
        class Made:
            def __init__(self, perturbation, items):
                self.perturbation, self.edit_share = perturbation, 0.25
                texts = [None, *(item.text + suffix for item in items[1:])]
                self.texts = text_column(texts)
                self.impossible = np.array([3] + [0] * (len(items) - 1), dtype=np.uint8)

        return lambda items, perturbations: [Made(each, items) for each in perturbations]

    found, other = (discerned(plan=plan, maker=maker(suffix)) for suffix in (" So.", " Thus."))
    row = one(found.perturbations, kind="paraphrase")
    assert (row["n_items"], row["reason"], row["edit_share"]) == (11, "no usable reply", 0.25)
    assert found.signature != other.signature
    assert found.signature == discerned(plan=plan, maker=maker(" So.")).signature


def test_examples_are_the_largest_and_the_smallest_drop_of_each_cell():
    found = discerned(plan=a_plan("char_delete/300", "newline"))
    largest, smallest = (example for example in found.examples if example.perturbation == "char_delete/300")
    assert (largest.which, smallest.which) == ("largest", "smallest")
    texts = {
        (each.item, each.perturbation): each.text
        for each in texts_of(damage_of(a_collection(), a_plan("char_delete/300")))
    }
    drops = {}
    for item in a_collection().items:
        drops[item.id] = 1 - similarity(item, texts[item.id, "char_delete/300"])
    assert drops[largest.item] == max(drops.values())
    assert drops[smallest.item] == min(drops.values())
    assert largest.damaged == texts[largest.item, "char_delete/300"]
    assert largest.original == texts[largest.item, "original"]
    assert largest.original_score - largest.damaged_score == pytest.approx(drops[largest.item])


def test_a_curve_is_over_the_items_that_have_all_degrees():
    long, short = some_items(12), [replace(item, id=f"short {item.id}", text="Ice sank.") for item in some_items(12)]
    plan = Plan(tuple(Perturbation("word_drop", f"k{k}", k=k) for k in (1, 2, 3)))
    found = discerned(ByText({"length": length}), [*long, *short], plan)
    (curve,) = found.curves
    assert curve.n_items == 12
    assert curve.names == ("original", "k1", "k2", "k3")
    assert curve.permille.tolist() == [0, 1, 2, 3]
    assert curve.share_lower.tolist() == [0, 1, 1, 1]
    assert curve.mean[0] == np.mean([len(item.text) for item in long])
    assert list(curve.mean) == sorted(curve.mean, reverse=True)
    assert curve.mean_low is None
    by_rate = discerned(plan=a_plan("char_delete"), draws=50).curves[0]
    assert by_rate.permille.tolist() == [0, 10, 30, 70, 150, 300]
    assert (by_rate.mean_low <= by_rate.mean).all()
    assert (by_rate.mean <= by_rate.mean_high).all()


def test_a_curve_of_a_metric_where_lower_is_better_has_the_scores_as_they_are():
    lower = ByText({"length": length}, metrics=[Metric("length", higher_is_better=False)])
    (curve,) = discerned(lower).curves
    (expected,) = discerned(ByText({"length": length})).curves
    assert curve.mean.tolist() == expected.mean.tolist()
    assert expected.share_lower.tolist() == [0, 1, 1, 1, 1, 1]
    assert curve.share_lower.tolist() == [0, 0, 0, 0, 0, 0]


def test_the_profile_says_what_is_noticed_rewarded_or_not_seen():
    evaluator = ByText(
        {
            "length": length,
            "shortness": lambda item, text: -length(item, text),
            "much": lambda item, text: float(min(len(text), 60)),
            "nothing": lambda item, text: float(len(item.text)),
        }
    )
    found = discerned(evaluator, a_collection(24), plan=a_plan("truncate"))
    verdicts = {row["metric"]: row["verdict"] for row in rows(found.profile)}
    assert verdicts == {"length": "notices", "shortness": "rewards", "much": "needs much", "nothing": "blind"}
    monotonicity = {row["metric"]: row["monotonicity"] for row in rows(found.profile)}
    assert (monotonicity["length"], monotonicity["shortness"], monotonicity["nothing"]) == (1, -1, 0)
    degrees = {row["metric"]: row["detectable_at_20"] for row in rows(found.profile)}
    assert (degrees["length"], degrees["shortness"], degrees["nothing"]) == ("100", "none", "none")
    assert set(found.profile["detectable_at_100"]) == {None}  # there are only 24 items
    row = one(found.profile, metric="length")
    assert row["n80"] == 9  # 8.243, the fewest that a perfect effect needs
    assert row["drop_per_100_permille"] == pytest.approx(
        np.mean([len(item.text) for item in some_items(24)]) / 10, rel=0.01
    )


def test_weak_originals_are_a_warning_and_known_ones_a_note(mini, scorer):
    items = [
        CollectionItem(
            f"{question.question_id}-{number}", f"It is so, {number} times.", "answers", question=question.question
        )
        for question in mini
        for number in range(2)
    ]
    found = discerned(NgramEvaluator(scorer), items, a_plan("char_delete/300"))
    (warning,) = (each for each in found.warnings if "reference answers" in each)
    assert warning.startswith("The originals score 0.")
    known = [replace(item, text=mini[item.question].answers[mini.set_names[0]][0]) for item in items]
    found = discerned(NgramEvaluator(scorer), known, a_plan("char_delete/300"))
    assert not any("reference answers" in each for each in found.warnings)
    assert any("originals are reference answers of suite mini" in each for each in found.notes)


def test_the_language_of_all_texts_can_be_given():
    items = [CollectionItem(str(n), f"Café {n} no hana wa ookina hana da.", "headlines") for n in range(12)]
    assert (
        discerned(items=items, plan=a_plan("word_drop/50"), language="ja").scored.collection.items[0].language == "ja"
    )


def test_what_was_asked_is_a_part_of_the_work():
    from pfgen_fast.judging.budget import Prices, Spending

    evaluator = ByText({"length": length})
    evaluator.spending = Spending(Prices(1.0, 2.0), n_requests=7, n_prompt_tokens=1_000_000)
    found = discerned(evaluator)
    assert (found.work.n_requests, found.work.cost) == (7, 1.0)
    evaluator.spending = Spending(n_requests=7)
    assert discerned(evaluator).work.cost is None


def test_progress_counts_all_texts():
    told = []
    discerned(on_progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 72)
    assert told[-1] == (72, 72)


def test_all_texts_are_the_originals_and_each_perturbation_of_all_items():
    items, plan = (
        [*some_items(3), CollectionItem("mute", "…!", "headlines", "en")],
        a_plan("char_delete/300", "newline"),
    )
    of_texts, texts = all_texts(damage_of(items, plan))
    assert [item.id for item in of_texts] == [item.id for item in items] * 3
    assert texts.tolist()[:4] == [item.text for item in items]
    assert texts[7] is None
    assert texts[8] == items[0].text + "\n"


def test_stand_ins_take_the_place_of_texts_that_nobody_has_made_yet():
    def refuse(items, perturbations):
        raise AssertionError("nobody is asked")

    damage = damage_of(some_items(2), a_plan("char_delete/300", "fictional_entity", "paraphrase"), maker=refuse)
    stand_ins = [text_column([f"{name} {n}" for n in range(2)]) for name in ("minor", "major", "control")]
    _, texts = all_texts(damage, stand_ins)
    assert texts.tolist()[4:] == ["minor 0", "minor 1", "major 0", "major 1", "control 0", "control 1"]


def test_with_as_many_items_as_are_stated_the_profile_says_what_the_cells_say():
    items = [*some_items(70), *(CollectionItem(f"mute {n}", "Ice floats on it.", "headlines", "en") for n in range(30))]
    found = discerned(ByText({"length": length}), items, a_plan("number_change", "sentence_delete", "word_drop"))
    assert one(found.perturbations, kind="sentence_delete", degree="200")["n_items"] == 70
    degrees = dict(zip(found.profile["kind"], found.profile["detectable_at_100"], strict=True))
    assert degrees == {"number_change": "none", "sentence_delete": "200", "word_drop": "50"}


def test_a_compiled_suite_tests_like_its_folder(mini, scorer):
    plan, items = a_plan("char_delete/300"), from_suite(mini)
    compiled = NgramEvaluator(Scorer.from_bytes(scorer.to_bytes()))
    found, expected = (discerned(evaluator, items, plan) for evaluator in (compiled, NgramEvaluator(scorer)))
    assert found.cells == expected.cells
    assert found.warnings == ()


def test_identity_is_scored_anew():
    class Kept(ByText):
        def again(self):
            return ByText({"length": lambda item, text: length(item, text) + 1})

    found = discerned(
        Kept({"length": length}, is_deterministic=False), plan=a_plan("newline", "identity", "char_delete")
    )
    row = one(found.controls, kind="identity")
    assert (row["mean_drop"], row["reverse_d"] > 1) == (-1, True)
    assert one(found.controls, kind="newline")["mean_drop"] == -1
    assert found.cells["kind"] == ["newline", "identity", *["char_delete"] * 5]
    assert (
        "Task headlines: length does not repeat itself: 12 of 12 originals got another score when they were scored "
        in (found.warnings[0])
    )
