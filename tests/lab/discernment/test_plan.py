"""Plans: names of perturbations, the usual plan, parts of it, degrees, given texts, and the plans of the paper."""

import re
from collections import Counter
from fractions import Fraction

import pytest
from makers.tested_evaluators import problem
from pfgen_fast.lab.discernment.discernment_items import CollectionItem
from pfgen_fast.lab.discernment.discernment_plan import (
    Plan,
    open_plan,
    paper_facts,
    paper_plan,
    perturbation,
    perturbations_named,
    usual_plan,
)
from pfgen_fast.lab.discernment.kinds import ALIASES, KINDS, LADDERS, Perturbation


def names(plan):
    return [entry.name for entry in plan.perturbations]


def item(**changes):
    return CollectionItem("a", "Ice floats.", "story", "en", **changes)


def test_the_usual_plan_has_every_kind_of_a_rule_with_its_ladder():
    plan = usual_plan()
    assert plan.name == "usual"
    assert len(plan.perturbations) == 18 * 5 + 1 + 4
    assert plan.kinds == tuple(
        kind.name for kind in KINDS.values() if kind.method == "rule" and kind.name != "wrong_ending"
    )
    for entry in plan.perturbations:
        kind = KINDS[entry.kind]
        assert entry.level == kind.level
        assert entry.is_control == (kind.ladder is None)
        assert entry.permille is None or entry.permille in LADDERS[kind.ladder]


@pytest.mark.parametrize(
    ("name", "permille", "k", "method"),
    [
        ("char_delete/30", 30, None, "rule"),
        ("char_delete/k5", None, 5, "rule"),
        ("grammar_error/minor", None, None, "model"),
        ("paraphrase", None, None, "model"),
        ("newline", None, None, "rule"),
        ("random_ending/1000", 1000, None, "rule"),
        ("random_ending", 1000, None, "rule"),
    ],
)
def test_a_name_says_kind_and_degree(name, permille, k, method):
    (entry,) = perturbations_named(name)
    assert (entry.permille, entry.k, entry.method) == (permille, k, method)
    assert entry.name == (name if name != "random_ending" else "random_ending/1000")
    assert entry.rule == ALIASES.get(entry.kind, entry.kind)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("char_delet", "unknown kind 'char_delet'; expected one of char_delete, "),
        ("char_delete/0", "char_delete/0: expected a degree such as 3% or k5, not '0'"),
        ("char_delete/1001", "char_delete: permille 1001: expected a whole number from 1 to 1000"),
        ("answer_swap/30", "answer_swap: the kind has no degrees; expected neither permille nor k"),
        ("grammar_error/slight", "unknown degree of grammar_error 'slight'; expected one of minor, major"),
        ("paraphrase/minor", "unknown degree of paraphrase 'minor'; expected one of none"),
    ],
)
def test_an_unknown_kind_or_degree_is_refused(name, expected):
    assert problem(perturbation, "negate") == "negate: expected either permille or k, not neither"
    assert problem(perturbation, "negate", permille=1, k=1) == "negate: expected either permille or k, not both"
    assert problem(perturbation, "paraphrase", k=1) == "paraphrase: made by a model; expected neither permille nor k"
    actual = problem(perturbations_named, name)
    assert actual.startswith(expected)
    if name == "char_delet":
        assert sorted(actual.partition("one of ")[2].partition(";")[0].split(", ")) == sorted([*KINDS, *ALIASES])


IN_ANY_ORDER = ["negate/k3", "newline", "negate/500", "negate/k1", "negate/200", "negate/500"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"kinds": ["truncate", "char_delete/10"]}, [*(f"truncate/{p}" for p in LADDERS["cut"]), "char_delete/10"]),
        ({"kinds": IN_ANY_ORDER}, ["negate/200", "negate/500", "negate/k1", "negate/k3", "newline"]),
    ],
)
def test_a_part_of_a_plan_has_its_degrees_in_rising_order(options, expected):
    plan = open_plan(**options)
    assert (names(plan), plan.name) == (expected, "usual, changed")
    assert open_plan() == usual_plan()


