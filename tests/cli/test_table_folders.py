"""`score` for many tables: a folder in, a folder out; what failed, and what is up to date."""

import csv
import json
import os
from pathlib import Path

import pytest
from makers.runs import files_below

COLUMNS = ("--suite", "mini", "--question-column", "question", "--answer-column", "answer")
ROWS = "id,question,answer\n1,Q07,Ice floats.\n2,Q07,\n"


@pytest.fixture
def tables(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "sub/b.csv"):
        path = Path("in", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ROWS, encoding="utf-8")
    return Path("in")


def lines_of(out: str) -> list[str]:
    """The lines without the last one, which names the suite."""
    *lines, suite = out.splitlines()
    assert suite == "suite: mini"
    return lines


def test_a_folder_is_scored_into_a_folder_and_a_rerun_scores_what_is_missing(call, tables):
    code, out, err = call("score", tables, *COLUMNS, "-o", "out")
    assert (code, err) == (0, "")
    assert lines_of(out) == ["2 rows scored: out/a.csv", "2 rows scored: out/sub/b.csv", "2 files scored: out"]
    assert {name for name in files_below(Path("out")) if not name.startswith("_")} == {"a.csv", "sub/b.csv"}
    Path("out/a.csv").unlink()
    Path("in/README.md").write_text("", encoding="utf-8")
    code, out, err = call("score", tables, *COLUMNS, "-o", "out")
    assert lines_of(out) == ["2 rows scored: out/a.csv", "1 file scored, 1 file up to date: out"]
    _, out, _ = call("score", tables, *COLUMNS, "-o", "out", "--force")
    assert lines_of(out)[-1] == "2 files scored: out"


def test_files_and_globs_go_into_a_folder(call, tables):
    Path("there").mkdir()
    for output in ("there", "new/"):
        code, out, _ = call("score", "in/sub/b.csv", *COLUMNS, "-o", output)
        assert (code, lines_of(out)[0]) == (0, f"2 rows scored: {output.rstrip('/')}/b.csv")
    assert call("score", "in/sub/b.csv", *COLUMNS, "-o", "there")[1].startswith("1 file up to date: there")
    assert call("score", "in/*.csv", "in/sub/b.csv", *COLUMNS, "-o", "out")[0] == 0
    assert sorted(os.listdir("out")) == ["_pfgen_fast.json", "a.csv", "b.csv"]


def test_a_filter_says_how_many_rows_passed(call, tables):
    options = ("--columns", "average, helpfulness", "--filter", "average > 0")
    code, out, _ = call("score", tables, *COLUMNS, *options, "-o", "out")
    assert (code, lines_of(out)) == (
        0,
        [
            "2 rows scored, 1 passed the filter: out/a.csv",
            "2 rows scored, 1 passed the filter: out/sub/b.csv",
            "2 files scored: out",
        ],
    )
    [row] = csv.DictReader(Path("out/a.csv").read_text(encoding="utf-8").splitlines())
    assert list(row) == ["id", "question", "answer", "average", "helpfulness"]
    code, out, _ = call("score", "in/a.csv", *COLUMNS, *options, "-o", "one.csv")
    assert lines_of(out) == ["2 rows scored, 1 passed the filter: one.csv"]
    assert Path("one.csv").read_bytes() == Path("out/a.csv").read_bytes()


def test_outcomes_are_printed_as_json_or_text(call, tables):
    Path("in/sub/b.csv").write_text("id\n", encoding="utf-8")
    call("score", "in/a.csv", *COLUMNS, "-o", "out/")
    Path("in/c.csv").write_text(ROWS, encoding="utf-8")
    code, out, _ = call("score", tables, *COLUMNS, "-o", "out", "--json")
    outcomes = json.loads(out)
    assert (
        code,
        [(outcome["input"], outcome["status"], outcome["rows"], outcome["rows_written"]) for outcome in outcomes],
    ) == (
        3,
        [("in/a.csv", "current", None, None), ("in/c.csv", "scored", 2, 2), ("in/sub/b.csv", "failed", None, None)],
    )
    assert "no column 'question'" in outcomes[2]["error"]
    assert outcomes[0]["output"] == "out/a.csv"
    assert outcomes[0]["signature"].startswith("pfgen-fast:")
    code, told, err = call("score", tables, *COLUMNS, "-o", "out")
    assert (code, lines_of(told)[-1]) == (3, "2 files up to date, 1 file failed: out")
    assert err.startswith("error: in/sub/b.csv")
    assert call("score", tables, *COLUMNS, "-o", "out", "--quiet")[:2] == (3, "")
    code, out, _ = call("score", "in/a.csv", *COLUMNS, "-o", "one.csv", "--json")
    assert [(document["output"], document["status"], document["rows"]) for document in json.loads(out)] == [
        ("one.csv", "scored", 2)
    ]
    code, out, err = call("score", "in/a.csv", *COLUMNS, "-o", "-", "--json")
    assert (code, out, "--json prints to stdout" in err) == (2, "", True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("in", "-o", "-"), "several tables are scored into a directory: give --output FOLDER/, not -"),
        (("in",), "several tables are scored into a directory: give --output FOLDER/, not none"),
        (("in", "-", "-o", "out"), "a table on stdin has no name for a file in a directory"),
        (("in", "-o", "in/a.csv"), "several tables are scored into a directory: give --output FOLDER/, not in/a.csv"),
        (("in", "-o", "out.csv"), "several tables are scored into a directory: give --output FOLDER/, not out.csv"),
    ],
)
def test_options_for_one_table_are_refused_for_many_tables(refused, tables, arguments, told):
    before = files_below(Path("."))
    assert refused("score", *COLUMNS, *arguments).startswith(f"error: {told}")
    assert files_below(Path(".")) == before


def test_columns_of_many_tables_are_found_in_the_first(call, tables):
    code, out, err = call("score", tables, "-s", "mini", "-o", "out")
    assert (code, err) == (0, "note: read answers from 'answer', questions from 'question'\n")
    assert lines_of(out)[-1] == "2 files scored: out"


def test_a_folder_of_runs_stays_one_of_runs(call, tables):
    Path("in/trials.jsonl").write_text('{"question": "Q07", "answer": "Ice floats."}\n', encoding="utf-8")
    code, _, err = call("score", tables, "--suite", "mini")
    assert (code, "in/trials.jsonl, line 1: unknown question" in err) == (3, True)
    Path("empty").mkdir()
    code, _, err = call("score", "empty")
    assert (code, err.startswith("error: empty: no run here")) == (2, True)


@pytest.mark.parametrize("arguments", [("s3://bucket/in",), ("in", "-o", "s3://me:secret@bucket/out/")])
def test_remote_tables_are_refused(refused, tables, arguments):
    assert (
        refused("score", *arguments)
        == "error: s3://: expected a local path; copy remote files first, or pipe a table through '-'\n"
    )
    assert os.listdir() == ["in"]
