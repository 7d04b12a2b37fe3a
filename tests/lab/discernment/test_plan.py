"""Plans: names of perturbations, the usual plan, parts of it, degrees, plans of users and given texts."""

import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from makers.tested_evaluators import problem, written
from pfgen_fast.lab.discernment.discernment_items import CollectionItem
from pfgen_fast.lab.discernment.discernment_plan import (
    Perturbation,
    Plan,
    perturbation,
    perturbations_named,
    usual_plan,
)
from pfgen_fast.lab.discernment.kinds import ALIASES, KINDS, LADDERS
from pfgen_fast.lab.discernment.model_damage import made_prompt
from pfgen_fast.lab.discernment.plan_sources import claims, datasets, facts, open_plan, paper_plan, read_published
from pfgen_fast.lab.evaluators.criteria import read_criteria


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
        ("char_delete/0", "char_delete/0: expected a degree such as 30 (per mille) or k5, not '0'"),
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
        ({"levels": ["control"]}, ["identity", "newline", "punctuation", "width"]),
    ],
)
def test_a_part_of_a_plan_has_its_degrees_in_rising_order(options, expected):
    plan = open_plan(**options)
    assert (names(plan), plan.name) == (expected, "usual, changed")
    assert open_plan() == usual_plan()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"kinds": ["negat"]}, "unknown kind 'negat'; expected one of negate, "),
        ({"levels": ["words"]}, "unknown level 'words'; expected one of word, character, sentence, control"),
        ({"kinds": ["negate"], "levels": ["control"]}, "the plan is empty; expected at least one perturbation"),
    ],
)
def test_a_wrong_choice_is_refused(options, expected):
    assert problem(open_plan, **options).startswith(expected)


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


# --- files


def test_a_file_names_kinds_and_degrees(tmp_path):
    path = written(
        tmp_path / "short.toml",
        """
        name = "short one"
        [kinds]
        newline = {}
        char_delete.permille = [10, 20]
        word_drop.permille = [100, 200]
        truncate = { k = [5, 10] }
        answer_swap = {}
        char_typo = {}
        grammar_error.degrees = ["minor"]
        fictional_entity = {}
        paraphrase = {}
        """,
    )
    plan = open_plan(path)
    assert plan.name == "short one"
    assert names(plan) == [
        *("newline", "char_delete/10", "char_delete/20", "word_drop/100", "word_drop/200", "truncate/k5"),
        *("truncate/k10", "answer_swap/1000", *(f"char_typo/{p}" for p in LADDERS["fine"]), "grammar_error/minor"),
        *("fictional_entity/minor", "fictional_entity/major", "paraphrase"),
    ]


IN_A_FILE = {
    "": "kinds: expected a table with at least one kind, such as negate = {}",
    "kind = {}": "unknown key 'kind'; expected one of kinds, name",
    "kinds.char_typo = { permille = 10 }": "kinds.char_typo: permille: expected a list of degrees, not 10",
    "kinds.char_typo = { permille = [2, 1] }": "kinds.char_typo: permille: expected ascending degrees, ",
}
IN_A_KIND = {
    "negat = {}": "unknown kind 'negat'; expected one of negate, ",
    "negate = { permil = [3] }": "unknown key 'permil'; expected one of permille, ",
    "negate = { k = [1], permille = [1] }": "expected one of permille, k, degrees, ",
    "negate = { degrees = ['minor'] }": "a rule makes the texts; expected permille or k, and no prompt ",
    "newline = { k = [1] }": "the kind has no such degrees; expected {} instead of k",
    "grammar_error = { degrees = ['no'] }": "unknown degree of grammar_error 'no'; ",
    "negate = { prompt = '{text}' }": "a rule makes the texts; expected permille or k, and no prompt ",
    "paraphrase = { prompt = 'Say it.' }": "expected the placeholder {text} in the template",
    "paraphrase = { prompt = '{text} {txet}' }": "unknown placeholder {txet}; there are {text}, {what}, ",
    "grammar_error = { prompt = '{text}' }": 'prompt: expected a prompt for each degree, as { minor = "...", major = ',
    "grammar_error = { prompt = { minor = '{text}' } }": "prompt: expected a prompt for each degree, as { minor = ",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *IN_A_FILE.items(),
        *((f"kinds.{text}", f"kinds.{text.split()[0]}: {expected}") for text, expected in IN_A_KIND.items()),
    ],
)
def test_a_file_that_breaks_the_rules_is_named_with_the_place(tmp_path, text, expected):
    path = written(tmp_path / "short.toml", text)
    assert problem(open_plan, path).startswith(f"{path}: {expected}")


