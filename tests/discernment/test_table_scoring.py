"""Finished tables of scores: nothing is run, and the figures are those of a run."""

from __future__ import annotations

import csv
import math

import pytest
from makers.tested_evaluators import ByText, a_collection, a_plan, similarity, some_items
from pfgen_fast import DiscernmentError
from pfgen_fast.discernment import CollectionItem, Plan, discern
from pfgen_fast.discernment.damaged import texts_of
from pfgen_fast.discernment.running import damage_of
from pfgen_fast.evaluators import Metric, TableScores

FUNCTIONS = {"similarity": similarity, "distance": lambda item, text: 1 - similarity(item, text)}
METRICS = (Metric("similarity"), Metric("distance", higher_is_better=False))


@pytest.fixture
def write(tmp_path):
    """Writes the scores of texts, as a program would that has read what `discern perturb` writes."""

    def write(texts, collection=None, leave_out=lambda text: False, extra=()):
        items = {item.id: item for item in (collection or a_collection()).items}
        path = tmp_path / "scores.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["item", "perturbation", "metric", "score", "level"])
            for each in texts:
                for name, of in FUNCTIONS.items():
                    if not leave_out(each):
                        score = repr(of(items[each.item], each.text))
                        table.writerow([each.item, each.perturbation, name, score, ""])
            table.writerows(extra)
        return TableScores(path, lower_is_better=["distance"])

    return write


def test_a_table_gives_the_figures_of_a_run(write):
    plan = a_plan("char_delete", "number_change", "answer_swap", "newline")
    table = write(texts_of(damage_of(a_collection(), plan)))
    found = discern(table, a_collection(), plan, draws=30)
    expected = discern(ByText(FUNCTIONS, name="scores", metrics=METRICS), a_collection(), plan, draws=30)
    assert found.cells == expected.cells
    assert found.perturbations == expected.perturbations
    assert found.summary == expected.summary
    assert found.profile == expected.profile
    assert found.examples == expected.examples
    assert found.scored.signature.startswith("table:")
    assert (found.notes, found.warnings) == ((), ())
    assert discern(table, a_collection(), draws=30).cells == expected.cells  # the table decides what is tested


def test_a_possible_text_without_a_row_has_a_missing_score_and_an_impossible_one_has_none(write):
    items = [*some_items(12), CollectionItem("mute", "…!", "headlines", "en")]
    plan = a_plan("char_delete/300")
    texts = list(texts_of(damage_of(items, plan)))
    table = write(texts, damage_of(items, plan).collection, lambda each: each[:2] == ("item 3", "char_delete/300"))
    found = discern(table, items, plan, draws=0)
    assert set(found.cells["n_items"]) == {12}
    assert set(found.cells["n_missing"]) == {1}
    assert set(found.cells["n_impossible"]) == {1}


def test_a_perturbation_that_no_plan_knows_is_taken_as_it_is(write):
    texts = list(texts_of(damage_of(a_collection(), a_plan("char_delete/300"))))
    extra = [
        [item.id, name, metric, str(0.5), level]
        for item in some_items()
        for name, level in (("backwards/2", ""), ("backwards/10", ""), ("upside_down", "sentence"), ("calm", "control"))
        for metric in FUNCTIONS
        if (item.id, name) != ("item 2", "calm")
    ]
    found = discern(write(texts, extra=extra), a_collection(), draws=0)
    row = dict(zip(found.perturbations["kind"], zip(*found.perturbations.values(), strict=True), strict=True))
    levels = dict(zip(found.perturbations["kind"], found.perturbations["level"], strict=True))
    assert levels == {"char_delete": "character", "backwards": "word", "upside_down": "sentence", "calm": "control"}
    assert set(row) == set(levels)
    assert found.perturbations["n_impossible"] == [0, 0, 0, 0, 1]
    assert found.perturbations["reason"][-1] == "no text given"
    assert found.notes == ("Nothing is known about the kind backwards, so it counts as damage to words.",)
    assert {example.perturbation for example in found.examples} == {"char_delete/300"}  # other texts nobody knows
    assert found.controls["kind"] == ["calm", "calm"]


def test_texts_that_a_model_made_are_not_asked_for(write):
    extra = [[item.id, "paraphrase", metric, "0.5", ""] for item in some_items() for metric in FUNCTIONS]
    texts = list(texts_of(damage_of(a_collection(), a_plan("char_delete/300"))))
    found = discern(write(texts, extra=extra), a_collection(), a_plan("char_delete/300", "paraphrase"), draws=0)
    assert found.perturbations["method"] == ["rule", "given"]
    assert found.controls["kind"] == ["paraphrase", "paraphrase"]


def test_perturbations_of_a_plan_that_the_table_lacks_are_a_note(write):
    texts = list(texts_of(damage_of(a_collection(), a_plan("char_delete/300"))))
    found = discern(write(texts), a_collection(), a_plan("char_delete"), draws=0)
    assert found.perturbations["degree"] == ["300"]
    named = "char_delete/10, char_delete/30, char_delete/70, char_delete/150"
    assert found.notes == (f"The table has no scores of 4 perturbations of the plan: {named}.",)


def test_a_table_with_nothing_to_compare_is_an_error(write):
    texts = list(texts_of(damage_of(a_collection(), Plan(()))))
    with pytest.raises(DiscernmentError, match="evaluator scores: no perturbation; expected at least one"):
        discern(write(texts), a_collection(), draws=0)


def test_a_table_without_the_originals_of_a_collection_is_an_error(write):
    texts = list(texts_of(damage_of(a_collection(), a_plan("char_delete/300"))))
    with pytest.raises(DiscernmentError, match="lacks the originals of 3 items: item 12, item 13, item 14"):
        discern(write(texts), a_collection(15), draws=0)


def test_items_of_the_table_that_the_collection_lacks_are_a_note(write):
    texts = list(texts_of(damage_of(a_collection(), a_plan("char_delete/300"))))
    found = discern(write(texts), a_collection(11), draws=0)
    assert any("the collection does not have 1 item: item 11" in note for note in found.notes)


def test_scores_that_are_no_numbers_are_missing(write):
    texts = list(texts_of(damage_of(a_collection(15), a_plan("char_delete/300"))))
    bad = {("item 1", "char_delete/300"): "n/a", ("item 2", "char_delete/300"): math.inf}
    extra = [[*key, metric, score, ""] for key, score in bad.items() for metric in FUNCTIONS]
    table = write(texts, a_collection(15), lambda each: each[:2] in bad, extra)
    assert set(discern(table, a_collection(15), draws=0).cells["n_missing"]) == {2}
