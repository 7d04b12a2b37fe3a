"""The worked examples of the rules of damage."""

from __future__ import annotations

import json

from makers import discernment_data
from pfgen_fast.discernment.damage import RULES, language_tables, perturbed
from pfgen_fast.discernment.damage.donors import Donors
from pfgen_fast.discernment.kinds import Impossible
from pfgen_fast.discernment.plan import Perturbation

pytestmark = discernment_data.needs_discernment_data


def test_each_text_becomes_that_of_the_examples():
    examples = discernment_data.perturbations()["vectors"]
    assert len(examples) > 100
    assert {example["kind"] for example in examples} >= RULES.keys()
    for example in examples:
        degree = Perturbation(example["kind"], permille=example.get("permille"), k=example.get("k"))
        (found,) = perturbed(
            example["text"],
            example["kind"],
            [degree],
            seed=example["seed"],
            language=example["language"],
            donors=Donors(example.get("donors", ())),
            alternative=example.get("alternative"),
        )
        assert (None if isinstance(found, Impossible) else found) == example["expected"], example


def test_the_packaged_tables_are_those_of_the_examples():
    theirs = json.loads((discernment_data.folder() / "tables.json").read_bytes())
    assert json.loads(language_tables.FILE.read_bytes()) == theirs
