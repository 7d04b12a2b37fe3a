"""`score` for a table: columns are found or asked for, and the input is never replaced."""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from pfgen_fast.base.mean_interval import mean_interval

COLUMNS = ("--suite", "mini", "--question-column", "question", "--answer-column", "my answer")
CONTENT = "id,question,my answer\r\n1,Q07,Ice floats.\r\n"


@pytest.fixture
def table(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("in.csv")
    path.write_text(CONTENT, encoding="utf-8", newline="")
    return path


def test_a_column_that_is_not_found_is_named_in_the_error(call, table):
    there = "there are 'id', 'question', 'my answer'"
    error = f"error: in.csv: name the column of answers (--answer-column); {there}\n"
    for arguments in ((), ("-o", "out/")):
        assert call("score", table, *arguments) == (2, "", error)
    table.write_text(",".join(f"column {number}" for number in range(1000)) + "\n")
    assert " 'column 19' and 980 more" in call("score", table)[2]


ICE, HEAT = "Why does ice float on water?", "How does a microwave oven heat food?"
ANSWERS = [("b", ICE, "Because it is cold."), ("a", ICE, "Ice is less dense than water."), ("a", HEAT, "By waves.")]


def test_a_table_is_scored_by_model_without_any_option(call, tmp_path, monkeypatch, mini, scorer):
    """Columns are found by their usual names, and the suite by the questions; figures are those of runs."""
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps(dict(zip(("Model", "Prompt", "response"), row, strict=True))) + "\n" for row in ANSWERS]
    Path("in.jsonl").write_text("".join(lines), encoding="utf-8")
    Path("in.csv").write_text(
        "".join(",".join(row) + "\n" for row in [("Model", "Prompt", "response"), *ANSWERS]), encoding="utf-8"
    )
    code, out, err = call("score", "in.csv")
    columns = "answers from 'response', questions from 'Prompt', models from 'Model'"
    assert (code, err.splitlines()[0]) == (0, f"note: read {columns}; suite mini, which has these questions")
    assert "\nthe models have answers to different questions, so their means" in out
    assert [line.split()[:2] for line in out.splitlines()[:3]] == [["rank", "model"], ["1", "a"], ["2", "b"]]
    assert sorted(os.listdir(tmp_path)) == ["in.csv", "in.jsonl"]
    assert (call("score", "in.jsonl")[1], call("score", "in.csv", "--suite", "mini")[1]) == (out, out)
    Path("as-many.jsonl").write_text(lines[0] + lines[2], encoding="utf-8")
    assert "answers to different questions" in call("score", "as-many.jsonl")[1]

    (record,) = json.loads(call("score", "in.csv", "--json")[1])
    scores = scorer.score([row[1] for row in ANSWERS], [row[2] for row in ANSWERS])
    expected = mean_interval(scores.average[1:])
    first, second = record["models"]
    assert (first["score"], first["score_high"]) == pytest.approx((expected.mean, expected.high))
    assert (first["model"], first["num_items"], first["rank_low"]) == ("a", 2, None)
    assert first["metrics"]["fluency"] == pytest.approx(scores.fluency[1:].mean())
    assert (second["score"], second["score_low"], record["output"]) == (pytest.approx(scores.average[0]), None, None)
    assert call("score", "in.csv", "-o", "out.csv")[1] == f"3 rows scored: out.csv\n{out}"
    rows = "".join(f"{asked},{text}\n" for _, asked, text in ANSWERS)
    Path("plain.csv").write_text(f"Prompt,response\n{rows}", encoding="utf-8")
    assert "\n   1  plain.csv  " in call("score", "plain.csv", "-o", "out.csv")[1]


def test_a_file_of_answers_of_one_model_with_the_keys_of_trials_stays_a_run(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"model": model, "question": question, "answer": text} for model, question, text in ANSWERS]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert " 1  a " in call("score", "in.jsonl")[1]
    for row in rows:
        del row["model"]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert "in.jsonl: no trial of question Q01" in call("score", "in.jsonl", "-s", "mini")[2]
    assert "suite: mini" in call("score", "in.jsonl")[1]  # a run needs a suite
    Path("in.jsonl").write_text("{", encoding="utf-8")
    assert "in.jsonl, line 1" in call("score", "in.jsonl")[2]


def test_several_suites_that_fit_are_named(call, table, mini, monkeypatch, tmp_path):
    monkeypatch.setenv("PFGEN_FAST_HOME", str(tmp_path / "home"))
    shutil.copytree(mini.folder, tmp_path / "home/suites/pfgen-bench")
    table.write_text(f"question,answer\n{ICE},x\n")
    _, _, err = call("score", table)
    assert err == "error: the questions are those of mini and pfgen-bench: name the suite (--suite)\n"
    table.write_text("question,answer\nQ98,x\n")
    assert "name a suite (--suite DIRECTORY, or mini or pfgen-bench)" in call("score", table)[2]


