"""`pfgen-fast checklists import` and `info` as users type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers.checklist_folders import CHECKLISTS, TASKS, write_checkout, write_suite_files
from makers.hostile import NAMES, acting
from pfgen_fast.lab.checklists.checklist_runs import open_runs
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite


def test_a_checkout_becomes_a_suite_and_its_results_runs_without_bad_lines(tmp_path: Path, call) -> None:
    checkout = write_checkout(tmp_path / "checkout")

    code, out, err = call("checklists", "import", checkout, "-o", tmp_path / "suite")
    assert (code, err) == (0, "")
    assert out.startswith("hellobench (en): 20 tasks and 4 with a wanted length (2k, 16k), 5 areas, 10 categories: ")

    path = checkout / "results/judgements/main_exp/heron/chat_results.jsonl"
    with path.open("a") as file:
        file.write("{]\n")
    code, out, err = call("checklists", "import", checkout, "--suite", tmp_path / "suite", "-o", tmp_path / "runs")
    said = f"error: {path}, line 3, column 2: not JSON: Expecting property name enclosed in double quotes\n"
    assert (code, err) == (3, said)
    assert [line.partition(": /")[0] for line in out.splitlines()] == [
        "heron: 22 answers, 22 judgements",
        "stork: 22 answers, 22 judgements",
    ]
    suite = ChecklistSuite.load(tmp_path / "suite")
    assert [len(run.judgements(suite)) for run in open_runs([tmp_path / "runs"])] == [22, 22]


def test_tasks_that_no_judge_can_be_asked_about_are_named(tmp_path: Path, call) -> None:
    tasks = "".join(json.dumps({**task, "instruction": None}) + "\n" for task in TASKS)
    folder = write_suite_files(tmp_path, {"tasks.jsonl": tasks})

    _, _, err = call("checklists", "info", folder)

    assert err == (
        "note: 3 tasks cannot be shown to a judge, because the suite lacks a part of the instruction: "
        "thanks-1, fable-1, fable-1\n"
    )


def test_a_suite_is_shown_with_questions_and_weights_or_as_json(call) -> None:
    code, out, err = call("checklists", "info", "essays-en", "--questions")

    assert code == 0
    assert out.startswith("essays-en (en): 7 tasks and 1 with a wanted length (1k), 2 areas, 3 categories\n")
    assert "  how_things_work: 3 tasks, 5 questions, weights 30.0 20.0 15.0 15.0 20.0\n" in out
    assert "    5  20.00  Is the answer without any flaw" in out
    assert err == "note: the weights of essays-en are a guess, not fitted to anybody's marks\n"

    shown, suite = json.loads(call("checklists", "info", "essays-ja", "--json")[1]), ChecklistSuite.load("essays-ja")
    assert (shown["hash"], shown["areas"], shown["lengths"]) == (suite.hash, list(suite.areas), ["2k"])
    assert [(one["tasks"], one["weights"]) for one in shown["categories"]] == [(n, [20] * 5) for n in (3, 2, 2)]
    assert shown["not_whole"] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_are_harmless_in_the_terminal(tmp_path: Path, call, name: str) -> None:
    category = name.encode("utf-8", "replace").decode()
    folder = write_suite_files(
        tmp_path,
        {
            "tasks.jsonl": json.dumps({"id": category, "area": category, "category": category, "length": category}),
            "checklists.json": {category: {category: CHECKLISTS["letters"]["thanks"]}},
            "weights.json": {category: {category: [1, 1]}},
        },
        name=category,
        areas=[category],
        notes=[category],
    )

    for arguments in (("--questions",), ("--json",)):
        code, out, err = call("checklists", "info", folder, *arguments)

        assert code == 0
        assert not acting(out + err)


def test_questions_become_tasks_and_runs_on_them_checklist_runs(tmp_path: Path, varied: Path, call) -> None:
    output, other = tmp_path / "made", tmp_path / "other"
    other.mkdir()
    (other / "trials.jsonl").write_text('{"question": "another?", "answer": "a"}\n')
    options = ("--runs", varied, "--runs", other, "--trials", "2")

    code, out, err = call("checklists", "import", "mini", "-o", output, *options)

    assert code == 3
    assert "trials.jsonl, line 1: unknown question 'another?'" in err
    assert out.startswith("mini checklists (ja): 8 tasks, 1 area, 1 category, equal weights: ")
    runs = open_runs([output / "runs"])
    assert len(runs) == len(out.splitlines()) - 1
    for run in runs:
        assert len(run.answers(ChecklistSuite.load(output))) == 16


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("mini", "--judge", "j"), "--judge: expected with --suite"),
        (("HelloBench", "--trials", "2"), "--runs and --trials: expected with an n-gram suite"),
        (("mini", "--suite", "essays-en", "--runs", "x"), "--runs and --trials: expected with an n-gram suite"),
        (("missing",), "missing: no such folder"),
    ],
)
def test_options_of_other_sources_are_refused(tmp_path: Path, call, options: tuple[str, ...], said: str) -> None:
    code, _, err = call("checklists", "import", *options, "-o", tmp_path / "out")
    assert (code, err) == (2, err)
    assert err.startswith(f"error: {said}")
    assert not (tmp_path / "out").exists()
