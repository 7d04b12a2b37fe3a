"""Judging by servers that stall, cut, fail and lie: the same judgements follow in the end."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from makers.checklists_to_judge import N_TASKS, OPTIONS, as_judge, ask, honest, judged, suite
from makers.fault_server import Reply, refusing
from pfgen_fast.checklists.judgement_files import read_judgements
from pfgen_fast.checklists.judging.ask_runs import Judging
from pfgen_fast.checklists.runs import open_runs
from pfgen_fast.errors import EngineError


def cutting(request):
    reply = honest(request)
    return replace(reply, n_bytes=len(reply.body) // 2) if request.again == 0 else reply


def no_json(request):
    return Reply(b"<html>") if request.number < 3 else honest(request)


@pytest.mark.parametrize("behave", [cutting, no_json])
def test_a_server_in_trouble_ends_in_the_same_file(path, expected, behave):
    for _ in range(8):
        _, problem = judged([path], behave)
        if problem is None:
            break
    assert problem is None
    assert (path / "judgements.jsonl").read_bytes() == expected


CUT = '[{"checklist_id": 0, "evaluation_score": 1}, {"checklist_id": 1, "eval'


def cut_at_first(request):
    return as_judge(CUT, finish_reason="length") if request.again == 0 else honest(request)


def test_a_reply_that_cannot_be_used_is_kept_and_asked_again_with_the_next_seed(path):
    judging, problem = judged([path], cut_at_first)
    assert problem is None
    standing = judging.runs[0].standing()
    assert (standing.n_judged, standing.unjudged) == (N_TASKS, ())
    assert {judgement.tries for judgement in judging.runs[0].judgements()} == {2}
    entries = [json.loads(line) for line in (path / "judge-replies.jsonl").read_text().splitlines()]
    assert len(entries) == 2 * N_TASKS
    assert [entry["finish_reason"] for entry in entries if entry["reply"] == CUT] == ["length"] * N_TASKS
    assert len({entry["request"]["parameters"]["seed"] for entry in entries}) == 2 * N_TASKS


def test_after_all_tries_an_answer_is_unjudged_with_its_last_fault(path):
    def behave(request):
        return as_judge("no" if request.again < 2 else "[]") if "number 3." in request.prompt else honest(request)

    judging, problem = judged([path], behave)
    assert problem is None
    standing = judging.runs[0].standing()
    assert (standing.n_judged, standing.n_open, standing.unjudged) == (N_TASKS - 1, 0, (("T03", "number"),))
    (row,) = [row for row in read_judgements(path / "judgements.jsonl", suite()) if row.id == "T03"]
    assert (row.scores, row.reasons, row.tries, row.fault) == (None, (), 3, "number")
    again = Judging.open(open_runs([path]), suite(), OPTIONS)
    assert again.n_open == 0  # three tries are all
    more = Judging.open(open_runs([path]), suite(), replace(OPTIONS, n_tries=5))
    assert more.n_open == 1
    fewer = Judging.open(open_runs([path]), suite(), replace(OPTIONS, n_tries=1))
    assert fewer.n_open == 0


def test_replies_that_are_there_count_even_beyond_the_tries(path):
    judged([path], cut_at_first)
    before = (path / "judgements.jsonl").read_bytes()
    judged([path], honest, options=replace(OPTIONS, n_tries=1))
    assert (path / "judgements.jsonl").read_bytes() == before


def test_a_server_that_refuses_all_ends_the_asking_and_what_came_before_is_kept(path, expected):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    with pytest.raises(EngineError, match="expired"):
        ask(judging, lambda r: honest(r) if r.number < 5 else refusing(401, "expired"), concurrency=1)
    judging.write()
    assert len(read_judgements(path / "judgements.jsonl", suite())) == 5
    judged([path])
    assert (path / "judgements.jsonl").read_bytes() == expected


def test_the_version_is_what_the_server_says(path):
    def behave(request):
        reply = honest(request)
        model = "judge-2024-08-06" if "number 1" in request.prompt else "judge-2024-11-20"
        return as_judge(json.loads(reply.body)["choices"][0]["message"]["content"], model=model)

    judging, _ = judged([path], behave)
    assert judging.runs[0].standing().versions == (("judge-2024-11-20 fp_1", 9), ("judge-2024-08-06 fp_1", 3))
