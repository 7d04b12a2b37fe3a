"""Judging by servers that cut and lie, by batches, and killed: the same judgements follow."""

import hashlib
import json
from dataclasses import replace

import pytest
from makers.checklists_to_judge import N_TASKS, OPTIONS, answers_of, as_judge, honest, judged, reply_of, run, suite
from makers.fault_server import serving
from makers.kills import is_hidden, judge_by_checklists, killed_everywhere
from pfgen_fast.lab.checklists.checklist_runs import open_runs
from pfgen_fast.lab.checklists.judge_runs import Judging
from pfgen_fast.lab.checklists.judgements import read_judgements

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
    before = (path / "judgements.jsonl").read_bytes()
    judged([path], honest, options=replace(OPTIONS, n_tries=1))  # a stored reply counts even beyond the tries
    assert (path / "judgements.jsonl").read_bytes() == before


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
    assert len(again.open_ratings) == 0  # three tries are all
    more = Judging.open(open_runs([path]), suite(), replace(OPTIONS, n_tries=5))
    assert len(more.open_ratings) == 1
    fewer = Judging.open(open_runs([path]), suite(), replace(OPTIONS, n_tries=1))
    assert len(fewer.open_ratings) == 0


def test_the_version_comes_from_the_server(path):
    def behave(request):
        model = "judge-2024-08-06" if "number 1" in request.prompt else "judge-2024-11-20"
        return as_judge(reply_of(request.prompt, request.body["seed"]), model=model)

    judging, _ = judged([path], behave)
    assert judging.runs[0].standing().versions == (("judge-2024-11-20 fp_1", 9), ("judge-2024-08-06 fp_1", 3))


FAULTS = ["no list", '[{"checklist_id": 0, "evalu', "", "[]"]


def lying(request):
    """Depends on nothing but the request: a third of the replies cannot be used."""
    seed = request.body["seed"]
    digest = hashlib.sha256(f"{request.prompt}{seed}".encode()).digest()
    return as_judge(FAULTS[digest[1] % 4] if digest[0] % 3 == 0 else reply_of(request.prompt, seed))


@pytest.mark.slow
def test_a_kill_before_any_change_ends_in_the_same_files(tmp_path):
    before = tmp_path / "before"
    run(before / "mine", answers_of("mine", 5))
    (tmp_path / "attempts").mkdir()
    with serving(lying) as server:
        whole, attempts = killed_everywhere(tmp_path / "attempts", judge_by_checklists, server.base_url, before=before)
    names = {"mine/answers.jsonl", "mine/config.json", "mine/judge-replies.jsonl", "mine/judgements.jsonl"}
    assert set(whole) == names
    assert len(attempts) > len(whole["mine/judge-replies.jsonl"].splitlines())
    for attempt in attempts:
        visible = {name: content for name, content in attempt.again.items() if not is_hidden(name)}
        assert set(visible) == names, attempt.point
        assert visible["mine/judgements.jsonl"] == whole["mine/judgements.jsonl"], attempt.point
        kept = attempt.killed.get("mine/judge-replies.jsonl", b"")
        assert visible["mine/judge-replies.jsonl"].startswith(kept), attempt.point  # no reply is lost
        assert attempt.killed.get("mine/judgements.jsonl") in (None, whole["mine/judgements.jsonl"])  # whole or not