def test_a_plan_may_replace_the_prompt_of_each_kind_and_degree_that_a_model_makes(tmp_path):
    text = """
[kinds]
paraphrase = { prompt = "Say in {language}: {text}" }
grammar_error = { degrees = ["major"], prompt = "{count} errors in {what}: {text}" }
rewrite_insert = { prompt = { minor = "Once: {text}", major = "Everywhere: {text}" } }
fictional_entity = {}
"""
    plan = open_plan(written(tmp_path / "own.toml", text))
    prompts = {entry.name: entry.prompt for entry in plan.perturbations}
    expected = {"paraphrase": "Say in {language}: {text}", "grammar_error/major": "{count} errors in {what}: {text}"}
    expected |= {"rewrite_insert/minor": "Once: {text}", "rewrite_insert/major": "Everywhere: {text}"}
    assert prompts == {**expected, **dict.fromkeys(("fictional_entity/minor", "fictional_entity/major"))}
    assert plan.notes == (
        "The prompts of the plan replace the packaged prompts of paraphrase, grammar_error/major, "
        "rewrite_insert/minor, rewrite_insert/major.",
    )
    other = replace(plan, perturbations=tuple(replace(entry, prompt=None) for entry in plan.perturbations))
    assert plan.hash(tables="t") != other.hash(tables="t")
    summary = CollectionItem("1", "Ice {floats}.", "summarization", "en")
    filled = [made_prompt(summary, entry, read_criteria()) for entry in plan.perturbations[:2]]
    assert filled == ["Say in English: Ice {floats}.", "five errors in a summary of a source text: Ice {floats}."]


def test_unknown_plans_and_kinds_of_a_model_among_rules_only_are_refused(tmp_path):
    assert problem(open_plan, "SumEval").startswith("unknown plan 'SumEval'; expected one of SummEval, ")
    path = written(tmp_path / "short.toml", "kinds.paraphrase = {}")
    expected = f"{path}: paraphrase is made by a language model; expected only kinds made by rules"
    assert problem(open_plan, path, rules_only=True) == expected


# --- the hash


def test_the_hash_is_of_all_that_decides_the_texts_and_not_of_the_order():
    plan = open_plan(kinds=["negate/200", "newline", "grammar_error/minor"])
    backwards = Plan(plan.perturbations[::-1], "another name", ("A note.",))
    own = plan.hash(tables="t")
    assert re.fullmatch("[0-9a-f]{64}", own)
    assert backwards.hash(tables="t") == own
    plans = [open_plan(kinds=[kind, "newline", "grammar_error/minor"]) for kind in ("negate/201", "negate/k200")]
    others = [other.hash(tables="t") for other in (*plans, replace(plan, analyser="sudachi"))]
    others += [plan.hash(tables="t", outside_texts={"grammar_error/minor": ["x", text]}) for text in (None, "y")]
    others.append(plan.hash(tables="u"))
    assert len({own, *others}) == len(others) + 1


# ---- The paper's facts, its plans for six data sets, and figures read off its pictures


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
    assert len({entry.name for entry in plan.perturbations}) == len(plan.perturbations) == n
    assert Counter(entry.level for entry in plan.perturbations) == levels
    assert any(entry.method == "model" for entry in plan.perturbations) != rules_only
    assert bool(plan.notes) == rules_only
    for row in facts("perturbations"):
        if row["dataset"] == name:
            assert Fraction(row["share_of_average"]) == Fraction(1, len(levels) * levels[row["level"]])


def test_numbers_of_sites_are_those_of_the_paper_whose_plans_open_by_data_set():
    """Kinds by rules that stand in for a model change as many places as the model is asked to."""
    plan = {entry.name: entry for entry in paper_plan("SumPubMed").perturbations}
    assert (plan["char_delete/minor"].k, plan["char_typo/major"].k) == (20, 100)
    assert (plan["sentence_reorder/minor"].k, plan["sentence_reorder/major"].permille) == (2, 1000)
    assert (plan["rewrite_insert/major"].k, plan["rewrite_insert/major"].method) == (None, "model")

    def numbers(dataset):
        plan = paper_plan(dataset, rules_only=True)
        return [
            entry.k for entry in plan.perturbations if entry.kind in ("term_swap", "function_word", "sentence_repeat")
        ]

    assert numbers("SummEval") == [1, 3, 2, 5, 1, 5]
    assert numbers("Answer Equivalence")[-1] == 3
    assert numbers("Story Cloze Test")[-1] == 1
    (note,) = paper_plan("WMT-22 de-en", rules_only=True).notes
    stand_ins = "term_swap stands in for fictional_entity, function_word stands in for grammar_error"
    assert note == f"No language model damages texts: {stand_ins}."
    assert open_plan("paper:wmt-22_DE-EN") == open_plan("WMT-22 de-en") == paper_plan("WMT-22 de-en")
    assert open_plan("SummEval", rules_only=True) == paper_plan("SummEval", rules_only=True)


def test_facts_add_up_and_claims_concern_data_sets():
    assert {row["dataset"]: len(row["metrics"].split()) for row in facts("datasets")}.keys() == datasets().keys()
    assert sum(len(paper_plan(name).perturbations) for name in datasets()) == 59 == len(facts("perturbations"))
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


def test_figures_are_read_with_the_names_of_the_paper(tmp_path):
    path = written(tmp_path / "bars.csv", HEAD + "summeval,GPT4-Turbo,d_average,10.5\nWMT-22 de-en,m,d minimum,0\n")
    first, second = read_published(path)
    assert (first.dataset, first.model, first.score, first.value) == (*("SummEval", "GPT4-Turbo", "d_average", 10.5),)
    assert (second.dataset, second.score, second.value) == ("WMT-22 de-en", "d_minimum", 0.0)


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
