"""The suite of HelloBench: from its compact form, and from checkouts with other words in them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from makers import checklist_data
from makers.hellobench_checkouts import (
    CATEGORIES,
    FIRST_LINES,
    instruction_of,
    questions_of,
    task_ids,
    write_checkout,
    write_lines,
)
from pfgen_fast.checklists.importing.hellobench_checkout import summary_category
from pfgen_fast.checklists.importing.hellobench_suite import AREAS, import_suite
from pfgen_fast.checklists.prompt_files import packaged_prompts
from pfgen_fast.checklists.suite import ChecklistSuite
from pfgen_fast.checklists.suite_writing import write_suite
from pfgen_fast.errors import ChecklistError

N_TASKS = sum(2 * len(categories) for categories in CATEGORIES.values())


@pytest.fixture(scope="module")
def suite() -> ChecklistSuite:
    """The suite from its compact form."""
    return import_suite(checklist_data.folder())


@checklist_data.needs_hellobench
class TestCompact:
    def test_there_are_as_many_tasks_and_questions_as_the_rules_say(self, suite: ChecklistSuite) -> None:
        counts = Counter(task.area for task in suite.tasks if task.length is None)
        lengths = Counter(task.length for task in suite.tasks)
        questions = {
            area: {len(one.questions) for (of_area, _), one in suite.checklists.items() if of_area == area}
            for area in suite.areas
        }

        assert [counts[area] for area in suite.areas] == [200, 100, 147, 77, 123]
        assert lengths == {None: 647, "2k": 123, "4k": 123, "8k": 123, "16k": 123}
        assert {task.wanted_words for task in suite.tasks} == {None, 2000, 4000, 8000, 16000}
        assert len(suite.checklists) == 38
        assert questions == {
            "open_ended_qa": {7},
            "summarization": {6, 7},
            "chat": {6},
            "text_completion": {5},
            "heuristic_text_generation": {5},
        }
        assert suite.has_weights
        assert suite.notes == ()

    def test_the_weights_are_the_published_ones_to_the_last_digit(self, suite: ChecklistSuite) -> None:
        published = json.loads((checklist_data.folder() / "weights.json").read_text())

        for (area, category), checklist in suite.checklists.items():
            assert checklist.weights == pytest.approx(published[area][category], abs=1e-12)

    def test_177_instructions_lack_their_document(self, suite: ChecklistSuite) -> None:
        parts = Counter(task.area for task in suite.tasks if not task.is_whole)

        assert parts == {"summarization": 100, "text_completion": 77}

    def test_the_categories_of_summaries_follow_from_the_first_line(self, suite: ChecklistSuite) -> None:
        found = Counter()
        for task in suite.tasks:
            if task.area == "summarization":
                assert summary_category(task.instruction or "") == task.category
                found[task.category] += 1

        assert set(found.values()) == {20}

    def test_writing_and_reading_change_nothing(self, suite: ChecklistSuite, tmp_path: Path) -> None:
        write_suite(suite, tmp_path)
        again = ChecklistSuite.load(tmp_path)

        assert again.hash == suite.hash
        assert again.prompts == suite.prompts

    def test_prompts_keep_every_character(self, suite: ChecklistSuite) -> None:
        text = (checklist_data.folder() / "prompts" / "checklist.user.txt").read_text(encoding="utf-8")

        assert suite.prompts.user.text == text


@pytest.mark.parametrize("is_first_version", [False, True])
def test_a_checkout_gives_the_suite(tmp_path: Path, is_first_version: bool) -> None:
    suite = import_suite(write_checkout(tmp_path, is_first_version=is_first_version))

    assert suite.areas == AREAS
    assert suite.lengths == ("2k", "16k")
    assert len(suite.tasks) == N_TASKS + 2 * 2
    assert suite.by_key["chat_000", None].instruction == instruction_of("chat", "chat_000", "rewrite")
    assert suite.by_key["heuristic_text_generation_001", "16k"].wanted_words == 16000
    for (area, category), checklist in suite.checklists.items():
        assert category in CATEGORIES[area]
        assert list(checklist.questions) == questions_of(category)
        assert checklist.has_weights
    assert suite.prompts.user.text.startswith('Asked: {{"instruction": {instruction}}}\n')
    assert suite.prompts.overall_with_checklist_user is not None
    assert suite.notes == ()


def test_missing_tasks_of_summaries_follow_from_answers(tmp_path: Path) -> None:
    suite = import_suite(write_checkout(tmp_path, without=("summarization",)))

    found = [(task.id, task.category) for task in suite.tasks if task.area == "summarization"]
    assert found == list(task_ids("summarization"))


def test_without_answers_missing_tasks_are_an_error(tmp_path: Path) -> None:
    folder = write_checkout(tmp_path, without=("summarization",))
    for path in folder.glob("results/*/main_exp/*/summarization*"):
        path.unlink()

    with pytest.raises(ChecklistError, match=r"expected summarization.jsonl, or answers to its tasks in results"):
        import_suite(folder)


def test_another_missing_area_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ChecklistError, match=r"main_data: expected chat.jsonl"):
        import_suite(write_checkout(tmp_path, without=("chat",)))


def test_what_a_checkout_lacks_is_said(tmp_path: Path) -> None:
    suite = import_suite(write_checkout(tmp_path, without=("lengths", "weights", "prompts", "files")))

    assert len(suite.tasks) == N_TASKS
    assert not suite.has_weights
    assert suite.prompts == packaged_prompts("en")
    assert suite.checklists["chat", "rewrite"].questions == tuple(questions_of("rewrite"))
    assert [note.split(",")[0] for note in suite.notes] == [
        "the checkout has no data/length_constrained_data",
        "the checkout has no results/scripts/compute.py",
        "the checkout has no llm_judge.py",
    ]


def test_checklists_of_one_category_that_differ_are_an_error(tmp_path: Path) -> None:
    folder = write_checkout(tmp_path)
    path = folder / "data/main_data/chat.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[1]["checklists"] = ["Is it other?", "Is it?"]
    write_lines(path, rows)

    with pytest.raises(ChecklistError, match=r"chat.jsonl, line 2: another checklist than the other tasks of chat/rew"):
        import_suite(folder)


SCRIPTS = {
    "length": (
        "WEIGHT_DICT = {'rewrite': [1, 2, 3]}",
        "chat/rewrite: expected 2 weights, one for each question, not 3",
    ),
    "zero": ("WEIGHT_DICT = {'rewrite': [0, 1]}", r"\['rewrite'\]\[0\]: expected a weight above 0, not 0"),
    "unknown": ("WEIGHT_DICT = {'rewrites': [1, 1]}", "unknown category 'unknown area/rewrites'"),
    "computed": ("WEIGHT_DICT = dict(rewrite=[1, 2])", "WEIGHT_DICT: expected an object, not null"),
    "missing": ("OTHER = 1", "WEIGHT_DICT: expected an object, not null"),
    "syntax": ("WEIGHT_DICT = {", "no Python script that can be read: SyntaxError"),
    "deep": ("WEIGHT_DICT = " + "-" * 100_000 + "1", "no Python script that can be read"),
    "nul": ("WEIGHT_DICT = 1\0", "no Python script that can be read"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_with_other_weights_is_an_error_and_never_executed(tmp_path: Path, name: str) -> None:
    script, message = SCRIPTS[name]
    folder = write_checkout(tmp_path)
    (folder / "results/scripts/compute.py").write_text(script)

    with pytest.raises(ChecklistError, match=rf"compute.py.*{message}"):
        import_suite(folder)


def test_prompts_without_the_needed_text_are_an_error(tmp_path: Path) -> None:
    folder = write_checkout(tmp_path)
    (folder / "llm_judge.py").write_text("USER_PROMPT = open('x').read()")

    with pytest.raises(ChecklistError, match=r"llm_judge.py: expected a text with the name USER_PROMPT"):
        import_suite(folder)


def test_a_folder_of_something_else_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ChecklistError, match="no data of HelloBench; expected a checkout of its repository"):
        import_suite(tmp_path)


@pytest.mark.parametrize("category", FIRST_LINES)
def test_a_first_line_says_the_kind_of_document(category: str) -> None:
    assert summary_category(FIRST_LINES[category] + "\nthe following news") == category


@pytest.mark.parametrize(
    "instruction", ["", "Shorten it.\nthe following report", "This blog article, the following news"]
)
def test_a_first_line_that_says_none_or_two_has_no_category(instruction: str) -> None:
    assert summary_category(instruction) is None
