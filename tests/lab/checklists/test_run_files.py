"""Files of runs and folders of suites: all forms, and what is refused with which sentence."""

import dataclasses
import json
import lzma
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from makers import checklists_to_judge
from makers.checklist_folders import CHECKLISTS, SETTINGS, TASKS, with_task, write_suite_files
from pfgen_fast.base.compression import compressing
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs, write_run
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite, write_suite
from pfgen_fast.lab.checklists.judgements import Judgement, read_judgements, write_judgements
from pfgen_fast.lab.checklists.suite_files import packaged_prompts, packaged_suites

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
    (folder / "judgements.jsonl.gz").write_bytes(b"")
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
FORMS = ("jsonl", "jsonl.xz", "jsonl.gz", "jsonl.zst")
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
            "verdicts": st.none() | st.tuples(*[st.sampled_from(SUITE.levels)] * n_questions),
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


# ---- Folders of checklist suites


def test_a_suite_is_read_whole_and_writing_and_reading_change_nothing(tmp_path: Path) -> None:
    loaded = ChecklistSuite.load(write_suite_files(tmp_path / "a"))
    suite = dataclasses.replace(loaded, prompts=dataclasses.replace(loaded.prompts, system="", overall_system=None))
    write_suite(suite, tmp_path / "b")
    again = ChecklistSuite.load(tmp_path / "b")
    assert dataclasses.asdict(again) == {**dataclasses.asdict(suite), "folder": tmp_path / "b"}
    assert again.hash == suite.hash
    assert [task.key for task in suite.tasks] == [("thanks-1", None), ("fable-1", None), ("fable-1", "2k")]
    assert (suite.areas, suite.lengths, suite.notes) == (("letters", "stories"), ("2k",), ())
    assert suite.by_key["fable-1", "2k"].wanted_words == 2000
    assert suite.checklist(suite.tasks[0]).weights == (60, 40)
    assert (suite.has_weights, suite.rescaling(80), loaded.prompts) == (True, 20, packaged_prompts("en"))


def test_keys_that_suite_json_lacks_have_defaults(tmp_path: Path) -> None:
    suite = suite_with(tmp_path / "bare", {"suite.json": {"format": 1}, "weights.json": None})
    assert (suite.name, suite.language, suite.words) == ("bare", "en", "regex")
    assert (suite.levels, suite.areas) == ((0, 0.25, 0.5, 0.75, 1), ("letters", "stories"))
    assert not suite.has_weights
    assert suite.checklist(suite.tasks[1]).weights == (100 / 3,) * 3
    japanese = suite_with(tmp_path / "ja", {"suite.json": {"format": 1, "language": "ja"}})
    assert (japanese.words, japanese.prompts) == ("characters", packaged_prompts("ja"))


def test_a_list_of_lengths_makes_a_variant_of_each_task_that_has_none_of_that_length(tmp_path: Path) -> None:
    first = with_task(length=None, id="heron", instruction="Tell a tale.\n1. Write at least 1,200 words.\n2. Rhyme.")
    lengths = {"words": [2000, 500], "areas": ["stories"]}
    tasks = first + with_task().splitlines(keepends=True)[-1]
    suite = suite_with(tmp_path / "en", {"tasks.jsonl": tasks}, lengths=lengths)
    asked = {key: task.instruction for key, task in suite.by_key.items() if key[1] and key[0] != "thanks-1"}
    assert asked == {
        ("fable-1", "2k"): TASKS[-1]["instruction"],  # the task of the file
        ("fable-1", "500"): "Write a fable about a heron.\n\nWrite at least 500 words.",
        ("heron", "2k"): "Tell a tale.\n1. Write at least 2000 words.\n2. Rhyme.",
        ("heron", "500"): "Tell a tale.\n1. Write at least 500 words.\n2. Rhyme.",
    }
    assert suite.by_key["heron", "500"].wanted_words == 500
    japanese = suite_with(tmp_path / "ja", language="ja", lengths=[900])
    assert japanese.by_key["thanks-1", "900"].instruction.endswith("kite.\n\n900字以上で書くこと。")


