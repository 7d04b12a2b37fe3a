"""Judging that is killed before any change of a file: the same judgements follow, and no reply is lost."""

from __future__ import annotations

import hashlib

import pytest
from makers.checklists_to_judge import answers_of, as_judge, reply_of, run
from makers.fault_server import serving
from makers.killed_work import judge_by_checklists
from makers.kills import is_hidden, killed_everywhere

FAULTS = ["no list", '[{"checklist_id": 0, "evalu', "", "[]"]


def lying(request):
    """Depends on nothing but the request: a third of the replies cannot be used."""
    seed = request.body["seed"]
    digest = hashlib.sha256(f"{request.prompt}{seed}".encode()).digest()
    return as_judge(FAULTS[digest[1] % 4] if digest[0] % 3 == 0 else reply_of(request.prompt, seed))


@pytest.mark.parametrize("most", [3, pytest.param(None, marks=pytest.mark.slow)])
def test_a_kill_before_any_change_ends_in_the_same_files(tmp_path, most):
    before = tmp_path / "before"
    run(before / "mine", answers_of("mine", 5))
    (tmp_path / "attempts").mkdir()
    with serving(lying) as server:
        whole, attempts = killed_everywhere(
            tmp_path / "attempts", judge_by_checklists, server.base_url, before=before, most=most
        )
    names = {"mine/answers.jsonl", "mine/config.json", "mine/judge-replies.jsonl", "mine/judgements.jsonl"}
    assert set(whole) == names
    assert len(attempts) == most or len(attempts) > len(whole["mine/judge-replies.jsonl"].splitlines())
    for attempt in attempts:
        visible = {name: content for name, content in attempt.again.items() if not is_hidden(name)}
        assert set(visible) == names, attempt.point
        assert visible["mine/judgements.jsonl"] == whole["mine/judgements.jsonl"], attempt.point
        kept = attempt.killed.get("mine/judge-replies.jsonl", b"")
        assert visible["mine/judge-replies.jsonl"].startswith(kept), attempt.point  # no reply is lost
        assert attempt.killed.get("mine/judgements.jsonl") in (None, whole["mine/judgements.jsonl"])  # whole or not
