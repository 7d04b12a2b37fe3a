from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pfgen_fast
import pytest
from makers.fault_server import answering, serving
from makers.judges import moody_text
from makers.killed_work import judge
from makers.kills import is_hidden, killed_everywhere
from makers.runs import make_varied_runs
from pfgen_fast import Suite

PACKAGED = Path(pfgen_fast.__file__).parent / "data" / "mini"
JOURNAL = "out/judge-ratings.jsonl"


def reply(request):
    return answering(moody_text(request.prompt, request.body["seed"]))


def visible(files):
    return {path: content for path, content in files.items() if not is_hidden(path)}


@pytest.mark.slow
def test_a_judge_killed_before_any_change_goes_on_to_the_same_bytes(tmp_path):
    suite, runs, attempted = tmp_path / "suite", tmp_path / "runs", tmp_path / "attempts"
    for folder in (suite, attempted):
        folder.mkdir()
    for name in ("Q01.json", "Q02.json", "questions.jsonl"):
        shutil.copy(PACKAGED / name, suite)
    make_varied_runs(runs, Suite.load(suite), n_runs=3, n_trials=1)
    with serving(reply) as server:
        whole, attempts = killed_everywhere(attempted, judge, str(suite), str(runs), server.base_url)
    n_replies = len(whole[JOURNAL].splitlines())
    points = Counter(attempt.point.split()[0] for attempt in attempts)
    assert points["line"] == n_replies == 6
    assert points["os.link"] == len(whole) - 1  # all files but the journal
    for attempt in attempts:
        assert visible(attempt.again) == whole, attempt.point
        killed = visible(attempt.killed)
        journal = killed.pop(JOURNAL, b"")
        assert killed.items() <= whole.items(), attempt.point
        assert whole[JOURNAL].startswith(journal)
        assert all(json.loads(line)["reply"] for line in journal.splitlines())
    # Only what was under way is asked for again: a reply that was not kept yet, and the next request.
    n_undisturbed = 1 + len(attempts) + 1  # the last attempt found no change left to be killed at
    assert len(server.requests) <= n_replies * n_undisturbed + 2 * points["line"]