def test_a_suite_replaces_another_one_wholly(tmp_path: Path) -> None:
    first = ChecklistSuite.load(write_suite_files(tmp_path / "a"))
    folder = write_suite_files(tmp_path / "b", {"tasks.jsonl": None, "tasks.jsonl.gz": b""})
    weightless = {key: dataclasses.replace(checklist, has_weights=False) for key, checklist in first.checklists.items()}
    write_suite(dataclasses.replace(first, checklists=weightless), folder)
    assert sorted(path.name for path in folder.iterdir()) == ["checklists.json", "prompts", "suite.json", "tasks.jsonl"]
    assert not ChecklistSuite.load(folder).has_weights


def suite_with(folder: Path, files: dict[str, Any] | None = None, **settings: Any) -> ChecklistSuite:
    return ChecklistSuite.load(write_suite_files(folder, files, **settings))


LINES = "".join(f"{json.dumps(task)}\n" for task in TASKS).encode()


@pytest.mark.parametrize("ending", ["jsonl.xz", "jsonl.gz", "jsonl.zst"])
def test_tasks_may_be_compressed(tmp_path: Path, ending: str) -> None:
    folder = write_suite_files(tmp_path, {"tasks.jsonl": None})
    path = folder / f"tasks.{ending}"
    with path.open("wb") as file, compressing(file, path) as packed:
        packed.write(LINES)
    assert set(ChecklistSuite.load(folder).by_key) == {(task["id"], task.get("length")) for task in TASKS}


@pytest.mark.parametrize(("thanks", "expected"), [([3, 1], (75, 25)), ([60.00000001, 40], (60, 40))])
def test_weights_are_divided_by_their_sum(tmp_path: Path, thanks, expected) -> None:
    suite = suite_with(tmp_path, {"weights.json": {"letters": {"thanks": thanks}}})
    weighted, unweighted = suite.checklists["letters", "thanks"], suite.checklists["stories", "fable"]
    assert weighted.weights == pytest.approx(expected)
    assert sum(weighted.weights) == pytest.approx(100, abs=1e-12)
    assert (suite.has_weights, weighted.has_weights, unweighted.has_weights) == (False, True, False)


def weights(*fable: Any) -> dict[str, Any]:
    return {"weights.json": {"stories": {"fable": list(fable)}}}


