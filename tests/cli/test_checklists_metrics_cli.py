"""`checklists metrics` and `errors` as users type them: tables, JSON, files, hostile text, and bad input."""

from __future__ import annotations

import csv
import json

import pytest
from makers.hostile import NAMES, acting
from makers.own_checklists import run_of, suite_of_essays, written
from pfgen_fast.lab.checklists.checklist_runs import Answer
from pfgen_fast.lab.checklists.judgements import Judgement

HEADS = ["answers", "repeats", "rejects", "cut", "off", "filtered", "empty", "signals", "run", "model"]
ICE = "Ice floats on water because it is lighter."


@pytest.fixture
def at_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(suite_of_essays(), tmp_path / "suite")
    run_of(
        tmp_path / "runs" / "one",
        Answer("sea", f"{ICE} {ICE} {ICE}"),
        Answer("ice", "I'm sorry, but I cannot write that."),
        Answer("fog", "And then the fog"),
        Answer("fog", "Fog. Words: 20", length="short"),
    )
    run_of(tmp_path / "runs" / "two", Answer("sea", "The sea is wide and the sea is deep."))
    return tmp_path


def test_errors_of_models_in_percent_or_as_counts_in_json(at_work, call):
    code, out, _ = call("checklists", "errors", "runs", "--suite", "suite", "--examples", "2")
    assert code == 0
    lines = out.splitlines()
    assert lines[1].split() == HEADS
    assert lines[2].split() == ["3", "33.3", "33.3", "33.3", "0.0", "0.0", "33.3", "3", "one"]
    assert f"  repetition: sea: 3 times, 3 in a row: {ICE}" in lines
    assert "  rejection: ice: begins with: I'm sorry, but" in lines
    assert "  cut off: fog: without closing punctuation" in lines
    assert "one: I'm sorry, but 33.3" in lines
    assert any(line.split() == ["5.0", "15.0", "15.0", "0.0", "1", "1", "one,", "short"] for line in lines)
    assert lines[-1].startswith("signature: errors:ours|sentences:rules")
    code, out, _ = call("checklists", "errors", "runs", "-s", "suite", "--json", "--examples", "1")
    found = json.loads(out)
    assert code == 0
    assert [row["model"] for row in found["rows"]] == ["one", "two"]
    one = found["rows"][0]
    assert one["total"]["rejection"] == {"count": 1, "n": 3, "percent": 100 / 3}
    assert one["lengths"]["short"]["claims"] == {"count": 1, "wrong": 1, "mean_error": 15.0}
    assert [example["mode"] for example in one["examples"]] == ["repetition", "rejection", "cut_off", "signals"]


@pytest.mark.parametrize("command", ["errors", "metrics"])
def test_each_answer_is_a_row_of_a_file(at_work, call, command):
    from pfgen_fast.tables.formats import table_rows

    path = at_work / "answers.csv"
    code, _, _ = call("checklists", command, "runs", "-s", "suite", "-q", "-o", str(path))
    assert code == 0
    rows = [row for _, row in table_rows(path)]
    keys = [(row["model"], row["id"], row["length"] or None, int(row["trial"])) for row in rows]
    expected = [("one", "sea", None, 1), ("one", "ice", None, 1), ("one", "fog", None, 1)]
    assert keys == [*expected, ("one", "fog", "short", 1), ("two", "sea", None, 1)]
    if command == "errors":
        assert rows[1]["rejection"] == "I'm sorry, but"
        assert int(rows[3]["claimed"]) == 20
    else:
        assert float(rows[4]["bleu_4"]) == 1.0
        assert rows[3]["rouge_l"] in (None, "")  # the task has no reference


def test_metrics_of_models_as_a_table_or_as_shares_in_json(at_work, call):
    code, out, err = call("checklists", "metrics", "runs", "--suite", "suite", "--areas")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == (
        "in %, except Distinct (dist) and perplexity (ppl); rep: Repetition; corpus: BLEU of all answers together"
    )
    heads = ["answers", "words", "rep-4", "dist-4", "bleu-4", "rouge-l", "meteor", "corpus", "model"]
    assert lines[1].split() == heads
    two = next(line for line in lines if line.endswith("  two")).split()
    assert two[:2] == ["1", "10"]
    assert two[4:6] == ["100.00", "100.00"]
    assert any(line.endswith("  one, letters") for line in lines)
    assert "meteor is meteor (no synonyms)" in err
    assert "tokens:regex" in lines[-1]
    line = ("metrics", "runs/two", "-s", "suite", "--json", "--metric", "distinct", "--n", 2, "--tokens", "regex")
    code, out, _ = call("checklists", *line)
    found = json.loads(out)
    assert code == 0
    total = found["rows"][0]["total"]
    assert total == {"n": 1, "words": 10.0, "distinct_2": {"mean": 8 / 9, "n": 1}}
    assert found["signature"].startswith("metrics:distinct_2|tokens:regex|suite:")


def test_a_run_with_judgements_only_is_named_and_the_others_are_done(at_work, call):
    judged = [Judgement("sea", "0" * 64, (1.0, 1.0), words=12)]
    run_of(at_work / "runs" / "judged", judgements=judged)
    code, out, err = call("checklists", "metrics", "runs", "-s", "suite")
    assert code == 0
    assert "no answers, only judgements: judged" in err
    alone, _, err = call("checklists", "metrics", "runs/judged", "-s", "suite")
    assert alone == 2
    assert "judged: has no answers" in err
    assert sum(line.endswith(("one", "two", "one, short")) for line in out.splitlines()) == 3
    assert call("checklists", "errors", "runs", "-s", "suite")[0] == 0


def test_answers_that_attack_a_terminal_are_harmless_in_examples(at_work, call):
    names = [name for name in NAMES if name.encode("utf-8", "replace").decode() == name]
    hostile = "\n\n".join(3 * [f"{name} is a sentence that attacks" for name in names])
    run_of(at_work / "hostile" / "\x1b[31mred", Answer("sea", hostile), Answer("ice", 3 * f"{NAMES[11]} {ICE} "))
    code, out, err = call("checklists", "errors", "hostile", "-s", "suite", "--examples", "9")
    assert code == 0, err
    assert "repetition: sea" in out
    assert not acting((out + err).replace("\n", ""))
    path = at_work / "hostile.csv"
    call("checklists", "errors", "hostile", "-s", "suite", "-q", "-o", str(path))
    with open(path, encoding="utf-8", newline="") as file:
        assert not acting("".join(cell for row in csv.reader(file) for cell in row))
