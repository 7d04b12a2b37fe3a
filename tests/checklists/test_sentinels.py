"""Sentinels: answers that the same judge is asked about anew, beside what it said before."""

from __future__ import annotations

import json

from makers.checklists_to_judge import N_TASKS, OPTIONS, as_judge, ask, honest, suite
from makers.fault_server import refusing
from pfgen_fast.checklists.judgement_files import read_judgements
from pfgen_fast.checklists.judging.ask_runs import Judging
from pfgen_fast.checklists.judging.sentinels import open_sentinel
from pfgen_fast.checklists.runs import open_runs


def asked_with_sentinel(path, behave, n_answers=5):
    judging = Judging.open(open_runs([path]), suite(), OPTIONS)
    sentinel = open_sentinel(judging.runs[0], n_answers)
    if sentinel is None:
        ask(judging, behave)
        judging.write()
        return None
    ask(Judging([*judging.runs, sentinel.now]), behave)
    judging.write()
    sentinel.write()
    return sentinel


def test_a_sentinel_asks_anew_about_some_answers_and_keeps_both_sides(path, expected):
    assert asked_with_sentinel(path, honest) is None  # nothing to compare with
    same = asked_with_sentinel(path, honest)
    assert (same.is_complete, same.n_equal, same.path.name) == (True, 5, "001.jsonl")

    def strict(request):
        listed = json.loads(json.loads(honest(request).body)["choices"][0]["message"]["content"])
        lower = [{**entry, "evaluation_score": max(0, entry["evaluation_score"] - 0.25)} for entry in listed]
        return as_judge(json.dumps(lower), fingerprint="fp_2")

    changed = asked_with_sentinel(path, strict)
    assert changed.path.name == "002.jsonl"
    before, now = changed.sides()
    assert len(before) == len(now) == 5
    assert changed.n_equal < 5
    assert {row.version for row in now} == {"judge-2024-08-06 fp_2"}
    assert [row.key for row in before] == [row.key for row in read_judgements(changed.path, suite())]
    assert (path / "judgements.jsonl").read_bytes() == expected  # tables stay as they were


def test_a_sentinel_that_was_interrupted_is_continued(path):
    asked_with_sentinel(path, honest)
    half = asked_with_sentinel(path, lambda r: refusing(500, "no") if "number 3" in r.prompt else honest(r), N_TASKS)
    assert not half.is_complete
    assert not half.path.exists()
    n_kept = len(half.now.replies)
    assert 0 < n_kept < N_TASKS
    whole = asked_with_sentinel(path, honest, N_TASKS)
    assert (whole.path, whole.is_complete, whole.n_equal) == (half.path, True, N_TASKS)
