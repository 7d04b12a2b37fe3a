"""A spec of a scorer: small where it is sent, one scorer per process, and one sentence where the suite is missing."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from pfgen_fast import IndexFormatError, Scorer, ScorerSpec, Suite, SuiteError

SETTINGS = [{}, {"profile": "paper"}, {"float_sum": "naive"}, {"threads": 1}]


def sent(spec: ScorerSpec) -> ScorerSpec:
    return pickle.loads(pickle.dumps(spec))


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_spec_makes_the_scorer_of_its_settings(settings):
    spec = ScorerSpec("mini", **settings)
    expected = Scorer("mini", **settings)
    assert spec.scorer.signature == spec.signature == expected.signature
    assert spec.columns == expected.score((), ()).columns[1:]
    answers = ["Ice floats because it is less dense than water.", ""]
    assert spec.scorer.reward("Q07", answers).tobytes() == expected.reward("Q07", answers).tobytes()


def test_equal_specs_share_one_scorer_and_others_do_not():
    specs = [ScorerSpec("mini", **settings) for settings in SETTINGS]
    assert len(set(specs)) == len({id(spec.scorer) for spec in specs}) == len(SETTINGS)
    assert all(sent(spec) == spec and sent(spec).scorer is spec.scorer for spec in specs)


def test_threads_that_ask_at_once_get_one_scorer(make_suite):
    spec = ScorerSpec(make_suite({}))
    with ThreadPoolExecutor(8) as pool:
        assert len({id(scorer) for scorer in pool.map(lambda _: spec.scorer, range(32))}) == 1


def test_a_spec_takes_some_hundred_bytes_however_large_its_suite_is(make_suite):
    folder = make_suite({"answers": {"P": [f"answer {number}" for number in range(10_000)]}})
    spec = ScorerSpec(folder)
    assert spec.scorer.suite.folder == folder
    assert len(pickle.dumps(spec)) < 600 + len(str(folder))


def test_a_suite_in_memory_and_a_cut_one_are_sent_too(mini):
    built = Suite("built", mini.questions[:2])
    for suite in (built, mini.only(["Q07"])):
        received = sent(ScorerSpec(suite))
        assert received.signature == ScorerSpec(suite).signature
        assert [question.question_id for question in received.suite] == [q.question_id for q in suite]


def test_a_spec_that_is_sent_with_every_task_reads_its_suite_only_for_the_first(make_suite):
    spec = ScorerSpec(make_suite({"answers": {"P": ["an answer of a suite that is sent again and again"]}}))
    assert sent(spec).suite is not sent(spec).suite
    scorer = sent(spec).scorer
    assert sent(spec).suite is scorer.suite


def test_a_node_without_the_suite_says_so_when_the_scorer_is_needed(make_suite, tmp_path):
    folder = make_suite({"answers": {"P": ["an answer that no other suite has"]}})
    content = pickle.dumps(ScorerSpec(folder))
    shutil.move(folder / "Q01.json", tmp_path / "away")
    received = pickle.loads(content)  # so that no engine fails where it only hands it on
    with pytest.raises(SuiteError, match=r"was sent by its path, which cannot be read here: .*; share the folder"):
        _ = received.scorer


def test_wrong_settings_are_told_at_once():
    with pytest.raises(ValueError, match="profile: expected 'leaderboard' or 'paper', not 'x'"):
        ScorerSpec("mini", profile="x")
    with pytest.raises(ValueError, match="threads: expected 1 to 1024, not 0"):
        ScorerSpec("mini", threads=0)
    with pytest.raises(SuiteError, match="nosuch"):
        ScorerSpec("nosuch")
    with pytest.raises(IndexFormatError, match=r"nosuch\.pfgen: no such file"):
        _ = ScorerSpec("mini", index="nosuch.pfgen").scorer


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_child_makes_its_scorer_even_if_a_thread_of_its_parent_was_making_one():
    program = """
import os, threading
from pfgen_fast import ScorerSpec
from pfgen_fast.scoring import spec as module
held = threading.Event()
def hold():
    with module._making:
        held.set()
        threading.Event().wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if not child:
    os._exit(0 if ScorerSpec("mini").scorer else 1)
assert os.waitpid(child, 0)[1] == 0
os._exit(0)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=120)
