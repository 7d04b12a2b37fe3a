"""Runs: where they are found, answers that are read line by line, and what is said of lines that cannot be."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from makers.suite_folders import write_suite_files
from pfgen_fast.checklists import Answer, ChecklistSuite, Judgement, open_runs
from pfgen_fast.checklists.runs import write_run
from pfgen_fast.errors import ChecklistError

ANSWERS = (
    Answer("thanks-1", "Thank you.\n\u2028 \x00"),
    Answer("fable-1", "A heron spoke.", trial=2, finish_reason="stop"),
    Answer("fable-1", "", length="2k"),
)
JUDGEMENTS = (Judgement("thanks-1", ANSWERS[0].sha256, (1.0, 0.5), judge="j", reasons=("warm", None)),)


@pytest.fixture
def suite(tmp_path: Path) -> ChecklistSuite:
    return ChecklistSuite.load(write_suite_files(tmp_path / "suite"))


def lines(*rows: Any) -> str:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


def run_with(folder: Path, answers: str | bytes, name: str = "answers.jsonl") -> Path:
    folder.mkdir(parents=True)
    (folder / name).write_bytes(answers if isinstance(answers, bytes) else answers.encode())
    return folder


def test_what_is_written_is_read_again(tmp_path: Path, suite: ChecklistSuite) -> None:
    write_run(tmp_path / "heron", ANSWERS, JUDGEMENTS, {"model": "org/heron", "temperature": 0.8})
    (run,) = open_runs([tmp_path / "heron"])
    assert (run.key, run.name, run.config["temperature"]) == ("heron", "org/heron", 0.8)
    assert list(run.answers(suite).values()) == list(ANSWERS)
    assert run.judgements(suite) == list(JUDGEMENTS)


def test_writing_again_leaves_nothing_of_before(tmp_path: Path, suite: ChecklistSuite) -> None:
    run_with(tmp_path / "heron", b"", "answers.jsonl.xz")
    (tmp_path / "heron" / "judgements.parquet").write_bytes(b"")
    (tmp_path / "heron" / "notes.txt").write_text("mine")
    write_run(tmp_path / "heron", ANSWERS, [], {"model": "heron"})
    assert sorted(path.name for path in (tmp_path / "heron").iterdir()) == ["answers.jsonl", "config.json", "notes.txt"]


@pytest.mark.parametrize("has_replies", [True, False])
def test_only_judgements_that_follow_from_replies_outlast_new_answers(tmp_path, suite, has_replies) -> None:
    folder = tmp_path / "heron"
    write_run(folder, ANSWERS, JUDGEMENTS, {"model": "org/heron"})
    if has_replies:
        (folder / "judge-replies.jsonl").touch()
    write_run(folder, ANSWERS, [], {"model": "org/heron"})
    assert open_runs([folder])[0].judgements(suite) == (list(JUDGEMENTS) if has_replies else [])


def test_runs_are_found_at_any_depth_and_once(tmp_path: Path) -> None:
    for name in ("stork", "org/heron"):
        write_run(tmp_path / "runs" / name, ANSWERS, [], {"model": name})
    run_with(tmp_path / "runs/stork/sentinels", b"", "answers.jsonl")
    found = open_runs([tmp_path / "runs", tmp_path / "runs" / "stork"])
    assert [run.key for run in found] == ["heron", "stork"]
    assert [run.key for run in open_runs([str(tmp_path / "runs" / "*")])] == ["heron", "stork"]  # type: ignore[list-item]


def test_a_file_stands_for_a_run_of_its_name(tmp_path: Path, suite: ChecklistSuite) -> None:
    write_run(tmp_path / "run", ANSWERS, JUDGEMENTS, {})
    folder = tmp_path / "files"
    folder.mkdir()
    (tmp_path / "run/judgements.jsonl").rename(folder / "heron.jsonl")
    (tmp_path / "run/answers.jsonl").rename(folder / "stork.jsonl")
    heron, stork = open_runs([folder])
    assert (heron.key, heron.answers(suite), len(heron.judgements(suite))) == ("heron", {}, 1)
    assert (stork.key, len(stork.answers(suite)), stork.judgements(suite)) == ("stork", 3, [])
    assert [run.key for run in open_runs([folder / "heron.jsonl"])] == ["heron"]


def test_paths_without_a_run_or_with_two_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ChecklistError, match=r"holds no run; expected a folder with answers.jsonl or judgements.jsonl"):
        open_runs([tmp_path])
    with pytest.raises(ChecklistError, match="none: no such file or folder"):
        open_runs([tmp_path / "none"])
    for name in ("a/heron", "b/heron"):
        write_run(tmp_path / name, ANSWERS, [], {})
    with pytest.raises(ChecklistError, match=r"b.heron: a run of the name heron is also in .*a.heron"):
        open_runs([tmp_path])


def test_a_config_that_is_no_object_is_refused(tmp_path: Path) -> None:
    write_run(tmp_path / "heron", ANSWERS, [], {})
    (tmp_path / "heron/config.json").write_text("[]")
    with pytest.raises(ChecklistError, match=r"config.json"):
        open_runs([tmp_path])


GOOD = {"id": "thanks-1", "response": "Thanks."}
UNREADABLE: dict[str, tuple[str, str]] = {
    "no-json": ("{]", "line 1, column 2: not JSON"),
    "no-object": ("[1]", "line 1: expected an object, not a list"),
    "no-id": (lines({"response": "x"}), "line 1: the key 'id' is missing"),
    "trial": (lines({"id": "fable-1", "response": "x", "trial": 0}), "line 1: trial: expected a whole number from 1"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_line_that_cannot_be_read_is_named_and_the_others_are_there(
    tmp_path: Path, suite: ChecklistSuite, name: str
) -> None:
    content, message = UNREADABLE[name]
    (run,) = open_runs([run_with(tmp_path / "heron", lines(content.removesuffix("\n"), GOOD))])
    with pytest.raises(ChecklistError, match=message):
        run.answers(suite)
    faults: list[str] = []
    answers = run.answers(suite, on_fault=faults.append)
    assert [answer.response for answer in answers.values()] == ["Thanks."]
    assert len(faults) == 1
    assert re.search(message, faults[0])
    assert "\n" not in faults[0]


def test_equal_answers_are_one_and_the_last_line_may_lack_its_end_and_the_first_have_a_mark(tmp_path, suite) -> None:
    content = lines(GOOD, "", GOOD, {**GOOD, "trial": 2, "response": "No."}).encode().removesuffix(b"\n")
    (run,) = open_runs([run_with(tmp_path / "heron", b"\xef\xbb\xbf" + content)])
    assert list(run.answers(suite)) == [("thanks-1", None, 1), ("thanks-1", None, 2)]


MANY = lines(*({**GOOD, "trial": trial, "response": "x" * 1000} for trial in range(1, 2000)))
WRONG: dict[str, tuple[str | bytes, str]] = {
    "two answers": (lines(GOOD, {**GOOD, "response": "No."}), "line 2: another answer to thanks-1 came before;"),
    "damaged": (b"\xfd7zXZ\x00rest", r"answers.jsonl.xz: damaged or cut off"),
    "too much": (MANY, "holds more than 1 MiB, which is the limit"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_cannot_be_used_is_one_error(tmp_path: Path, suite: ChecklistSuite, name: str, monkeypatch) -> None:
    monkeypatch.setattr("pfgen_fast.checklists.line_files.MAX_BYTES", 1 << 20)
    content, message = WRONG[name]
    folder = run_with(tmp_path / "heron", content, "answers.jsonl.xz" if name == "damaged" else "answers.jsonl")
    with pytest.raises(ChecklistError, match=message):
        open_runs([folder])[0].answers(suite, on_fault=lambda _: None)
