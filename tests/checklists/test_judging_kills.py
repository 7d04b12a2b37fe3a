"""Judging that is killed, wherever and whenever: the same judgements follow in the end, and no reply is lost."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import time

import pytest
from makers.checklists_to_judge import answers_of, as_judge, reply_of, run
from makers.fault_server import Reply, refusing, serving
from makers.killed_work import judge_by_checklists
from makers.kills import is_hidden, killed_everywhere

FAULTS = ["no list", '[{"checklist_id": 0, "evalu', "", "[]"]


def lying(request):
    """Depends on nothing but the request: a third of the replies cannot be used."""
    seed = request.body["seed"]
    digest = hashlib.sha256(f"{request.prompt}{seed}".encode()).digest()
    return as_judge(FAULTS[digest[1] % 4] if digest[0] % 3 == 0 else reply_of(request.prompt, seed))


def shaky(request):
    """The same, but a tenth of the requests first breaks, is cut short, or is refused for a while."""
    kind = request.number % 30
    if kind == 7:
        return refusing(503, "busy", Retry_After="0")
    if kind == 17:
        whole = lying(request)
        return Reply(whole.body, n_bytes=len(whole.body) // 2)
    return Reply(pieces=[], has_head=False) if kind == 27 else lying(request)


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


JUDGE = """
import sys
from pathlib import Path
from pfgen_fast.checklists import JudgeOptions, Judging, open_runs
from pfgen_fast.judging import Server
from makers import checklists_to_judge
judging = Judging.open(open_runs([Path(sys.argv[1])]), checklists_to_judge.suite(), JudgeOptions("judge-2024-08-06"))
problem = judging.ask(Server(sys.argv[2], concurrency=3, backoff=0.001).engine)
judging.write()
assert problem is None, problem
"""


def judge(folder, base_url, may_go_on=lambda: True):
    """Whether a process that judges came to its end before it was killed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", JUDGE, str(folder), base_url], env=environment) as process:
        while process.poll() is None:
            if not may_go_on():
                process.kill()
                return False
            time.sleep(0.001)
        assert process.returncode == 0
    return True


@pytest.mark.slow
def test_kills_at_random_moments_and_a_shaky_server_end_in_the_same_file(tmp_path):
    names = ("a", "b", "c")
    for name in names:
        run(tmp_path / "whole" / name)
        run(tmp_path / "killed" / name)
    moments = random.Random(7)
    with serving(lying) as server:
        assert judge(tmp_path / "whole", server.base_url)
    n_kills = 0
    with serving(shaky) as server:
        while True:
            n_requests = len(server.requests) + moments.randrange(2, 30)
            if judge(tmp_path / "killed", server.base_url, lambda: len(server.requests) < n_requests):  # noqa: B023
                break
            n_kills += 1
            for name in names:
                replies = tmp_path / "killed" / name / "judge-replies.jsonl"
                if replies.exists() and moments.random() < 0.5:
                    replies.write_bytes(replies.read_bytes()[: -moments.randrange(1, 40)])  # torn, as by a power cut
    assert n_kills > 2
    for name in names:
        expected, found = (tmp_path / side / name / "judgements.jsonl" for side in ("whole", "killed"))
        assert found.read_bytes() == expected.read_bytes()
