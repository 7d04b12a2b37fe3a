"""Compiled suites in the cache and elsewhere: with any damage, scores are correct or an error says why."""

import dataclasses
import errno
import json
import os
import pickle
import random
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from makers.suite_files import damage_last_byte
from pfgen_fast import IndexFormatError, Scorer, Suite, SuiteError, _core
from pfgen_fast.scoring.index import index_of, save_index
from pfgen_fast.suite.compiled import cache_folder, cached_path, describe_questions, warn_once

ANSWERS = ["the sea rises twice a day", "", "水は低い所へ流れる", "the moon, the moon, the moon " * 9]
QUESTIONS = [
    {
        "answers": {"P": ["the sea rises and falls", "the moon pulls the sea", "twice a day"]},
        "keywords": [{"t": "sea"}],
    },
    {"answers": {name: [f"{name} of the moon", "水は低い所へ流れる" + name] for name in "PQRST"}, "note": "five sets"},
]

# The error messages about damaged files, after the path.
PROBLEMS = (
    "the file ends within its header|the file is not a compiled suite|"
    r"the file was written by a machine with another byte order|the file has format version \d+, not \d+|"
    r"the file has \d+ bytes, not the \d+ that its header says|"
    "the header (is too long|is too short|is too short for its content|is damaged)|cannot mmap an empty file|"
    r"the section of question \d+ is damaged: its checksum differs"
)


needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc here")


@pytest.fixture
def folder(make_suite):
    return make_suite(*QUESTIONS)


def scores(scorer: Scorer) -> str:
    """The details of the scores of `ANSWERS` to every question."""
    tables = [scorer.score(question.question_id, ANSWERS) for question in scorer.suite]
    return repr([[table.details(row) for row in range(len(table))] for table in tables])


def scores_without_cache(folder: Path, **options) -> str:
    loaded = Suite.load(folder)
    return scores(Scorer(Suite(loaded.name, loaded.questions, loaded.metadata_hash), **options))


def only_file(cache: Path) -> Path:
    (path,) = cache.glob("*.pfgen")
    assert list(cache.iterdir()) == [path]
    return path


def damage_of(content: bytes, chance: random.Random) -> bytes:
    """Bytes that are cut off anywhere, or have one bit flipped."""
    at = chance.randrange(len(content))
    if chance.random() < 0.3:
        return content[:at]
    return content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :]


def test_the_first_scorer_fills_the_cache_and_the_next_finds_it(folder, cache, forbid_building):
    expected = scores_without_cache(folder)
    assert not cache.exists()
    assert scores(Scorer(folder)) == expected
    path = only_file(cache)
    before = path.stat()
    forbid_building()
    assert scores(Scorer(folder)) == expected
    assert scores(Scorer(Suite.load(folder))) == expected
    after = only_file(cache).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    with pytest.raises(pytest.fail.Exception, match="an index is built"):  # each profile has a file of its own
        Scorer(folder, profile="paper")


def test_a_suite_from_the_cache_is_not_parsed(folder, cache, monkeypatch):
    Scorer(folder)
    sizes = [path.stat().st_size for path in folder.glob("Q*.json")]
    decode = json.loads

    def decoded(text, **options):
        assert len(text) not in sizes, "a question is parsed"
        return decode(text, **options)

    monkeypatch.setattr(json, "loads", decoded)
    Scorer(folder).score("Q01", ANSWERS)
    with pytest.raises(AssertionError, match="a question is parsed"):
        Suite.load(folder)["Q01"].answers["P"]


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("PFGEN_FAST_CACHE", "")
    assert cache_folder() is None
    assert cached_path("0" * 40, "paper") is None
    monkeypatch.setenv("PFGEN_FAST_CACHE", "here")
    assert cache_folder() == Path("here")
    monkeypatch.delenv("PFGEN_FAST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "pfgen-fast"
    if sys.platform != "win32":
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        for not_absolute in ("", "relative"):
            monkeypatch.setenv("XDG_CACHE_HOME", not_absolute)
            assert cache_folder() == tmp_path / "home" / ".cache" / "pfgen-fast"


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("file", "cannot be written: File exists"),
        ("file/under", "cannot be written: Not a directory"),
        ("without locks", rf"cannot be locked: {os.strerror(errno.ENOLCK)}"),
        pytest.param("/proc/self", "cannot be locked: the directory cannot have files", marks=needs_proc),
    ],
)
def test_a_cache_that_cannot_be_written_costs_a_warning_and_time(folder, monkeypatch, tmp_path, place, problem):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    if place == "without locks":
        monkeypatch.setattr(pytest.importorskip("fcntl"), "flock", refuse)
    (tmp_path / "file").write_bytes(b"kept")
    monkeypatch.setenv("PFGEN_FAST_CACHE", str(tmp_path / place))
    warn_once.cache_clear()
    with pytest.warns(
        RuntimeWarning, match=f"{problem}, so the compiled suite is kept in memory only; set PFGEN_FAST_CACHE"
    ) as caught:
        assert [scores(Scorer(folder)) for _ in range(2)] == [scores_without_cache(folder)] * 2
    assert len(caught) == 1
    assert (tmp_path / "file").read_bytes() == b"kept"
    assert not list(tmp_path.glob("*/*.pfgen"))


