"""The signature of a test: equal only where everything is that the figures depend on."""

from __future__ import annotations

import re
from dataclasses import replace

from pfgen_fast.discernment import Collection, chosen_plan, signature
from pfgen_fast.evaluators.evaluator import Item


def test_a_signature_names_everything_that_figures_depend_on(monkeypatch):
    monkeypatch.setattr(signature, "tables_hash", lambda: "t")
    collection = Collection.of([Item("1", "Ice floats.", "story")])
    plan = chosen_plan(kinds=["newline"])
    usual = {"seed": 0, "evaluator": "mine:1"}
    found = signature.signature_of(collection, plan, **usual)
    assert re.fullmatch(
        r"discernment:[^|]+\|collection:[0-9a-f]{64}\|plan:[0-9a-f]{64}\|seed:0\|evaluator:mine:1\|zeros:drop"
        r"\|combine:harmonic\|weights:none",
        found,
    )
    others = [
        signature.signature_of(Collection.of([Item("1", "Ice sinks.", "story")]), plan, **usual),
        signature.signature_of(collection, chosen_plan(kinds=["width"]), **usual),
        *(signature.signature_of(collection, plan, **{**usual, "seed": 1}),),
        signature.signature_of(collection, plan, **{**usual, "evaluator": "mine:2"}),
        signature.signature_of(collection, plan, **usual, zeros="pratt"),
        signature.signature_of(collection, plan, **usual, weights="abc"),
        signature.signature_of(collection, replace(plan, analyser="sudachi"), **usual),
        signature.signature_of(collection, plan, **usual, made={"paraphrase": ["x"]}),
    ]
    assert len({found, *others}) == len(others) + 1


def test_the_tables_of_the_rules_have_a_hash():
    assert re.fullmatch("[0-9a-f]{64}", signature.tables_hash())
