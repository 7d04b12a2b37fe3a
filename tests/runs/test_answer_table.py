"""`score RUNS -o FILE`: the answers of runs as one table."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from pfgen_fast import Scorer
from pfgen_fast.item_scores.columns import ColumnNames
from pfgen_fast.item_scores.reading import read_item_scores
from pfgen_fast.runs.comparison import item_scores_of_means, means_of
from pfgen_fast.runs.trials import find_runs
from pfgen_fast.suite.rules import SCORES


@pytest.mark.parametrize("name", ["answers.csv", "answers.tsv.gz", "answers.jsonl", "answers.parquet"])
def test_a_table_of_answers_has_the_scores_of_the_runs(call, varied, mini, tmp_path, name):
    folders = [varied / f"org/model-{k}/abc" for k in (0, 5)]
    before = {path: path.read_bytes() for folder in folders for path in folder.rglob("result.json")}
    code, out, _ = call("score", *folders, "--suite", "mini", "-o", tmp_path / name, "--json")
    assert (code, [record["result"] for record in json.loads(out)]) == (0, [str(tmp_path / name)] * 2)
    assert {path: path.read_bytes() for folder in folders for path in folder.rglob("result.json")} == before
    scores = read_item_scores([tmp_path / name], ColumnNames(model="run_name", score=SCORES))
    expected = item_scores_of_means(["0", "5"], [means_of(run, Scorer(mini)) for run in find_runs(folders)], mini)
    assert scores.items == expected.items
    for metric, column in zip(SCORES, ("average", *SCORES[1:]), strict=True):
        np.testing.assert_allclose(scores.values[metric], expected.values[column], rtol=0, atol=1e-5)
    np.testing.assert_array_equal(scores.n_trials["score"], expected.n_trials["average"])


def test_a_row_says_how_its_scores_were_made(call, varied, mini, scorer, tmp_path):
    run = varied / "org/model-0/abc"
    assert call("score", run, "--suite", "mini", "-o", tmp_path / "a.csv")[0] == 0
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["signature"], row["suite_hash"]) for row in rows} == {(scorer.signature, mini.metadata_hash)}
    assert json.loads(rows[0]["config"]) == json.loads((run / "config.json").read_text(encoding="utf-8"))
    assert [row["trial"] for row in rows[:2]] == ["1", "2"]


def test_one_bad_run_does_not_stop_the_others(call, varied, tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "trials.jsonl").write_text("{\n")
    run = varied / "org/model-0/abc"
    code, _, err = call("score", tmp_path / "bad", run, "--suite", "mini", "-o", tmp_path / "a.csv")
    assert (code, "bad" in err) == (3, True)
    assert len((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()) > 8
    code, _, err = call("score", run, "--suite", "mini", "-o", tmp_path / "a.json")
    assert (code, "a.json: expected a file that ends with .csv" in err) == (2, True)