def prompt(content: str) -> dict[str, Any]:
    return {"mine.txt": content, "suite.json": {**SETTINGS, "prompts": {"user": "mine.txt"}}}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no-json": ({"suite.json": "{"}, "suite.json.*not JSON"),
    "format": ({"suite.json": {**SETTINGS, "format": 2}}, r"suite.json: format: expected 1"),
    "unknown-key": ({"suite.json": {**SETTINGS, "aeras": []}}, "unknown key 'aeras'; expected one of areas"),
    "area-without-checklist": ({"suite.json": {**SETTINGS, "areas": ["letters", "stories", "x"]}}, "'x' has no check"),
    "unknown-area": ({"suite.json": {**SETTINGS, "areas": ["letters"]}}, r"stories/fable: unknown area 'stories'"),
    "levels-not-ascending": ({"suite.json": {**SETTINGS, "levels": [0, 1, 0.5]}}, "levels: .*from 0 to 1, ascending"),
    "no-lengths": ({"suite.json": {**SETTINGS, "lengths": {"words": [9, 9]}}}, "lengths.words: expected at least one"),
    "length-area": ({"suite.json": {**SETTINGS, "lengths": {"words": [9], "areas": ["x"]}}}, "'x' has no checklist"),
    "requirement": (
        {"suite.json": {**SETTINGS, "language": "fr", "lengths": {"words": [9]}}},
        "lengths.requirement: expected a sentence with {words}",
    ),
    "no-questions": ({"checklists.json": {"letters": {"thanks": []}}}, r"\['thanks'\]: expected at least one question"),
    "empty-checklists": ({"checklists.json": {}}, "checklists.json: no checklists"),
    "weights-category": ({"weights.json": {"stories": {"fabel": [1]}}}, "unknown category 'stories/fabel'; .*fable"),
    "no-tasks": ({"tasks.jsonl": None}, r"expected tasks.jsonl, which may be compressed"),
    "two-files": ({"tasks.jsonl.xz": lzma.compress(b"")}, "holds both tasks.jsonl and tasks.jsonl.xz; expected one"),
    "task-twice": ({"tasks.jsonl": with_task(length=None)}, "line 3: the task fable-1 appears twice"),
    "task-area": ({"tasks.jsonl": with_task(area="poems")}, "line 3: unknown category 'poems/fable'; expected one of"),
    "task-category": ({"tasks.jsonl": with_task(category="fabel")}, "unknown category 'stories/fabel'; .*did you mean"),
    "task-hash": ({"tasks.jsonl": with_task(sha256="abc")}, "sha256: expected 64 hexadecimal digits, not 'abc'"),
    "prompt-unknown": ({"suite.json": {**SETTINGS, "prompts": {"usr": "a"}}}, "prompts: unknown prompt 'usr'"),
    "prompt-outside": ({"suite.json": {**SETTINGS, "prompts": {"user": "../a"}}}, "expected a file in the folder of"),
    "prompt-surrogate": ({"suite.json": {**SETTINGS, "prompts": {"user": "\ud800"}}}, "a lone surrogate"),
    "prompt-no-checklists": (prompt("{instruction} {response}"), r"expected the placeholder {checklists}"),
    "prompt-attribute": (prompt("{response.__class__} {checklists}"), "unknown placeholder 'response.__class__'"),
    "prompt-format": (prompt("{response:>99999999} {checklists}"), "the placeholder response has a format"),
    "prompt-single-brace": (prompt("{response} {checklists} }"), "not a format string: .*double each brace that does"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_that_names_the_place(tmp_path: Path, name: str) -> None:
    files, message = BAD[name]
    with pytest.raises(ChecklistError, match=message) as error:
        ChecklistSuite.load(write_suite_files(tmp_path, files))
    assert str(tmp_path) in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


def test_a_prompt_comes_from_its_file_or_the_package(tmp_path: Path) -> None:
    own = 'Task: {instruction} Answer: {response} {{"questions": {checklists}}}'
    files = {"prompts/user.txt": own, "prompts/system.txt": "Judge."}
    suite = suite_with(tmp_path, files, prompts={"user": "prompts/user.txt", "system": None})
    assert suite.prompts.user == own
    assert suite.prompts.system is None
    assert suite.prompts.overall_user == packaged_prompts("en").overall_user


def test_a_folder_without_a_suite_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ChecklistError, match=r"expected the folder of a checklist suite, with suite.json; .* import"):
        ChecklistSuite.load(tmp_path)
    with pytest.raises(ChecklistError, match=r"no such folder, and no packaged suite of that name \(essays-en, essays"):
        ChecklistSuite.load(tmp_path / "none")


def test_the_packaged_suites_are_complete() -> None:
    assert packaged_suites() == ["essays-en", "essays-ja"]
    for name in packaged_suites():
        suite = ChecklistSuite.load(name)
        assert (suite.name, len(suite.areas), len(suite.checklists), len(suite.lengths)) == (name, 2, 3, 1)
        assert all(len(checklist.questions) == 5 for checklist in suite.checklists.values())
        assert all(task.is_whole for task in suite.tasks)
        assert (suite.has_weights, suite.words) == ((True, "regex") if name == "essays-en" else (False, "characters"))


def test_the_hash_depends_on_everything_that_determines_scores(tmp_path: Path) -> None:
    questions = {**CHECKLISTS, "letters": {"thanks": ["Is it warm?", "Is it long?"]}}
    changes = ({}, weights(20, 40, 40), {"checklists.json": questions})
    usual, *others = (suite_with(tmp_path / str(n), files).hash for n, files in enumerate(changes))
    assert usual == suite_with(tmp_path / "renamed", name="other").hash
    assert len({usual, *others}) == 3
