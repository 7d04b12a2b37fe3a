"""Two commands that show the same figure show the same digits, and give a run the same rank."""

from __future__ import annotations

import csv
import json
import re
import shutil

import pytest
from makers.runs import make_run

HUMAN = "system/ground-truth"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory, mini, varied):
    """A checkout of the layout of pfgen-bench with a yardstick in front, and two runs of the same score."""
    root = tmp_path_factory.mktemp("checkout")
    shutil.copytree(varied, root / "result")
    shutil.copytree(root / "result/org/model-1", root / "result/org/model-1-again")
    lines = [
        json.dumps({"question": question.question, "answer": question.answers["A"][k]})
        for k in range(3)
        for question in mini
    ]
    make_run(root / "data", lines, {"model": HUMAN, "mode": "system"})
    (root / "data/Q01.json").write_text("{}")
    return root


@pytest.fixture
def shown(call, checkout, tmp_path):
    """What each command shows of the runs, by their names."""
    code, _, err = call("score", "-s", "mini", checkout / "result", checkout / "data")
    assert code == 0, err
    call("report", "-s", "mini", checkout / "result", "-o", tmp_path / "report.html", "-q")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    overview = json.loads(re.search(r'<script type="application/json" id="overview">(.*?)</script>', page)[1])
    code, _, err = call(
        "experiment", "significance", checkout / "result", checkout / "data", "-s", "mini", "-o", tmp_path
    )
    assert code == 0, err
    with (tmp_path / "significance-leaderboard.csv").open(encoding="utf-8") as file:
        significance = {row["run"]: row for row in csv.DictReader(file)}
    rows = json.loads(call("leaderboard", checkout / "result", "--json")[1])
    names = {row["run"]: row["run"].removeprefix(f"{checkout}/").removeprefix("result/") for row in rows}
    return {
        "leaderboard": {names[row["run"]]: row for row in rows},
        "report": {run["name"]: run for run in overview["runs"]},
        "significance": significance,
    }


def test_a_run_has_the_same_rank_everywhere_and_a_yardstick_has_none(shown):
    ranks = {name: row["rank"] for name, row in shown["leaderboard"].items()}
    assert ranks["data"] is None
    assert sorted(rank for rank in ranks.values() if rank) == list(range(1, 8))
    assert {name: run["rank"] for name, run in shown["report"].items()} == ranks
    assert {name: int(row["place"]) for name, row in shown["significance"].items()} == {
        name: rank for name, rank in ranks.items() if rank
    }


def test_runs_are_tied_by_the_same_comparisons(shown):
    differs = [row["differs"] for row in shown["significance"].values()]
    ties = [run["tied"] for run in shown["report"].values() if run["rank"]]
    assert [tied[1] == rank for rank, tied in enumerate(ties[:-1], 1)] == [word == "yes" for word in differs[:-1]]
    assert {"yes", "no"} <= set(differs)