def test_suites_built_by_hand_never_use_the_cache(folder, cache):
    loaded = Suite.load(folder)
    for created in (
        Suite(loaded.name, loaded.questions, loaded.metadata_hash),
        dataclasses.replace(loaded),
        dataclasses.replace(loaded, questions=loaded.questions[:1]),
    ):
        Scorer(created).score("Q01", ANSWERS)
    assert not cache.exists()


@pytest.mark.parametrize("n_damages", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_damage_costs_a_warning_and_time_but_no_score(folder, cache, n_damages):
    expected = scores(Scorer(folder))
    path = only_file(cache)
    whole = path.read_bytes()
    chance = random.Random(1)
    damages = [damage_of(whole, chance) for _ in range(n_damages)]
    version, magic = bytearray(whole), bytearray(whole)
    version[8] += 1
    magic[0] += 1
    for damaged in (b"", b"x", whole[:-1], whole + b"\0", bytes(version), bytes(magic), *damages):
        path.unlink()  # the mapping stays valid
        path.write_bytes(damaged)
        with pytest.warns(RuntimeWarning, match=f"^{re.escape(str(path))}: ({PROBLEMS}); .* is rebuilt$") as caught:
            assert scores(Scorer(folder)) == expected
        assert len(caught) == 1
        assert only_file(cache).read_bytes() == whole


def test_damage_that_shows_in_use_is_mended_for_all_calls(folder, cache):
    expected = Scorer(folder).reward("Q02", ANSWERS).tolist()
    path = only_file(cache)
    whole = path.read_bytes()
    for call in (Scorer.reward, lambda *args: Scorer.score(*args).average):
        damage_last_byte(path)
        scorer = Scorer(folder)
        with pytest.warns(RuntimeWarning, match="the section of question 2 is damaged"):
            assert call(scorer, "Q02", ANSWERS).tolist() == expected
        assert scorer.reward("Q02", ANSWERS).tolist() == expected
        assert path.read_bytes() == whole


@pytest.mark.parametrize("details", [b"", b"7", b'[{}, {"question_id": 1}]', b"[" * 100_000])
def test_unusable_details_are_no_reason_to_fail(folder, cache, details):
    expected = scores(Scorer(folder))
    path = only_file(cache)
    loaded = Suite.load(folder)
    actual = index_of(loaded, "leaderboard", 1)
    head = _core.index_file_head(_core.Profile.leaderboard, loaded.metadata_hash, details, actual)
    path.unlink()
    path.write_bytes(b"".join([head, *actual]))
    with pytest.warns(RuntimeWarning, match="its questions differ from those of suite"):
        assert scores(Scorer(folder)) == expected
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scores(Scorer(folder)) == expected


@pytest.mark.parametrize(
    ("lengths", "problem"),
    [
        (b"7,9", "the index of a question has other lengths"),
        (b"9,9", "its questions cannot be read"),
        (b'"a",7', "its questions cannot be read"),
    ],
)
def test_a_compiled_suite_whose_index_has_other_lengths_is_refused(folder, lengths, problem):
    loaded = Suite.load(folder)
    index = index_of(loaded, "leaderboard", 1)
    keys = b'"target":%s,"limit":%s,"sets"' % tuple(lengths.split(b","))
    details = describe_questions(loaded.questions).replace(b'"sets"', keys)
    head = _core.index_file_head(_core.Profile.leaderboard, loaded.metadata_hash, details, index)
    with pytest.raises(IndexFormatError, match=problem):
        Scorer.from_bytes(b"".join([head, *index])).score("Q01", ["the sea"])


@pytest.fixture
def compiled(folder, tmp_path, cache):
    path = tmp_path / "compiled.pfgen"
    save_index(Suite.load(folder), "leaderboard", 1, path)
    return path


def test_a_named_file_is_used_in_place_of_the_cache(folder, compiled, cache, forbid_building):
    expected = scores_without_cache(folder)
    forbid_building()
    scorer = Scorer(folder, index=compiled)
    assert scores(scorer) == scores(pickle.loads(pickle.dumps(scorer))) == expected
    assert scores(Scorer(folder, index=str(compiled))) == expected
    assert not cache.exists()


def test_a_named_file_that_does_not_fit_is_refused(folder, compiled, make_suite, tmp_path):
    loaded = Suite.load(folder)
    refused = {
        "compiled for another profile, not for paper": {"suite": loaded, "profile": "paper"},
        "no such file": {"suite": loaded, "index": tmp_path / "nowhere"},
        "cannot be read: Is a directory": {"suite": loaded, "index": tmp_path},
        "compiled from another suite, not from": {"suite": "mini"},
        f"compiled from another suite, not from (?!{loaded.metadata_hash})": {
            "suite": dataclasses.replace(loaded, questions=loaded.questions[::-1])
        },
    }
    for message, changes in refused.items():
        with pytest.raises(IndexFormatError, match=message):
            Scorer(**{"index": compiled, **changes})


def test_damage_of_a_named_file_is_an_error_and_leaves_the_file_alone(folder, compiled):
    loaded = Suite.load(folder)
    whole = compiled.read_bytes()
    chance = random.Random(2)
    for _ in range(100):
        damaged = damage_of(whole, chance)
        compiled.write_bytes(damaged)
        for _ in range(2):
            with pytest.raises(IndexFormatError, match=f"^{re.escape(str(compiled))}: ({PROBLEMS})$"):
                [Scorer(loaded, index=compiled).reward(key, ANSWERS) for key in ("Q01", "Q02")]
        assert compiled.read_bytes() == damaged


PROCESS = """
import pathlib, sys, time
from pfgen_fast import Scorer, _core

compiled = _core.compile
def count_and_compile(*args):
    with open(sys.argv[2], "a") as file:
        file.write("x")
    time.sleep(0.3)
    return compiled(*args)
_core.compile = count_and_compile
print("ready", flush=True)
sys.stdin.readline()
print(Scorer(sys.argv[1], threads=1).reward("Q01", ["the sea", "the moon"]).tolist())
"""


@pytest.mark.slow
def test_of_several_processes_one_builds_and_the_others_wait(folder, cache, tmp_path):
    command = [sys.executable, "-c", PROCESS, str(folder), str(tmp_path / "built")]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.stdout.readline() for process in started] == ["ready\n"] * 3
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    message = {process.communicate(timeout=60)[0] for process in started}
    assert [process.returncode for process in started] == [0] * 3
    assert len(message) == 1
    assert (tmp_path / "built").read_text() == "x"
    only_file(cache)


