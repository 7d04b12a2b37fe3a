"""The paper's facts, its plans for six data sets, and figures read off its pictures."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from makers.tested_evaluators import problem, written
from pfgen_fast.lab.discernment.plan_sources import claims, datasets, facts, open_plan, paper_plan, read_published

SIZES = {
    "SummEval": (12, {"character": 4, "word": 4, "sentence": 4}),
    "SumPubMed": (12, {"character": 4, "word": 4, "sentence": 4}),
    "Story Cloze Test": (6, {"character": 2, "word": 2, "sentence": 2}),
    "Answer Equivalence": (9, {"character": 4, "word": 4, "sentence": 1}),
    "WMT-22 de-en": (10, {"character": 4, "word": 6}),
    "WMT-22 zh-en": (10, {"character": 4, "word": 6}),
}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("rules_only", [False, True])
def test_a_plan_of_the_paper_has_its_perturbations_by_level(name, rules_only):
    plan = paper_plan(name, rules_only=rules_only)
    n, levels = SIZES[name]
    assert len({one.name for one in plan.perturbations}) == len(plan.perturbations) == n
    assert Counter(one.level for one in plan.perturbations) == levels
    assert any(one.method == "model" for one in plan.perturbations) != rules_only
    assert bool(plan.notes) == rules_only
    for row in facts("perturbations"):
        if row["dataset"] == name:
            assert Fraction(row["share_of_average"]) == Fraction(1, len(levels) * levels[row["level"]])


def test_numbers_of_sites_are_those_of_the_paper():
    """Kinds by rules that stand in for a model change as many places as the model is asked to."""
    plan = {one.name: one for one in paper_plan("SumPubMed").perturbations}
    assert (plan["char_delete/minor"].k, plan["char_typo/major"].k) == (20, 100)
    assert (plan["sentence_reorder/minor"].k, plan["sentence_reorder/major"].permille) == (2, 1000)
    assert (plan["rewrite_insert/major"].k, plan["rewrite_insert/major"].method) == (None, "model")

    def numbers(dataset):
        plan = paper_plan(dataset, rules_only=True)
        return [one.k for one in plan.perturbations if one.kind in ("term_swap", "function_word", "sentence_repeat")]

    assert numbers("SummEval") == [1, 3, 2, 5, 1, 5]
    assert numbers("Answer Equivalence")[-1] == 3
    assert numbers("Story Cloze Test")[-1] == 1
    (note,) = paper_plan("WMT-22 de-en", rules_only=True).notes
    stand_ins = "term_swap stands in for fictional_entity, function_word stands in for grammar_error"
    assert note == f"No language model damages texts: {stand_ins}."


def test_a_plan_is_opened_by_the_name_of_its_data_set():
    assert open_plan("paper:wmt-22_DE-EN") == open_plan("WMT-22 de-en") == paper_plan("WMT-22 de-en")
    assert open_plan("SummEval", rules_only=True) == paper_plan("SummEval", rules_only=True)


def test_facts_add_up():
    assert {row["dataset"]: len(row["metrics"].split()) for row in facts("datasets")}.keys() == datasets().keys()
    assert sum(len(paper_plan(name).perturbations) for name in datasets()) == 59 == len(facts("perturbations"))


def test_claims_concern_data_sets():
    assert len(claims()) == 15
    known = {*datasets(), "all", "nearly all", "most"}
    assert all(set(claim.datasets) <= known and claim.models and claim.claim.endswith(".") for claim in claims())
    about = [claim.claim for claim in claims("sumpubmed")]
    assert "Below 1: no data set is harder." in about
    assert "The highest of the six data sets, and the steadiest." not in about


# --- figures read off the pictures


HEAD = "dataset,model,score,value\n"


NO_NUMBER = ", line 2, column 'value': expected a number of at least 0, not "
TWICE = HEAD + "SummEval,m,d_average,1\n"


def test_figures_are_read_with_the_task_of_their_data_set(tmp_path):
    path = written(tmp_path / "bars.csv", HEAD + "summeval,GPT4-Turbo,d_average,10.5\nWMT-22 de-en,m,d minimum,0\n")
    first, second = read_published(path)
    assert (first.dataset, first.task, first.model, first.score, first.value) == (
        *("SummEval", "summarization", "GPT4-Turbo", "d_average", 10.5),
    )
    assert (second.task, second.score, second.value) == ("translation", "d_minimum", 0.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + "CNN,m,d_average,1\n", ", line 2: unknown data set 'CNN'; expected one of "),
        (HEAD + "SummEval,m,average,1\n", ", line 2: unknown score 'average'; expected one of "),
        (HEAD + "SummEval,m,d_average,high\n", f"{NO_NUMBER}'high'"),
        (TWICE + "SUMMEVAL,m,d_average,2\n", ", line 3: d_average of m on SummEval is repeated"),
    ],
)
def test_figures_that_break_the_rules_are_named_with_their_line(tmp_path, text, expected):
    path = written(tmp_path / "bars.csv", text)
    assert problem(read_published, path).startswith(f"{path}{expected}")
