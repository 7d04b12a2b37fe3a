"""Tests of evaluators from the first text to the last figure."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from makers.tested_evaluators import (
    ByText,
    a_collection,
    a_plan,
    discerned,
    given,
    length,
    letters,
    one,
    rows,
    similarity,
    some_items,
)
from pfgen_fast import DiscernmentError, Scorer
from pfgen_fast.discernment import Collection, CollectionItem, Plan, discern, scoring, usual_plan
from pfgen_fast.discernment.damaged import all_texts
from pfgen_fast.discernment.originals import from_suite
from pfgen_fast.discernment.running import damage_of
from pfgen_fast.evaluators import Metric, NgramEvaluator
from pfgen_fast.evaluators.evaluator import text_column
from pfgen_fast.evaluators.function import FunctionEvaluator


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


def test_missing_scores_are_left_out_and_too_many_make_a_cell_undefined():
    def with_missing(n_missing, n_items):
        names = {f"item {number}" for number in range(n_missing)}

        def of(item, text):
            return math.nan if item.id in names and text != item.text else similarity(item, text)

        return discerned(ByText({"similarity": of}), a_collection(n_items), a_plan("char_delete/300"))

    for n_missing, n_items in ((2, 10), (3, 15)):
        some = with_missing(n_missing, n_items)
        cell = one(some.cells)
        assert (cell["n_items"], cell["n_missing"], cell["n"]) == (n_items, n_missing, n_items - n_missing)
        assert cell["noticed"]
        assert some.work.n_missing == n_missing
    many = with_missing(4, 15)
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
    evaluator, told = ByText({"length": length}), []
    discerned(evaluator, a_collection(201), a_plan("newline"), on_progress=lambda *counts: told.append(counts))
    assert evaluator.calls == [201, 3, 201]
    assert (told[0], told[-1]) == ((0, 402), (402, 402))


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


def test_all_texts_are_the_originals_and_each_perturbation_of_all_items():
    items = [*some_items(3), CollectionItem("mute", "…!", "headlines", "en")]
    of_texts, texts = all_texts(damage_of(items, a_plan("char_delete/300", "newline")))
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
