"""Scorers that are sent to other processes: by path and hash, as a spec, or once as the bytes of the compiled suite."""

import copy
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from makers.tiny_model import write_tokenizer
from pfgen_fast import IndexFormatError, Scorer, ScorerSpec, Suite, SuiteError
from pfgen_fast.suite.rules import PROFILES

ANSWERS = ["the sea rises twice a day", "", "水は低い所へ流れる"]
QUESTIONS = [
    {"answers": {"P": ["the sea rises and falls", "twice a day"]}, "keywords": [{"t": "sea"}, {"t": "ris(es|e)"}]},
    {"answers": {name: [f"{name} of the moon"] for name in "PQ"}, "unit": "token", "tokenizer": "words"},
]

# The program of another process, which scores answers with a scorer from bytes or a pickle.
ELSEWHERE = """
import pathlib, pickle, sys
from pfgen_fast import Scorer
content = pathlib.Path(sys.argv[1]).read_bytes()
scorer = Scorer.from_bytes(content) if sys.argv[2] == "bytes" else pickle.loads(content)
print(scorer.signature, [scorer.score_one(q.question_id, a) for q in scorer.suite for a in eval(sys.argv[3])])
"""


def scored(scorer: Scorer) -> str:
    listed = [scorer.score_one(question.question_id, answer) for question in scorer.suite for answer in ANSWERS]
    return f"{scorer.signature} {listed}\n"


def scored_elsewhere(content: bytes, path: Path, form: str) -> str:
    path.write_bytes(content)
    command = [sys.executable, "-c", ELSEWHERE, path, form, repr(ANSWERS)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("options", [{}, {"profile": "paper", "float_sum": "naive", "threads": 1}])
def test_another_process_attaches_to_the_same_index(make_suite, tmp_path, options):
    scorer = Scorer(make_suite(*QUESTIONS), **options)
    sent = pickle.dumps(scorer)
    assert len(sent) < 10_000
    assert scored_elsewhere(sent, tmp_path / "sent", "pickle") == scored(scorer)


def test_files_that_cannot_be_read_elsewhere_are_named_when_the_scorer_is_needed(make_suite, tmp_path):
    folder = make_suite(*QUESTIONS)
    moved = tmp_path / "moved"
    sent, spec = pickle.dumps(Scorer(shutil.copytree(folder, moved))), pickle.dumps(ScorerSpec(moved))
    shutil.rmtree(moved)
    received = pickle.loads(spec)  # an engine that only passes a spec on does not fail
    for use in (lambda: pickle.loads(sent), lambda: received.scorer):
        with pytest.raises(SuiteError, match=r"was sent by its path, which cannot be read here: .*; share the folder"):
            use()
    moved.mkdir()
    shutil.copy(folder / "Q01.json", moved)
    with pytest.raises(SuiteError, match=r"holds a different suite from the one that was sent"):
        pickle.loads(sent)


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_the_compiled_bytes_need_no_files(make_suite, tmp_path, profile):
    folder = make_suite(*QUESTIONS)
    scorer = Scorer(folder, profile=profile)
    content = scorer.to_bytes()
    expected = scored(scorer)
    for path in folder.glob("Q*.json"):
        path.unlink()
    assert scored_elsewhere(content, tmp_path / "sent", "bytes") == expected
    here = Scorer.from_bytes(memoryview(content))
    assert (scored(here), here.profile) == (expected, profile)
    assert scored(pickle.loads(pickle.dumps(here))) == expected
    with pytest.raises(SuiteError, match="the suite was made from its compiled form"):
        here.suite["Q01"].answers["P"]
    with pytest.raises(SuiteError, match=r"made from its compiled form"):
        Scorer(here.suite, profile="paper" if profile == "leaderboard" else "leaderboard")


def test_damaged_bytes_are_refused(scorer):
    content = bytearray(scorer.to_bytes())
    with pytest.raises(IndexFormatError, match="the compiled suite: the file ends within its header"):
        Scorer.from_bytes(content[:50])
    content[-1] ^= 1
    with pytest.raises(IndexFormatError, match=r"the compiled suite: the section of question 8 is damaged"):
        Scorer.from_bytes(content).score("Q08", ["ice"])


def test_bytes_that_may_change_are_copied(scorer):
    content = bytearray(scorer.to_bytes())
    expected = scored(scorer)
    for source in (content, memoryview(content).toreadonly(), memoryview(bytes(content) * 2)[: len(content)]):
        attached = Scorer.from_bytes(source)
        if source is not content:
            content[:] = bytes(len(content))
        assert scored(attached) == expected
        content[:] = scorer.to_bytes()


@pytest.mark.parametrize("send", [copy.copy, copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))])
def test_a_table_is_sent_with_its_scores(scorer, send):
    answers = ["Ice floats.", None, "Water moves.", "氷は水に浮く"]
    table = scorer.score(["Q07", "Q01", "Q08", "Q07"], answers, nulls="null")
    for part in (table, table.rows(1, 3), table.rows(2, 2)):
        again = send(part)
        assert (repr(list(again)), again.signature) == (repr(list(part)), part.signature)
        assert [again.details(row) for row in range(len(part)) if part.average[row] == part.average[row]] == [
            part.details(row) for row in range(len(part)) if part.average[row] == part.average[row]
        ]


