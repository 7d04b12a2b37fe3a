from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pfgen_fast
import pytest
from makers.builds import files_below
from makers.fault_server import answering, serving
from makers.judges import moody_text
from makers.killed_work import judge
from makers.kills import is_hidden, killed_everywhere
from makers.runs import make_varied_runs
from pfgen_fast import Suite
from pfgen_fast.report.experiments_index import GENERATOR
from pfgen_fast.report.page_files import page_mark

PACKAGED = Path(pfgen_fast.__file__).parent / "data" / "mini"
JOURNAL = "out/judge-ratings.jsonl"


def reply(request):
    return answering(moody_text(request.prompt, request.body["seed"]))


def visible(files):
    return {path: content for path, content in files.items() if not is_hidden(path)}


@pytest.fixture
def judged(tmp_path):
    suite = tmp_path / "suite"
    suite.mkdir()
    for name in ("Q01.json", "Q02.json", "questions.jsonl"):
        shutil.copy(PACKAGED / name, suite)
    make_varied_runs(tmp_path / "runs", Suite.load(suite), n_runs=3, n_trials=1)
    return str(suite), str(tmp_path / "runs")


@pytest.fixture
def attempts_folder(tmp_path):
    (tmp_path / "attempts").mkdir()
    return tmp_path / "attempts"


@pytest.mark.parametrize("most", [3, pytest.param(None, marks=pytest.mark.slow)])
def test_a_judge_killed_before_any_change_goes_on_to_the_same_bytes(attempts_folder, judged, most):
    with serving(reply) as server:
        whole, attempts = killed_everywhere(attempts_folder, judge, *judged, server.base_url, most=most)
    n_replies = len(whole[JOURNAL].splitlines())
    points = Counter(attempt.point.split()[0] for attempt in attempts)
    assert len(attempts) == most or points["line"] == n_replies == 6
    assert len(attempts) == most or points["os.link"] == len(whole) - 1  # all files but the journal
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


@pytest.mark.slow
def test_an_experiment_that_replaces_files_leaves_the_old_or_the_new_ones(tmp_path, attempts_folder, judged):
    before = tmp_path / "before"
    with serving(reply) as server:
        judge(before, *judged, server.base_url)
    for path in files_below(before).keys() - {JOURNAL}:
        (before / path).write_bytes(page_mark(GENERATOR) if path.endswith("index.html") else b"old")
    old = files_below(before)
    whole, attempts = killed_everywhere(attempts_folder, judge, *judged, before=before)
    assert not {b"old", page_mark(GENERATOR)} & set(whole.values())
    assert len([attempt for attempt in attempts if "os.rename" in attempt.point]) == len(whole) - 1
    for attempt in attempts:
        assert visible(attempt.again) == whole, attempt.point
        left = {path: content for path, content in attempt.killed.items() if not path.endswith(".lock")}
        for path, content in left.items():
            expected = (old[path], whole[path]) if path in whole else set(whole.values())
            assert content in expected, (attempt.point, path)
