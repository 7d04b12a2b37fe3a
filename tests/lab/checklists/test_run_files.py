"""Files of runs: where runs are found, answers and judgements in all forms, and lines that break the rules."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from makers import checklists_to_judge
from makers.checklist_folders import write_suite_files
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs, write_run
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite
from pfgen_fast.lab.checklists.judgements import Judgement, read_judgements, write_judgements

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


def test_a_run_is_read_as_it_was_written_and_nothing_of_before_is_left(tmp_path: Path, suite: ChecklistSuite) -> None:
    folder = run_with(tmp_path / "heron", b"", "answers.jsonl.xz")
    (folder / "judgements.parquet").write_bytes(b"")
    (folder / "notes.txt").write_text("mine")
    write_run(folder, ANSWERS, JUDGEMENTS, {"model": "org/heron", "temperature": 0.8})
    names = ["answers.jsonl", "config.json", "judgements.jsonl", "notes.txt"]
    assert sorted(path.name for path in folder.iterdir()) == names
    (run,) = open_runs([folder])
    assert (run.key, run.name, run.config["temperature"]) == ("heron", "org/heron", 0.8)
    assert list(run.answers(suite).values()) == list(ANSWERS)
    assert run.judgements(suite) == list(JUDGEMENTS)


@pytest.mark.parametrize("has_replies", [True, False])
def test_only_judgements_that_follow_from_replies_outlast_new_answers(tmp_path, suite, has_replies) -> None:
    folder = tmp_path / "heron"
    write_run(folder, ANSWERS, JUDGEMENTS, {"model": "org/heron"})
    if has_replies:
        (folder / "judge-replies.jsonl").touch()
    write_run(folder, ANSWERS, [], {"model": "org/heron"})
    assert open_runs([folder])[0].judgements(suite) == (list(JUDGEMENTS) if has_replies else [])
    with pytest.raises(ChecklistError, match="the directory has another run"):
        write_run(folder, ANSWERS, [], {"model": "org/heron", "temperature": 0.8})


def test_runs_are_found_at_any_depth_and_once(tmp_path: Path) -> None:
    for name in ("stork", "org/heron"):
        write_run(tmp_path / "runs" / name, ANSWERS, [], {"model": name})
    run_with(tmp_path / "runs/stork/notes", b"", "answers.jsonl")
    runs = open_runs([tmp_path / "runs", tmp_path / "runs" / "stork"])
    assert [run.key for run in runs] == ["heron", "stork"]
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


GOOD = {"id": "thanks-1", "response": "Thanks."}
UNREADABLE = (
    ("{]", "line 1, column 2: not JSON"),
    ("[1]", "line 1: expected an object, not a list"),
    (lines({"response": "x"}), "line 1: the key 'id' is missing"),
    (lines({"id": "fable-1", "response": "x", "trial": 0}), "line 1: trial: expected a whole number from 1"),
)


@pytest.mark.parametrize(("content", "message"), UNREADABLE, ids=["no-json", "no-object", "no-id", "trial"])
def test_a_line_that_cannot_be_read_is_named_and_the_others_are_there(
    tmp_path: Path, suite: ChecklistSuite, content: str, message: str
) -> None:
    (run,) = open_runs([run_with(tmp_path / "heron", lines(content.removesuffix("\n"), GOOD))])
    with pytest.raises(ChecklistError, match=message):
        run.answers(suite)
    faults: list[str] = []
    answers = run.answers(suite, on_fault=faults.append)
    assert [answer.response for answer in answers.values()] == ["Thanks."]
    assert len(faults) == 1
    assert re.search(message, faults[0])
    assert "\n" not in faults[0]


MANY = lines(*({**GOOD, "trial": trial, "response": "x" * 1000} for trial in range(1, 2000)))
WRONG: dict[str, tuple[str | bytes, str]] = {
    "two answers": (lines(GOOD, {**GOOD, "response": "No."}), "line 2: another answer to thanks-1 came before;"),
    "damaged": (b"\xfd7zXZ\x00rest", r"answers.jsonl.xz: damaged or cut off"),
    "too much": (MANY, "holds more than 1 MiB, which is the limit"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_cannot_be_used_is_one_error(tmp_path: Path, suite: ChecklistSuite, name: str, monkeypatch) -> None:
    monkeypatch.setattr("pfgen_fast.lab.checklists.line_files.MAX_BYTES", 1 << 20)
    content, message = WRONG[name]
    folder = run_with(tmp_path / "heron", content, "answers.jsonl.xz" if name == "damaged" else "answers.jsonl")
    with pytest.raises(ChecklistError, match=message):
        open_runs([folder])[0].answers(suite, on_fault=lambda _: None)


SUITE = checklists_to_judge.suite()
FORMS = ("jsonl", "jsonl.xz", "jsonl.gz", "jsonl.zst", "parquet")
HASH = "0" * 64

TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
NAMES = st.none() | TEXTS


@st.composite
def judgements_of_the_suite(draw):
    listed = []
    for task in SUITE.tasks:
        n_questions = len(SUITE.checklist(task).questions)
        columns = {
            "id": st.just(task.id),
            "scores": st.none() | st.tuples(*[st.sampled_from(SUITE.levels)] * n_questions),
            "reasons": st.just(()) | st.tuples(*[NAMES] * n_questions),
            "cut": st.booleans(),
            "temperature": st.none() | st.floats(0, 2),
            **dict.fromkeys(("response_sha256", "judge"), TEXTS),
            **dict.fromkeys(("trial", "rating"), st.integers(1, 3)),
            **dict.fromkeys(("version", "prompt_sha256", "checklist_sha256", "fault", "profile", "request"), NAMES),
            **dict.fromkeys(("words", "most_repeated_sentence"), st.none() | st.integers(0, 10**6)),
            "tries": st.integers(0, 9),
        }
        listed.append(Judgement(**{name: draw(values) for name, values in columns.items()}))
    return listed


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@given(judgements=judgements_of_the_suite())
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_written_judgements_are_read_again_and_always_have_the_same_bytes(tmp_path, form, judgements):
    path, again = (tmp_path / f"{name}.{form}" for name in ("judgements", "again"))
    write_judgements(path, judgements)
    write_judgements(again, judgements)
    assert path.read_bytes() == again.read_bytes()
    assert read_judgements(path, SUITE) == judgements
    assert read_judgements(path, SUITE, with_reasons=False) == [
        replace(judgement, reasons=()) for judgement in judgements
    ]


def written(tmp_path, *lines):
    path = tmp_path / "judgements.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def line(**changes):
    return {"id": "T00", "length": None, "response_sha256": HASH, "scores": [1, 0.5, 0], **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": ...}, "the key 'scores' is missing"),
        ({"id": "T0"}, "unknown task 'T0'"),
        ({"scores": [1, 0.3, 0]}, "question 1: the verdict 0.3 is not a level of the suite; expected one of 0, 0.25"),
        ({"scores": [1, 0.5, None]}, "scores[2]: expected a number"),
        ({"method": "guess"}, "method: expected one of checklist, llm-eval, llm-eval-c, not 'guess'"),
        ({"method": "llm-eval"}, "3 verdicts; expected 1"),
        ({"method": "llm-eval", "scores": [11]}, "the rating 11; expected a number from 0 to 10"),
        ({"trial": 0}, "trial: expected a whole number from 1"),
    ],
)
def test_a_line_that_breaks_the_rules_is_named(tmp_path, changes, message):
    changed = {name: value for name, value in line(**changes).items() if value is not ...}
    path = written(tmp_path, line(id="T02"), changed)
    with pytest.raises(ChecklistError) as error:
        read_judgements(path, SUITE)
    assert str(error.value).startswith(f"{path}, line 2")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_equal_judgements_count_once_and_others_are_an_error_unless_of_another_judge_or_answer(tmp_path):
    (judgement,) = read_judgements(written(tmp_path, line(reasons=["a"] * 3), line(reasons=["b"] * 3)), SUITE)
    assert judgement.reasons == ("a",) * 3
    with pytest.raises(ChecklistError, match="line 2: a second judgement of T00 by the same judge"):
        read_judgements(written(tmp_path, line(), line(scores=[1, 1, 1])), SUITE)
    for changes in ({"judge": "b"}, {"version": "b"}, {"rating": 2}, {"trial": 2}, {"response_sha256": "1" * 64}):
        assert len(read_judgements(written(tmp_path, line(), line(scores=[0, 0, 0], **changes)), SUITE)) == 2