def test_a_suite_equals_its_round_trips(make_suite):
    loaded = Suite.load(make_suite(*QUESTIONS))
    compiled = Scorer.from_bytes(Scorer(loaded).to_bytes()).suite
    built = Suite("made", loaded.questions)
    for suite in (loaded, compiled, built, loaded.only(["Q02"])):
        again = pickle.loads(pickle.dumps(suite))
        assert again == suite
        assert hash(again) == hash(suite)
    assert loaded == compiled != built
    assert loaded != loaded.only(["Q02"])
    assert loaded != loaded.metadata_hash


def test_tokens_of_a_file_are_not_sent_as_bytes(make_suite, tmp_path):
    tokenizer = write_tokenizer(tmp_path / "words.json", ANSWERS)
    folder = make_suite(tokenizer.source)
    scorer = Scorer(folder)
    assert scored(pickle.loads(pickle.dumps(scorer))) == scored(scorer)
    with pytest.raises(SuiteError, match=r"Q01: it uses a tokenizer file"):
        Scorer.from_bytes(scorer.to_bytes())


SETTINGS = [{}, {"profile": "paper"}, {"profile": "normalised"}, {"float_sum": "naive"}, {"threads": 1}]


def sent(spec: ScorerSpec) -> ScorerSpec:
    return pickle.loads(pickle.dumps(spec))


def test_equal_specs_share_one_scorer_which_alone_reads_the_suite(mini, make_suite):
    built, cut = Suite("built", mini.questions[:2]), mini.only(["Q07"])
    specs = [*(ScorerSpec("mini", **settings) for settings in SETTINGS), ScorerSpec(built), ScorerSpec(cut)]
    assert len(set(specs)) == len({id(spec.scorer) for spec in specs}) == len(specs)
    assert all(sent(spec) == spec and sent(spec).scorer is spec.scorer for spec in specs)
    assert len(pickle.dumps(specs[0])) < 600
    spec = ScorerSpec(make_suite({"answers": {"P": ["an answer of a suite that is sent again and again"]}}))
    assert sent(spec).suite is not sent(spec).suite
    scorer = sent(spec).scorer
    assert sent(spec).suite is scorer.suite


def test_wrong_settings_are_told_at_once():
    with pytest.raises(SuiteError, match="nosuch"):
        ScorerSpec("nosuch")
    with pytest.raises(IndexFormatError, match=r"nosuch\.pfgen: no such file"):
        _ = ScorerSpec("mini", index="nosuch.pfgen").scorer


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_child_makes_its_scorer_even_if_a_thread_of_its_parent_was_making_one():
    program = """
import os, threading
from pfgen_fast import ScorerSpec
from pfgen_fast.scoring import scorer as module
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