def test_a_wrong_choice_is_refused():
    assert problem(open_plan, kinds=["negat"]).startswith("unknown kind 'negat'; expected one of negate, ")
    assert problem(open_plan, kinds=[]) == "the plan is empty; expected at least one perturbation"


# --- texts that come with the items


def test_given_texts_are_added_and_take_the_place_of_made_ones():
    items = [item(perturbed={"char_delete/30": "x", "grammar_error/major": "x"}), item(perturbed={"noise/low": "x"})]
    plan = usual_plan(items)
    arguments = [entry for entry in plan.perturbations if entry.method == "given"]
    assert arguments == [
        Perturbation("char_delete", "30", 30, None, "character", "given"),
        Perturbation("grammar_error", "major", None, None, "word", "given"),
        Perturbation("noise", "low", None, None, "word", "given"),
    ]
    assert [entry.kind for entry in plan.perturbations].count("char_delete") == 5
    assert plan.notes == ("The kind noise is unknown, so it counts as damage to words.",)
    assert "wrong_ending/1000" not in names(plan)
    assert "wrong_ending/1000" in names(usual_plan([*items, item(alternative="Ice sinks.")]))
    assert names(open_plan(plan, kinds=["noise"])) == ["noise/low"]
    assert problem(open_plan, plan, kinds=["nose"]).startswith("unknown kind 'nose'; expected one of ")


def test_an_unknown_plan_is_refused():
    assert problem(open_plan, "SumEval").startswith("unknown plan 'SumEval'; expected one of SummEval, ")


# --- the hash


def test_the_hash_is_of_all_that_decides_the_texts_and_not_of_the_order():
    plan = open_plan(kinds=["negate/200", "newline", "grammar_error/minor"])
    backwards = Plan(plan.perturbations[::-1], "another name", ("A note.",))
    own = plan.hash(tables="t")
    assert re.fullmatch("[0-9a-f]{64}", own)
    assert backwards.hash(tables="t") == own
    plans = [open_plan(kinds=[kind, "newline", "grammar_error/minor"]) for kind in ("negate/201", "negate/k200")]
    others = [other.hash(tables="t") for other in plans]
    others += [plan.hash(tables="t", model_texts={"grammar_error/minor": ["x", text]}) for text in (None, "y")]
    others.append(plan.hash(tables="u"))
    assert len({own, *others}) == len(others) + 1


# ---- The plans of the paper for its six data sets


SIZES = {
    "SummEval": (12, {"character": 4, "word": 4, "sentence": 4}),
    "SumPubMed": (12, {"character": 4, "word": 4, "sentence": 4}),
    "Story Cloze Test": (6, {"character": 2, "word": 2, "sentence": 2}),
    "Answer Equivalence": (9, {"character": 4, "word": 4, "sentence": 1}),
    "WMT-22 de-en": (10, {"character": 4, "word": 6}),
    "WMT-22 zh-en": (10, {"character": 4, "word": 6}),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_plan_of_the_paper_has_its_perturbations_by_level(name):
    plan = paper_plan(name)
    n, levels = SIZES[name]
    assert len({entry.name for entry in plan.perturbations}) == len(plan.perturbations) == n
    assert Counter(entry.level for entry in plan.perturbations) == levels
    for row in paper_facts("perturbations"):
        if row["dataset"] == name:
            assert Fraction(row["share_of_average"]) == Fraction(1, len(levels) * levels[row["level"]])


def test_numbers_of_sites_are_those_of_the_paper_whose_plans_open_by_data_set():
    plan = {entry.name: entry for entry in paper_plan("SumPubMed").perturbations}
    assert (plan["char_delete/minor"].k, plan["char_typo/major"].k) == (20, 100)
    assert (plan["sentence_reorder/minor"].k, plan["sentence_reorder/major"].permille) == (2, 1000)
    assert (plan["rewrite_insert/major"].k, plan["rewrite_insert/major"].method) == (None, "model")
    assert open_plan("wmt-22_DE-EN") == open_plan("WMT-22 de-en") == paper_plan("WMT-22 de-en")
    assert sum(len(paper_plan(name).perturbations) for name in SIZES) == 59 == len(paper_facts("perturbations"))
    assert {row["dataset"] for row in paper_facts("datasets")} == set(SIZES)
