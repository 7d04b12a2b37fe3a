"""Models of a table placed among its other models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pfgen_fast import TrialsError, place
from pfgen_fast.runs.items.item_table import ItemScores
from pfgen_fast.runs.placement import place_models
from pfgen_fast.runs.statistics.paired import paired_difference
from pfgen_fast.runs.statistics.verdicts import corrected
from pyarrow.csv import read_csv


def scores(**changes: object) -> ItemScores:
    values = np.array([[0.9, 0.8, 0.9, 0.7, 0.9, 0.8, 0.9], [0.5, 0.6, 0.4, 0.5, 0.4, 0.6, 0.5],
                       [0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 0.5], [0.1, 0.2, 0.1, 0.3, 0.1, 0.2, 0.1]])  # fmt: skip
    return ItemScores(("best", "new", "like", "worst"), tuple("1234567"), {"accuracy": values}, **changes)


def test_a_model_is_placed_by_paired_tests_over_the_common_items():
    found = place(run="new", against=scores())
    assert (found.run, found.rank, found.ranks, found.of) == ("new", 3, (2, 3), 4)
    assert (found.named("worse"), found.named("not distinguished"), found.named("better")) == (
        ["best"],
        ["like"],
        ["worst"],
    )
    of_pairs = [
        paired_difference(scores().of("new", "accuracy"), scores().of(one.run, "accuracy")) for one in found.others
    ]
    assert [one.difference for one in found.others] == pytest.approx([pair.mean for pair in of_pairs])
    assert [one.corrected for one in found.others] == pytest.approx(corrected([p.p_value for p in of_pairs], "holm"))
    assert found.sentences()[0].startswith(
        "of 3 other models, it is better than 1, worse than 1, not distinguished from 1 (95 %"
    )
    assert "| model | score |" in found.to_markdown()


class Unsearched(tuple):
    def index(self, *_):
        raise AssertionError("a search for each of many models takes minutes")

    __contains__ = index


def test_models_are_found_without_searching_all_names():
    table = replace(scores(), models=Unsearched(scores().models))
    assert place_models(table, ["new"])[0].to_dict() == place_models(scores(), ["new"])[0].to_dict()


def test_the_repr_of_a_placement_has_no_control_characters():
    table = replace(scores(), models=("\x1b[2J", "new", "like", "worst"))
    assert repr(place_models(table, ["\x1b[2J"])[0]).startswith(r"Placement(\u001b[2J: 0.8429 ")


def test_lower_scores_can_be_better():
    found = place_models(scores(higher_is_better={"accuracy": False}), ["new"])[0]
    assert (found.rank, found.named("worse"), found.named("better")) == (2, ["worst"], ["best"])
    assert [one.run for one in found.nearest] == ["worst", "like", "best"]


def test_models_are_placed_only_among_others(call, tmp_path):
    path = tmp_path / "scores.csv"
    table = scores()
    lines = [
        f"{model},{item},{table.of(model, 'accuracy')[int(item) - 1]}" for model in table.models for item in table.items
    ]
    path.write_text("\n".join(["model,item,score", *lines]) + "\n")
    new, old = tmp_path / "new.csv", tmp_path / "old.csv"
    new.write_text("\n".join(["model,item,score", *(line for line in lines if line.startswith("new"))]))
    old.write_text("\n".join(["model,item,score", *(line for line in lines if not line.startswith("new"))]))
    expected = place("new", path)
    assert place("new", read_csv(path)).to_dict() == expected.to_dict()
    code, out, err = call("place", path, "--models", "new", "-q", "--json")
    assert (code, err) == (0, "")
    assert out == call("place", new, "--against", old, "--json")[1]
    assert str(expected.to_dict()["rank_low"]) in out
    assert call("place", new, "--against", path)[1].startswith("new (new): ")
    assert "name the models to place (--models)" in call("place", path)[2]
    assert "no models to compare with" in call("place", new, "--models", "new")[2]
    with pytest.raises(TrialsError, match=r"unknown model 'nw'.*did you mean 'new'"):
        place("nw", path)


def test_a_path_that_does_not_exist_is_a_wrong_call(call, tmp_path):
    code, _, err = call("place", tmp_path / "a", tmp_path / "b")
    assert (code, err.count("no such file or folder")) == (2, 2)
