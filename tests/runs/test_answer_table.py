"""`score RUNS -o FILE`: the answers of runs as one table."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest
from pfgen_fast import Scorer
from pfgen_fast.runs.items.item_columns import ColumnNames
from pfgen_fast.runs.items.score_reading import read_item_scores
from pfgen_fast.runs.run_comparison import item_scores_of_means, means_of
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
    code, out, err = call("score", tmp_path / "bad", run, "--suite", "mini", "-o", tmp_path / "a.csv")
    assert (code, "bad" in err, "\nanswers of 1 run: " in out) == (3, True, True)
    assert len((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()) > 8
    code, _, err = call("score", run, "--suite", "mini", "-o", tmp_path / "a.json")
    assert (code, "a.json: expected a file that ends with .csv" in err) == (2, True)


def test_a_run_of_another_suite_or_without_one_does_not_stop_the_others(call, varied, mini, make_suite, tmp_path):
    """Each of three projects has a run; one has a suite with other reference sets, and one has no suite."""
    run = varied / "org/model-0/abc/trials.jsonl"
    make_suite({"answers": {"X": ["氷"]}, "question": mini["Q01"].question})
    for name in ("a", "b", "c"):
        (tmp_path / name / "result/run").mkdir(parents=True)
    shutil.copytree(mini.folder, tmp_path / "a/data")
    (tmp_path / "b/data").mkdir()
    (tmp_path / "Q01.json").rename(tmp_path / "b/data/Q01.json")
    for name in ("a", "c"):
        shutil.copy(run, tmp_path / name / "result/run")
    answer = json.dumps({"question": mini["Q01"].question, "answer": "氷"}, ensure_ascii=False)
    (tmp_path / "b/result/run/trials.jsonl").write_text(answer + "\n", encoding="utf-8")
    projects = [tmp_path / name for name in "abc"]
    code, out, err = call("score", *projects, "-o", tmp_path / "all.csv")
    assert (code, out.count("result/run\n"), "answers of 1 run: " in out) == (3, 1, True)
    assert [part in err for part in ("other reference sets than", "the run is not in a checkout")] == [True, True]
    code, out, _ = call("score", *projects)
    assert (code, out.count("result/run\n")) == (3, 2)
    assert call("score", projects[2])[0] == 2
