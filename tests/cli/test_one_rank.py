"""A run has one rank: leaderboard, report, significance and place count the same runs."""

from __future__ import annotations

import csv
import json
import re
import shutil

from makers.pages import overview_in
from makers.runs import make_run, trial_lines


def test_commands_agree_on_ranks_and_on_who_counts(call, varied, mini, tmp_path, undrawn):
    runs = shutil.copytree(varied, tmp_path / "runs")
    make_run(runs / "human", trial_lines(mini), {"model": "system/ground-truth"})
    assert call("score", runs, "-s", "mini")[0] == 0
    rows = json.loads(call("leaderboard", runs, "--json")[1])
    expected = {row["model"]: row["rank"] for row in rows}
    assert sorted(rank for rank in expected.values() if rank) == [1, 2, 3, 4, 5, 6]
    assert expected["system/ground-truth"] is None

    placed = json.loads(call("place", runs, "--against", runs, "--json")[1])
    assert {one["model"]: one["rank"] for one in placed} == expected
    assert {one["of"] for one in placed if one["rank"]} == {6}
    text = call("place", runs / "org/model-1", "--against", runs)[1]
    assert re.search(r"yardsticks, which have no rank: \S+human 0\.\d{4}\n", text)

    page = tmp_path / "report.html"
    assert call("report", runs, "-s", "mini", "-o", page)[0] == 0
    overview = overview_in(page.read_text(encoding="utf-8"))
    assert {run["parameters"]["model"]: run["rank"] for run in overview["runs"]} == expected

    rows = call("leaderboard", runs, "--plain")[1].splitlines()[1:8]
    tied = {model: ties for _, _, _, ties, model, *_ in map(str.split, rows)}
    ends = {run["parameters"]["model"]: run["tied"] for run in overview["runs"]}
    words = {
        model: "-" if two is None else "none" if two[0] == two[1] else f"{two[0]}-{two[1]}"
        for model, two in ends.items()
    }
    assert tied == words
    assert len(set(tied.values())) > 2

    assert call("experiment", "significance", runs, "-s", "mini", "-o", tmp_path / "found")[0] == 0
    with open(tmp_path / "found" / "significance-leaderboard.csv", encoding="utf-8", newline="") as table:
        places = {row["run"]: int(row["place"]) for row in csv.DictReader(table)}
    assert places == {one["run"]: one["rank"] for one in placed if one["rank"]}
