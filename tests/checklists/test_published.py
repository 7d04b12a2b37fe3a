"""The published judgements give the published scores: of 20 models, cell by cell."""

from __future__ import annotations

import csv
from collections import Counter
from functools import cache
from typing import Any

import pytest
from makers.checklist_data import expected, folder, needs_hellobench
from pfgen_fast.checklists import open_runs, score_runs
from pfgen_fast.checklists.importing.hellobench_suite import import_suite
from pfgen_fast.checklists.scoring.scores import Scores
from pfgen_fast.checklists.scoring.table_data import to_dict

pytestmark = [pytest.mark.slow, needs_hellobench]

FIGURES = ("score", "rescaled", "rescaled_plain", "rescaled_missing_as_zero", "words")
OF_LENGTH = (*FIGURES, "mean_absolute_length_error", "mean_shortfall", "share_long_enough")
OF_AVERAGE = (*FIGURES[1:], "rescaled_over_answers")
LENGTHS = ("2k", "4k", "8k", "16k")


@cache
def scores() -> Scores:
    suite = import_suite(folder())
    return score_runs(suite, open_runs(sorted((folder() / "judgements").iterdir())))


@cache
def rows() -> dict[str, dict[str, Any]]:
    return {row["model"]: row for row in to_dict(scores())["rows"]}


def close(figure: float) -> Any:
    return pytest.approx(figure, abs=1e-9, rel=0)


def test_the_twenty_models_have_the_expected_scores():
    assert rows().keys() == expected().keys()
    n_compared = 0
    for model, of_model in expected().items():
        row = rows()[model]
        assert row["areas"].keys() == of_model["tasks"].keys()
        assert row["categories"].keys() == of_model["categories"].keys()
        assert row["lengths"].keys() == of_model["lengths"].keys()
        parts = [(row["areas"][area], part, FIGURES) for area, part in of_model["tasks"].items()]
        parts += [(row["categories"][name], part, FIGURES[:2]) for name, part in of_model["categories"].items()]
        parts += [(row["lengths"][length], part, OF_LENGTH) for length, part in of_model["lengths"].items()]
        parts += [(row["average"], of_model["average"], OF_AVERAGE)]
        for ours, theirs, names in parts:
            for name in ("n", "missing"):
                assert ours.get(name) == theirs.get(name, ours.get(name))
            for name in names:
                assert ours[name] == close(theirs[name]), (model, name)
                n_compared += 1
    assert n_compared == 20 * (5 * 5 + 38 * 2 + 5) + 24 * 8  # six models have answers of the four lengths


def test_the_intervals_are_those_of_other_draws_but_for_chance():
    for model, of_model in expected().items():
        low, high = rows()[model]["average"]["bootstrap_95"]
        assert (low, high) == pytest.approx(tuple(of_model["average"]["bootstrap_95"]), abs=0.8)
        assert low < rows()[model]["average"]["rescaled"] < high


def test_the_first_three_models_cannot_be_told_apart():
    found = scores()
    assert [model.model for model in found.models[:3]] == ["gpt4o_0806", "mistral_large_api", "o1_mini"]
    assert found.groups[0] == (0, 2)


def printed(model: str, cell: str) -> tuple[float, float]:
    """The score and the number of words of a cell of the published tables."""
    row = rows()[model]
    if cell == "average":
        return row["average"]["rescaled"], row["average"]["words"]
    part = row["lengths"].get(cell) if cell in LENGTHS else row["areas"].get(cell, {})
    if cell == "no limit":
        part = row["areas"]["heuristic_text_generation"]
    return part["rescaled"], part["words"]


def test_the_published_tables_follow_cell_by_cell():
    with open(folder() / "main_table.csv", encoding="utf-8", newline="") as file:
        cells = [row for row in csv.DictReader(file) if row["score_recomputed"]]
    equal: Counter[tuple[str, str]] = Counter()
    n: Counter[str] = Counter()
    for cell in cells:
        score, words = printed(cell["key"], cell["cell"])
        assert f"{score:.4f}" == cell["score_recomputed"], cell
        assert f"{words:.2f}" == cell["words_recomputed"], cell
        table = cell["table"].split()[0]
        n[table] += 1
        is_equal = {
            "score": f"{score:.2f}" == cell["score_paper"],
            "words": f"{words:.0f}" == cell["words_paper"],
        }
        for what, holds in is_equal.items():
            assert cell[f"{what}_equal"] == ("yes" if holds else "no"), cell
            equal[table, what] += holds
        assert bool(cell["note"]) >= (not is_equal["score"])
        if cell["answers"]:
            row = rows()[cell["key"]]
            part = row["lengths"][cell["cell"]] if cell["cell"] in LENGTHS else None
            part = part or row["areas"].get(cell["cell"]) or row["areas"]["heuristic_text_generation"]
            assert (part["n"], len(part["missing"])) == (int(cell["answers"]), int(cell["missing"]))
    assert n == {"main": 108, "length": 30, "long": 30}  # of 138, 45 and 36: not all models are there
    assert equal == {
        ("main", "score"): 92,
        ("main", "words"): 101,
        ("length", "score"): 30,
        ("length", "words"): 30,
        ("long", "score"): 22,
        ("long", "words"): 27,
    }
