"""Imports of HelloBench: its suite, answers and judgements."""

import json
import re
from collections import Counter
from dataclasses import replace

import pytest
from makers import published
from makers.checklist_folders import (
    CATEGORIES,
    FIRST_LINES,
    WEIGHTED,
    change,
    instruction_of,
    questions_of,
    result_lines,
    write_checkout,
    write_lines,
)
from makers.checklists_to_judge import entries
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.checklist_runs import REPLIES_FILE, open_runs
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite, write_suite
from pfgen_fast.lab.checklists.hellobench import AREAS, import_runs, import_suite, summary_category

N_TASKS = sum(2 * len(categories) for categories in CATEGORIES.values())


@published.needs_hellobench
def test_the_compact_form_gives_the_published_suite(tmp_path):
    suite = import_suite(published.HELLOBENCH)
    counts = Counter(task.area for task in suite.tasks if task.length is None)
    assert [counts[area] for area in suite.areas] == [200, 100, 147, 77, 123]
    lengths = Counter((task.length, task.wanted_words) for task in suite.tasks)
    with_lengths = {(f"{n}k", 1000 * n): 123 for n in (2, 4, 8, 16)}
    assert lengths == {(None, None): 647, **with_lengths}
    assert len(suite.checklists) == 38
    n_questions = {(area, len(item.questions)) for (area, _), item in suite.checklists.items()}
    assert n_questions == {*zip(AREAS, (7, 6, 6, 5, 5), strict=True), ("summarization", 7)}
    assert (suite.has_weights, suite.notes) == (True, ())
    weights = json.loads((published.HELLOBENCH / "weights.json").read_text())
    for (area, category), checklist in suite.checklists.items():
        assert checklist.weights == pytest.approx(weights[area][category], abs=1e-12)
    cut = Counter(task.area for task in suite.tasks if not task.is_whole)
    assert cut == {"summarization": 100, "text_completion": 77}
    summaries = [task for task in suite.tasks if task.area == "summarization"]
    assert [summary_category(task.instruction) for task in summaries] == [task.category for task in summaries]
    text = (published.HELLOBENCH / "prompts" / "checklist.user.txt").read_text(encoding="utf-8")
    assert suite.prompts.user == text
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
    assert suite.prompts.user.startswith('Asked: {{"instruction": {instruction}}}\n')
    assert suite.prompts.overall_with_checklist_user is not None
    assert suite.notes == ()


def weights(script):
    return lambda folder: (folder / "results/scripts/compute.py").write_text(script)


def rows(name, what):
    return lambda folder: change(folder / f"data/main_data/{name}.jsonl", what)


def without(pattern):
    return lambda folder: [path.unlink() for path in folder.glob(pattern)]


