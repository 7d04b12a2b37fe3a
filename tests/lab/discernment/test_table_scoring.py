"""Finished tables of scores: nothing is run, and the figures are those of a run."""

import csv

import pytest
from makers.tested_evaluators import ByText, a_collection, a_plan, column, similarity, some_items
from pfgen_fast import DiscernmentError
from pfgen_fast.lab.discernment.discernment_items import CollectionItem
from pfgen_fast.lab.discernment.perturbing import Damage, texts_of
from pfgen_fast.lab.discernment.running import discern
from pfgen_fast.lab.evaluators.evaluator import Metric
from pfgen_fast.lab.evaluators.table_evaluator import TableScores

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
    for name in ("cells", "perturbations", "summary", "profile", "examples"):
        assert getattr(result, name) == getattr(expected, name)
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
    assert result.notes == ("The kind backwards is unknown, so it counts as damage to words.",)
    assert {example.perturbation for example in result.examples} == {"char_delete/300"}  # only their texts are known
    assert column(result.controls, "kind") == ["calm", "calm"]


def test_texts_that_a_model_made_are_not_asked_for(write):
    extra = [[item.id, "paraphrase", metric, "0.5", ""] for item in some_items() for metric in FUNCTIONS]
    table = write("char_delete/300", extra=extra)
    result = discern(table, a_collection(), a_plan("char_delete/300", "paraphrase"))
    assert column(result.perturbations, "method") == ["rule", "given"]
    assert column(result.controls, "kind") == ["paraphrase", "paraphrase"]


def test_perturbations_that_the_table_lacks_and_items_that_the_collection_lacks_are_notes(write):
    result = discern(write("char_delete/300"), a_collection(11), a_plan("char_delete"))
    assert column(result.perturbations, "degree") == ["300"]
    named = "char_delete/10, char_delete/30, char_delete/70, char_delete/150"
    assert result.notes[0] == f"The table has no scores of 4 perturbations of the plan: {named}."
    assert "the collection does not have 1 item: item 11" in result.notes[1]


def test_a_table_with_nothing_to_compare_is_an_error(write):
    with pytest.raises(DiscernmentError, match="evaluator scores: no perturbation; expected at least one"):
        discern(write(), a_collection())
