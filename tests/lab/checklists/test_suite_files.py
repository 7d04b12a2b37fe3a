"""Folders of checklist suites: what is read, what is refused with which sentence, and that writing changes nothing."""

import dataclasses
import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from makers.checklist_folders import CHECKLISTS, SETTINGS, TASKS, with_task, write_suite_files
from pfgen_fast.base.compression import compressing
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite, write_suite
from pfgen_fast.lab.checklists.suite_files import packaged_prompts, packaged_suites
from pfgen_fast.suite.suite_reading import PACKAGED
from pfgen_fast.tables import arrow_columns as parquet


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
    assert (suite.name, suite.language, suite.words, suite.missing) == ("bare", "en", "regex", "skip")
    assert (suite.levels, suite.areas) == ((0, 0.25, 0.5, 0.75, 1), ("letters", "stories"))
    assert not suite.has_weights
    assert suite.checklist(suite.tasks[1]).weights == (100 / 3,) * 3
    japanese = suite_with(tmp_path / "ja", {"suite.json": {"format": 1, "language": "ja"}})
    assert (japanese.words, japanese.prompts) == ("characters", packaged_prompts("ja"))


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


@pytest.mark.parametrize("ending", ["jsonl.xz", "jsonl.gz", "jsonl.zst", "parquet"])
def test_tasks_may_be_compressed_or_a_parquet_file(tmp_path: Path, ending: str) -> None:
    folder = write_suite_files(tmp_path, {"tasks.jsonl": None})
    path = folder / f"tasks.{ending}"
    if ending == "parquet":
        pa = parquet.pyarrow()
        pa.parquet.write_table(pa.Table.from_pylist(list(reversed(TASKS))), path)
    else:
        with path.open("wb") as file, compressing(file, path) as packed:
            packed.write(LINES)
    assert set(ChecklistSuite.load(folder).by_key) == {(task["id"], task.get("length")) for task in TASKS}


DIVIDED = ("weights were divided by their sum, which was not 100: letters/thanks (4)",)


@pytest.mark.parametrize(
    ("thanks", "expected", "notes"), [([3, 1], (75, 25), DIVIDED), ([60.00000001, 40], (60, 40), ())]
)
def test_weights_are_divided_by_their_sum_and_a_note_says_so(tmp_path: Path, thanks, expected, notes) -> None:
    suite = suite_with(tmp_path, {"weights.json": {"letters": {"thanks": thanks}}})
    weighted, unweighted = suite.checklists["letters", "thanks"], suite.checklists["stories", "fable"]
    assert weighted.weights == pytest.approx(expected)
    assert sum(weighted.weights) == pytest.approx(100, abs=1e-12)
    assert (suite.notes, suite.has_weights) == (notes, False)
    assert (weighted.has_weights, unweighted.has_weights) == (True, False)


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
    "no-questions": ({"checklists.json": {"letters": {"thanks": []}}}, r"\['thanks'\]: expected at least one question"),
    "empty-checklists": ({"checklists.json": {}}, "checklists.json: no checklists"),
    "weights-category": ({"weights.json": {"stories": {"fabel": [1]}}}, "unknown category 'stories/fabel'; .*fable"),
    "no-tasks": ({"tasks.jsonl": None}, r"expected tasks.jsonl, which may be compressed"),
    "two-files": ({"tasks.jsonl.xz": lzma.compress(b"")}, "holds both tasks.jsonl and tasks.jsonl.xz; expected one"),
    "task-twice": ({"tasks.jsonl": with_task(length=None)}, "line 3: the task fable-1 appears twice"),
    "task-area": (
        {"tasks.jsonl": with_task(area="poems")},
        "line 3: unknown category 'poems/fable'; expected one of stories/fable, letters/thanks",
    ),
    "task-category": (
        {"tasks.jsonl": with_task(category="fabel")},
        "line 3: .*unknown category 'stories/fabel'; .*did you mean 'stories/fable'",
    ),
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


def test_a_prompt_comes_from_its_file_or_the_package_and_unused_files_are_named(tmp_path: Path) -> None:
    own = 'Task: {instruction} Answer: {response} {{"questions": {checklists}}}'
    files = {"prompts/user.txt": own, "prompts/system.txt": "Judge."}
    suite = suite_with(tmp_path, files, prompts={"user": "prompts/user.txt", "system": None})
    assert suite.prompts.user == own
    assert suite.prompts.system is None
    assert suite.prompts.overall_user == packaged_prompts("en").overall_user
    (note,) = suite.notes
    assert note.startswith("prompts/system.txt is not used, because suite.json does not name it")


def test_a_folder_without_a_suite_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ChecklistError, match=r"has no suite.json; .*checklists import "):
        ChecklistSuite.load(tmp_path)
    with pytest.raises(ChecklistError, match=r"no such folder, and no packaged suite of that name \(essays-en, essays"):
        ChecklistSuite.load(tmp_path / "none")
    for n_gram in ("mini", PACKAGED / "mini"):
        with pytest.raises(ChecklistError, match=r"an n-gram suite; expected a checklist suite, as .* import "):
            ChecklistSuite.load(n_gram)


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