def test_a_table_on_stdin_is_json_lines_with_named_columns(call, table, monkeypatch):
    def scored(question, *options):
        line = json.dumps({"question": question, "my answer": "Ice floats."})
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(line.encode())))
        return call("score", "-", "-s", "mini", *options)

    code, out, err = scored("Q07", *COLUMNS[2:], "-o", "out.csv")
    assert (code, err, out.splitlines()[0]) == (0, "", "1 row scored: out.csv")
    code, _, err = scored("Q98", *COLUMNS[2:], "-o", "out.csv")
    assert (code, err.startswith("error: stdin, line 1, column 'question': unknown question 'Q98'")) == (2, True)
    for options in (COLUMNS[2:], [*COLUMNS[2:4], "-o", "out.csv"]):
        assert "a table on stdin needs --question-column, --answer-column and --output" in scored("Q07", *options)[2]


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_a_table_on_stdin_has_the_format_that_is_named(call, table, monkeypatch, kind):
    content = CONTENT.replace(",", {"csv": ",", "tsv": "\t"}[kind])

    def scored(content, *options):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content.encode())))
        return call("score", "-", "--input-format", kind, "-s", "mini", *options)

    code, out, err = scored(content, *COLUMNS[2:], "-o", "out.csv")
    assert (code, err, out.splitlines()[0]) == (0, "", "1 row scored: out.csv")
    assert f"   1  stdin.{kind} " in scored(content.replace("my answer", "answer"))[1]
    code, _, err = scored(content.replace("Q07", "Q98"), *COLUMNS[2:])
    assert (code, f"stdin.{kind}, line 2, column 'question': unknown question 'Q98'" in err) == (2, True)
    assert "--input-format is for a table on stdin" in call("score", table, "--input-format", "csv")[2]


def test_a_missing_answer_names_the_option_for_it(call, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"question": "Q07", "response": null}')
    code, _, err = call("score", tmp_path / "in.jsonl", "-s", "mini")
    assert code == 2
    assert err.rstrip().endswith('not NoneType; nulls="null" (--nulls) gives such rows null scores')
    assert "in.jsonl: no answer has a score\n" in call("score", tmp_path / "in.jsonl", "-s", "mini", "--nulls")[2]


def test_a_suite_that_is_found_need_not_be_typed(call, table, tmp_path, mini):
    (tmp_path / "data").symlink_to(mini.folder)
    code, out, err = call("score", table, *COLUMNS[4:], "-o", "out.csv")
    assert err == "note: read answers from 'my answer', questions from 'question'\n"
    assert (code, out.splitlines()[0]) == (0, "1 row scored: out.csv")


@pytest.mark.parametrize("row", ['{"q": "Q07", "text": "Ice floats."}', '{"question": "Q07", "a": ""}'])
def test_json_lines_are_recognised_as_a_table_by_their_columns(call, table, tmp_path, row):
    (tmp_path / "in.jsonl").write_text(row)
    code, _, err = call("score", "in.jsonl")
    first, second = json.loads(row)
    assert code == 2
    assert f"there are '{first}', '{second}'" in err or "name a suite" in err


def names_of_the_input(folder: Path) -> list[Path]:
    (folder / "link.csv").symlink_to("in.csv")
    os.link(folder / "in.csv", folder / "hard.csv")
    return [Path("in.csv"), folder / "in.csv", Path("..", folder.name, "in.csv"), Path("link.csv"), Path("hard.csv")]


def test_the_input_is_not_replaced(refused, table, tmp_path):
    for output in names_of_the_input(tmp_path):
        assert (
            refused("score", table, *COLUMNS, "-o", output)
            == f"error: {output}: is the input itself; give another output\n"
        )
        assert table.read_bytes() == CONTENT.encode()


def test_a_refused_command_changes_nothing(call, table, tmp_path):
    code, out, err = call("score", *COLUMNS, "in.csv", "-o", "new/out.csv")
    assert (code, out, err) == (2, "", "error: new/out.csv: cannot be written: there is no folder new\n")
    assert (table.read_bytes(), os.listdir(tmp_path)) == (CONTENT.encode(), ["in.csv"])


def test_the_encoding_of_a_table_is_kept(call, printed, table):
    table.write_bytes("question,my answer,備考\r\nQ07,氷,表\r\n".encode("cp932"))
    assert "not utf-8 (byte 0x94)" in call("score", table, *COLUMNS, "-o", "out.csv")[2]
    assert "備考" in call("score", table, "--encoding", "cp932")[2]
    printed("score", table, *COLUMNS, "-o", "out.csv", "--encoding", "cp932")
    assert Path("out.csv").read_bytes().decode("cp932").split("\r\n")[1].startswith("Q07,氷,表,0.0")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
@pytest.mark.parametrize("options", [["-o", "-"], ["-o", "out.csv", "--json"], ["-o", "out.csv"]])
def test_a_full_disk_under_stdout_is_one_sentence(table, options):
    command = [sys.executable, "-m", "pfgen_fast", "score", "--suite", "mini", str(table), *options]
    command += ["--question-column", "question", "--answer-column", "my answer"]
    with open("/dev/full", "wb") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (run.returncode, run.stderr) == (2, "error: stdout: cannot be written: No space left on device\n")
