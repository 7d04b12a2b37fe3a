"""Judging by a Batch API: the same judgements as by asking, and whatever a file holds, what can be used is taken."""

from __future__ import annotations

import json

import pytest
from makers.checklists_to_judge import N_TASKS, OPTIONS, as_judge, reply_of, suite
from pfgen_fast.checklists.judging.ask_runs import Judging
from pfgen_fast.checklists.judging.batches import read_batch, write_batch
from pfgen_fast.checklists.judging.runs_to_judge import JudgeOptions
from pfgen_fast.checklists.runs import open_runs
from pfgen_fast.errors import ChecklistError


def batch_output(path, target, reply=reply_of, **changes):
    """What a Batch API makes of an input file."""
    lines = []
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        body = line["body"]
        text = reply(body["messages"][-1]["content"], body["seed"])
        answered = json.loads(as_judge(text).body)
        response = {"status_code": 200, "body": answered}
        lines.append({"custom_id": line["custom_id"], "response": response, "error": None, **changes})
    target.write_text("".join(json.dumps(line) + "\n" for line in reversed(lines)))
    return lines


def test_a_batch_ends_in_the_same_file(path, expected, tmp_path):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    assert write_batch(judging, tmp_path / "in.jsonl") == N_TASKS
    first = json.loads((tmp_path / "in.jsonl").read_text().splitlines()[0])
    assert (first["method"], first["url"]) == ("POST", "/v1/chat/completions")
    assert (first["body"]["model"], first["body"]["max_tokens"]) == ("judge-2024-08-06", 4096)
    batch_output(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert read_batch(judging, [tmp_path / "out.jsonl"]).n_new == N_TASKS
    judging.write()
    assert (path / "judgements.jsonl").read_bytes() == expected
    again = Judging.open(open_runs([path]), suite(), OPTIONS)
    taken = read_batch(again, [tmp_path / "out.jsonl"])
    assert (taken.n_new, taken.problems) == (0, ())
    assert write_batch(again, tmp_path / "none.jsonl") == 0


def test_the_next_batch_holds_the_next_tries(path, tmp_path):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    for number in range(3):
        assert write_batch(judging, tmp_path / "in.jsonl") == N_TASKS
        batch_output(tmp_path / "in.jsonl", tmp_path / f"{number}.jsonl", lambda content, seed: "no")
        read_batch(judging, [tmp_path / f"{number}.jsonl"])
    assert write_batch(judging, tmp_path / "in.jsonl") == 0
    assert len(judging.runs[0].standing().unjudged) == N_TASKS


def test_bad_lines_of_a_batch_are_named_and_the_others_taken(path, tmp_path):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    write_batch(judging, tmp_path / "in.jsonl")
    lines = batch_output(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    lines[0] = {**lines[0], "response": None, "error": {"message": "expired"}}
    lines[1] = {**lines[1], "custom_id": "of another"}
    lines[2] = {**lines[2], "response": {"status_code": 500, "body": {"error": {"message": "oops"}}}}
    content = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "out.jsonl").write_text(content + '{"custom_id": "torn')
    taken = read_batch(judging, [tmp_path / "out.jsonl", tmp_path / "none.jsonl"])
    assert taken.n_new == N_TASKS - 3
    failed, other, status, torn, none = taken.problems
    assert "out.jsonl, line 1" in failed
    assert failed.endswith("failed: expired")
    assert "line 2 (of another): is the reply to another request" in other
    assert "failed with HTTP 500: oops" in status
    assert "line 13" in torn
    assert "none.jsonl" in none
    assert judging.n_open == 3
    other = Judging.open(open_runs([path]), suite(), JudgeOptions("other"))
    with pytest.raises(ChecklistError, match="is the reply to another request; expected one about these runs"):
        read_batch(other, [tmp_path / "out.jsonl"])
