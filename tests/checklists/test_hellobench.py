"""The suite of HelloBench: from its compact form, and from checkouts with other words in them."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from makers import checklist_data
from makers.hellobench_checkouts import (
    CATEGORIES,
    FIRST_LINES,
    change,
    instruction_of,
    questions_of,
    task_ids,
    write_checkout,
)
from pfgen_fast.checklists.importing.hellobench_suite import AREAS, import_suite, summary_category
from pfgen_fast.checklists.prompt_files import packaged_prompts
from pfgen_fast.checklists.suite import ChecklistSuite
from pfgen_fast.checklists.suite_writing import write_suite
from pfgen_fast.errors import ChecklistError

N_TASKS = sum(2 * len(categories) for categories in CATEGORIES.values())


@checklist_data.needs_hellobench
def test_the_compact_form_gives_the_published_suite(tmp_path):
    suite = import_suite(checklist_data.folder())
    counts = Counter(task.area for task in suite.tasks if task.length is None)
    assert [counts[area] for area in suite.areas] == [200, 100, 147, 77, 123]
    lengths = Counter((task.length, task.wanted_words) for task in suite.tasks)
    with_lengths = {(f"{n}k", 1000 * n): 123 for n in (2, 4, 8, 16)}
    assert lengths == {(None, None): 647, **with_lengths}
    assert len(suite.checklists) == 38
    n_questions = {(area, len(one.questions)) for (area, _), one in suite.checklists.items()}
    assert n_questions == {*zip(AREAS, (7, 6, 6, 5, 5), strict=True), ("summarization", 7)}
    assert (suite.has_weights, suite.notes) == (True, ())
    published = json.loads((checklist_data.folder() / "weights.json").read_text())
    for (area, category), checklist in suite.checklists.items():
        assert checklist.weights == pytest.approx(published[area][category], abs=1e-12)
    cut = Counter(task.area for task in suite.tasks if not task.is_whole)
    assert cut == {"summarization": 100, "text_completion": 77}
    summaries = [task for task in suite.tasks if task.area == "summarization"]
    assert [summary_category(task.instruction) for task in summaries] == [task.category for task in summaries]
    text = (checklist_data.folder() / "prompts" / "checklist.user.txt").read_text(encoding="utf-8")
    assert suite.prompts.user.text == text
    write_suite(suite, tmp_path)
    again = ChecklistSuite.load(tmp_path)
    assert (again.hash, again.prompts) == (suite.hash, suite.prompts)


def test_a_checkout_gives_the_suite(tmp_path):
    suite = import_suite(write_checkout(tmp_path))
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


def test_missing_tasks_of_summaries_follow_from_answers(tmp_path):
    suite = import_suite(write_checkout(tmp_path, without=("summarization",)))
    found = [(task.id, task.category) for task in suite.tasks if task.area == "summarization"]
    assert found == list(task_ids("summarization"))


def test_notes_name_the_missing_parts_of_a_checkout(tmp_path):
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


def weights(script):
    return lambda folder: (folder / "results/scripts/compute.py").write_text(script)


def rows(name, what):
    return lambda folder: change(folder / f"data/main_data/{name}.jsonl", what)


def without(pattern):
    return lambda folder: [path.unlink() for path in folder.glob(pattern)]


BAD = {
    "chat": (without("data/main_data/chat.jsonl"), "no data of HelloBench in data/main_data/chat.jsonl"),
    "summaries": (without("**/summarization*.jsonl"), "main_data/summarization.jsonl or results/generations/main_exp"),
    "checklists that differ": (
        rows("chat", lambda rows: rows[1].update(checklists=["Is it other?", "Is it?"])),
        "chat.jsonl, line 2: its checklist differs from that of the other tasks of chat/rew",
    ),
    "no checklist": (rows("chat", lambda rows: rows[0].update(category="x", checklists=None)), "line 1.* chat/x"),
    "no category": (rows("chat", lambda rows: rows[1].pop("category")), "line 2: has no 'category'"),
    "no instruction": (rows("chat", lambda rows: rows[1].pop("instruction")), "line 2: the key 'instruction' is miss"),
    "length": (weights("WEIGHT_DICT = {'rewrite': [1, 2, 3]}"), "chat/rewrite: expected 2 weights, .*not 3"),
    "unknown": (weights("WEIGHT_DICT = {'rewrites': [1, 1]}"), "unknown category 'unknown area/rewrites'"),
    "computed": (weights("WEIGHT_DICT = dict(rewrite=[1, 2])"), "WEIGHT_DICT: expected an object, not null"),
    "syntax": (weights("WEIGHT_DICT = {"), "compute.py: cannot be read as a Python script: SyntaxError"),
    "deep": (weights("WEIGHT_DICT = " + "-" * 100_000 + "1"), "cannot be read as a Python script"),
    "script too long": (weights("#" * (1 << 20) + "#"), "compute.py: holds more than 1 MiB"),
    "no prompt": (
        lambda folder: (folder / "llm_judge.py").write_text("USER_PROMPT = open('x').read()"),
        "llm_judge.py: expected a text with the name USER_PROMPT",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_checkout_is_one_sentence_and_its_scripts_are_never_executed(tmp_path, name):
    spoil, message = BAD[name]
    spoil(write_checkout(tmp_path))
    with pytest.raises(ChecklistError, match=message):
        import_suite(tmp_path)


def test_a_compact_form_without_tasks_is_an_error(tmp_path):
    (tmp_path / "checklists.json").write_text('{"chat": {"rewrite": ["Is it?"]}}')
    with pytest.raises(ChecklistError, match=r"expected tasks.jsonl, which may be compressed, next to checklists.json"):
        import_suite(tmp_path)


def test_a_first_line_says_the_kind_of_document_or_none_or_two():
    for category, line in FIRST_LINES.items():
        assert summary_category(f"{line}\nthe following news") == category
    for instruction in ("", "Shorten it.\nthe following report", "This blog article, the following news"):
        assert summary_category(instruction) is None