def test_answers_of_a_suite_from_the_cache_are_those_of_its_files(folder, cache):
    parsed = Suite.load(folder)
    Scorer(parsed)
    result = Suite.load(folder)
    assert type(result["Q01"].answers) is not type(parsed["Q01"].answers)
    assert result.set_names == parsed.set_names
    assert result.questions == parsed.questions
    assert parsed.questions == result.questions
    for question in result:
        assert ("P" in question.answers, "X" in question.answers) == (True, False)
        with pytest.raises(KeyError):
            question.answers["X"]
        with pytest.raises(TypeError):
            question.answers["P"] = ()


def test_files_that_changed_since_are_not_taken_for_the_suite(make_suite, cache):
    folder = make_suite(*QUESTIONS)
    expected = scores(Scorer(folder))
    actual = Suite.load(folder)
    make_suite({"answers": {"P": ["something else"]}}, *QUESTIONS[1:])
    assert scores(Scorer(actual)) == expected  # the index belongs to the suite
    with pytest.raises(SuiteError, match=r"Q01\.json: the file has changed since the suite was loaded"):
        actual["Q01"].answers["P"]
    sent = pickle.dumps(actual)
    with pytest.raises(SuiteError, match="holds a different suite from the one that was sent: its files have changed"):
        pickle.loads(sent)
    (folder / "Q02.json").unlink()
    with pytest.raises(SuiteError, match=r"Q02\.json: cannot be read"):
        actual["Q02"].answers["P"]


def test_lone_surrogates_anywhere_are_kept(make_suite, cache):
    odd = {"question": "q \ud800", "note": "\ud801", "category": "\ud802", "keywords": [{"t": "\ud803"}]}
    folder = make_suite({**odd, "answers": {"P": ["a \ud800"]}})
    parsed = Suite.load(folder)
    expected = scores(Scorer(parsed))
    assert Suite.load(folder).questions == parsed.questions
    assert scores(Scorer(folder)) == expected