BAD = {
    "chat": (without("data/main_data/chat.jsonl"), "no data of HelloBench in data/main_data/chat.jsonl"),
    "summaries": (without("**/summarization*.jsonl"), "main_data/summarization.jsonl or results/generations/main_exp"),
    "no checklist": (
        rows("chat", lambda rows: rows[0].update(category="x", checklists=None)),
        "unknown category .chat/x",
    ),
    "no category": (rows("chat", lambda rows: rows[1].pop("category")), "line 2: has no 'category'"),
    "length": (weights("WEIGHT_DICT = {'rewrite': [1, 2, 3]}"), "chat/rewrite: expected 2 weights, .*not 3"),
    "deep": (weights("WEIGHT_DICT = " + "-" * 100_000 + "1"), "cannot be read as a Python script"),
    "no prompt": (
        lambda folder: (folder / "llm_judge.py").write_text("USER_PROMPT = open('x').read()"),
        "expected a text with the name USER",
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


def test_a_first_line_names_one_kind_of_document_or_none_or_two():
    for category, line in FIRST_LINES.items():
        assert summary_category(f"{line}\nthe following news") == category
    for instruction in ("", "Shorten it.\nthe following report", "This blog article, the following news"):
        assert summary_category(instruction) is None


N = N_TASKS + 2
FIRST = ("chat_000", None, 1)


@pytest.fixture
def checkout(tmp_path):
    return write_checkout(tmp_path / "checkout")


@pytest.fixture
def suite(checkout):
    return import_suite(checkout)


@pytest.fixture
def judged(checkout):
    """A file of judgements of one model."""
    return checkout / "results/judgements/main_exp/heron/chat_results.jsonl"


@pytest.fixture
def imported(tmp_path, suite):
    """Imports a directory; returns the outcome for each model, and the runs."""

    def imported(folder, output="runs"):
        by_name = {run.key: run for run in import_runs(folder, suite, tmp_path / output)}
        return by_name, {run.key: run for run in open_runs([tmp_path / output])} if (tmp_path / output).exists() else {}

    return imported


def test_a_checkout_gives_a_run_for_each_model(checkout, suite, imported):
    result, runs = imported(checkout)
    assert list(result) == list(runs) == ["heron", "stork"]
    for key, run in runs.items():
        answers, judgements = run.answers(suite), run.judgements(suite)
        assert len(answers) == len(judgements) == result[key].n_answers == result[key].n_judgements == N
        assert result[key].problems == ()
        for judgement in judgements:
            assert judgement.response_sha256 == answers[judgement.key].sha256
            assert judgement.judge == "gpt-4o"
            assert judgement.checklist_sha256 == suite.checklist(suite.by_key[judgement.id, judgement.length]).sha256
            assert judgement.reasons == tuple(f"reason {place}" for place in range(len(judgement.reasons)))
    for part in ("results", "results/judgements", "results/judgements/main_exp"):
        assert len(imported(checkout / part, part)[1]["stork"].judgements(suite)) == N


def test_the_judged_answer_is_kept_and_equal_judgements_are_one(checkout, judged, suite, imported):
    path = checkout / "results/generations/main_exp/heron/chat_results.jsonl"
    change(path, lambda rows: rows[0].update(response="generated again"))
    change(judged, lambda rows: rows.append(rows[0]))
    result, runs = imported(checkout)
    assert (result["heron"].problems, result["heron"].n_judgements) == ((), N)
    assert runs["heron"].answers(suite)[FIRST].response.startswith("heron answers chat_000")


@pytest.mark.parametrize("other", ["checklist_wise_evaluation", "response"])
def test_the_first_of_two_lines_that_differ_counts(checkout, judged, suite, imported, other):
    change(judged, lambda rows: rows.extend([{**rows[0], other: rows[1][other]}]))
    result, runs = imported(checkout)
    assert result["heron"].problems == (
        f"{judged}, line 3: another line about chat_000 came before; only that line counts",
    )
    assert runs["heron"].answers(suite)[FIRST].response.startswith("heron answers chat_000")
    assert len(runs["heron"].judgements(suite)) == N


BAD_LINES = {
    "no-level": (entries(1, 0.3), r"\[1\].evaluation_score: expected a level .*not 0.3"),
    "true": (entries(1, True), "expected a level .*, not true"),
    "huge": (entries(1, 10**400), "expected a level .*, not 1000"),
    "id": ([*entries(1), {"checklist_id": "a", "evaluation_score": 1}], "checklist_id: expected a number, not 'a'"),
    "task": ({"id": "chat_0000"}, "unknown task 'chat_0000'; expected one of chat_000"),
    "area": ({"id": "open_ended_qa_000", "checklist_wise_evaluation": entries(1, 1)}, "is of the area open_ended_qa"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_named_and_the_others_are_there(checkout, judged, suite, imported, name):
    changes, message = BAD_LINES[name]
    changes = changes if isinstance(changes, dict) else {"checklist_wise_evaluation": changes}
    change(judged, lambda rows: rows[1].update(changes))
    result, runs = imported(checkout)
    (problem,) = result["heron"].problems
    assert problem.startswith(f"{judged}, line 2: ")
    assert re.search(message, problem)
    assert len(runs["heron"].judgements(suite)) == N - 1
    assert result["stork"].problems == ()


@pytest.mark.parametrize(
    ("listed", "scores", "fault"),
    [(entries(0.2500000000001, 1)[::-1], (0.25, 1.0), None), ([], None, "number")],
    ids=["levels up to rounding in any order", "three failed tries are unjudged, not missing"],
)
def test_unusual_verdicts_are_read(checkout, judged, suite, imported, listed, scores, fault):
    change(judged, lambda rows: rows[0].update(checklist_wise_evaluation=listed))
    judgements = imported(checkout)[1]["heron"].judgements(suite)
    (first,) = [judgement for judgement in judgements if judgement.key == FIRST]
    assert (first.verdicts, first.fault) == (scores, fault)


def test_a_file_of_an_unknown_area_is_named(checkout, imported):
    path = checkout / f"results/judgements/main_exp/heron/{WEIGHTED}_3k_results.jsonl"
    write_lines(path, result_lines(WEIGHTED, "heron", judged=True))
    (problem,) = imported(checkout)[0]["heron"].problems
    assert problem.startswith(f"{path}: expected the name of an area of the suite (open_ended_qa, ")


def test_replies_of_a_judge_are_never_parted_from_their_judgements(tmp_path, checkout, imported):
    (tmp_path / "runs/heron").mkdir(parents=True)
    (tmp_path / "runs/heron" / REPLIES_FILE).write_text("")
    result, _ = imported(checkout)
    assert "holds replies of a judge" in result["heron"].problems[0]
    assert not (tmp_path / "runs/heron/judgements.jsonl").exists()


@published.needs_hellobench
def test_the_published_files_give_the_published_judgements(tmp_path):
    suite, source = import_suite(published.HELLOBENCH), published.HELLOBENCH
    list(import_runs(source / "upstream", suite, tmp_path / "published"))
    (here,), (known,) = open_runs([tmp_path / "published"]), open_runs([source / "judgements/yi_large.jsonl.xz"])
    judgements, result = {item.key: item for item in known.judgements(suite)}, here.judgements(suite)
    assert len(result) == 145 + 123
    for judgement in result:
        same = {name: getattr(judgement, name) for name in ("judge", "checklist_sha256")}
        assert judgement == replace(judgements[judgement.key], words=None, most_repeated_sentence=None, **same)
    (answers,) = open_runs([source / "generations/yi_large.jsonl.xz"])
    assert here.answers(suite).items() <= answers.answers(suite).items()
