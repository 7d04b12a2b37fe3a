"""`pfgen-fast checklists report`: the page, the table beside it, what it says, and its exit codes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from makers.checklist_reports import judged_run, some_runs
from makers.own_checklists import own_suite_in
from pfgen_fast.checklists.runs import write_run


@pytest.fixture
def suite(tmp_path):
    return own_suite_in(tmp_path / "suite")


def test_a_page_or_a_folder_of_one_is_written_with_the_table(call, tmp_path, suite):
    some_runs(tmp_path / "runs", suite)
    page = tmp_path / "out" / "essays.html"
    code, out, err = call(
        "checklists", "report", tmp_path / "runs", "--suite", tmp_path / "suite", "-o", page, "--draws", 50
    )
    assert code == 0, err
    assert "3 models: " in out
    assert "beside it essays.md, essays.csv, essays.json" in out
    assert json.loads(page.with_suffix(".json").read_text())["draws"] == 50
    assert page.read_text().startswith("<!doctype html>")
    folder = tmp_path / "page"
    code, out, _ = call("checklists", "report", tmp_path / "runs", "-s", tmp_path / "suite", "-o", folder, "-q")
    assert (code, out) == (0, "")
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["data", "index.html", "table.csv", "table.json", "table.md"]


def test_unjudged_answers_and_lines_that_cannot_be_read_end_with_3(call, tmp_path, suite):
    one = judged_run(tmp_path / "m", suite)
    rows = one.judgements(suite)
    rows[0] = replace(rows[0], scores=None, reasons=(), fault="form")
    write_run(tmp_path / "m", one.answers(suite).values(), rows, {"model": "m"})
    code, _, err = call("checklists", "report", tmp_path / "m", "-s", tmp_path / "suite", "-o", tmp_path / "p.html")
    assert code == 3
    assert "1 answer left out: the judge gave no usable reply" in err
    assert (tmp_path / "p.html").exists()
    judged_run(tmp_path / "n", suite)
    (broken,) = (tmp_path / "n").glob("judgements.jsonl")
    lines = broken.read_text().splitlines()
    broken.write_text("\n".join([*lines[1:], "no JSON"]) + "\n")
    code, _, err = call("checklists", "report", tmp_path / "n", "-s", tmp_path / "suite", "-o", tmp_path / "q.html")
    assert code == 3
    assert err.count("line 6") == 1
    assert (tmp_path / "q.html").exists()
