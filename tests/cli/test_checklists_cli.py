"""`pfgen-fast checklists import` and `info` as users type them."""

import json
import re
from pathlib import Path

import pytest
from makers.checklist_folders import CHECKLISTS, TASKS, write_checkout, write_suite_files
from makers.hostile import NAMES, acting
from makers.own_checklists import run_of, suite_of_essays, written
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite
from pfgen_fast.lab.checklists.judgements import Judgement


def test_a_checkout_becomes_a_suite_and_its_results_runs_without_bad_lines(tmp_path: Path, call) -> None:
    checkout = write_checkout(tmp_path / "checkout")

    code, out, err = call("checklists", "import", checkout, "-o", tmp_path / "suite")
    assert (code, err) == (0, "")
    assert out.startswith("hellobench (en): 20 tasks and 4 with a wanted length (2k, 16k), 5 areas, 10 categories: ")

    path = checkout / "results/judgements/main_exp/heron/chat_results.jsonl"
    with path.open("a") as file:
        file.write("{]\n")
    code, out, err = call("checklists", "import", checkout, "--suite", tmp_path / "suite", "-o", tmp_path / "runs")
    label = f"warning: {path}, line 3, column 2: not JSON: Expecting property name enclosed in double quotes\n"
    assert (code, err) == (3, label)
    assert [line.partition(": /")[0] for line in out.splitlines()] == [
        "heron: 22 answers, 22 judgements",
        "stork: 22 answers, 22 judgements",
    ]
    suite = ChecklistSuite.load(tmp_path / "suite")
    assert [len(run.judgements(suite)) for run in open_runs([tmp_path / "runs"])] == [22, 22]


def test_rank_ranges_are_explained_only_beside_other_models(tmp_path: Path, call) -> None:
    checkout, suite, runs = write_checkout(tmp_path / "checkout"), tmp_path / "suite", tmp_path / "runs"
    call("checklists", "import", checkout, "-o", suite)
    call("checklists", "import", checkout, "--suite", suite, "-o", runs)
    for folder, is_explained in ((runs, True), (runs / "stork", False)):
        code, out, _ = call("checklists", "table", folder, "--suite", suite)
        assert (code, "95 % interval: over tasks" in out, "rank range: the ranks" in out) == (0, True, is_explained)


def test_tasks_that_no_judge_can_be_asked_about_are_named(tmp_path: Path, call) -> None:
    tasks = "".join(json.dumps({**task, "instruction": None}) + "\n" for task in TASKS)
    folder = write_suite_files(tmp_path, {"tasks.jsonl": tasks})

    _, _, err = call("checklists", "info", folder)

    assert err == (
        "note: 3 tasks cannot be shown to a judge, because the suite lacks a part of the instruction: "
        "thanks-1, fable-1, fable-1\n"
    )


def test_a_suite_is_shown_with_questions_and_weights(call) -> None:
    code, out, err = call("checklists", "info", "essays-en")

    assert code == 0
    assert out.startswith("essays-en (en): 7 tasks and 1 with a wanted length (1k), 2 areas, 3 categories\n")
    assert re.search(r"^explanations +5 +\d+\.\d +54\.4 ", out, re.MULTILINE)  # the lengths of instructions
    assert "\nexplanations/how_things_work: 3 tasks\n  30.00  " in out
    assert "  20.00  Is the answer without any flaw" in out
    assert err == "note: the weights of essays-en are a guess, not fitted to anybody's marks\n"


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

    code, out, err = call("checklists", "info", folder)
    assert (code, acting(out + err)) == (0, set())


def test_a_missing_checkout_is_one_sentence(tmp_path: Path, refused) -> None:
    assert refused("checklists", "import", "missing", "-o", tmp_path / "out") == "error: missing: no such folder\n"
    assert not (tmp_path / "out").exists()


# ---- `checklists metrics` and `errors` as users type them: tables, JSON, files, hostile text, and bad input


HEADS = ["model", "answers", "repetition", "rejection", "cut", "off", "filtered", "empty"]
ICE = "Ice floats on water because it is lighter."


@pytest.fixture
def at_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(suite_of_essays(), tmp_path / "suite")
    run_of(
        tmp_path / "runs" / "one",
        Answer("sea", f"{ICE} {ICE} {ICE}"),
        Answer("ice", "I'm sorry, but I cannot write that."),
        Answer("fog", "And then the fog"),
        Answer("fog", "Fog. Words: 20", length="short"),
    )
    run_of(tmp_path / "runs" / "two", Answer("sea", "The sea is wide and the sea is deep."))
    return tmp_path


def test_errors_of_models_in_percent_or_as_counts_in_json(at_work, call, printed):
    out = printed("checklists", "errors", "runs", "--suite", "suite")
    lines = out.splitlines()
    assert lines[1].split() == HEADS
    rows = [" ".join(line.split()) for line in lines]
    assert rows[2] == "one 3 33.3 33.3 – 0.0 0.0"
    assert "one I'm sorry, but 33.3" in rows
    assert "one, short 5.0 15.0 15.0 0.0" in rows
    code, out, _ = call("checklists", "errors", "runs", "-s", "suite", "--json")
    parsed = json.loads(out)
    assert code == 0
    assert [row["model"] for row in parsed["rows"]] == ["one", "two"]
    assert parsed["rows"][0]["total"]["rejection"] == {"count": 1, "n": 3, "percent": 100 / 3}


def test_each_answer_is_a_row_of_a_file(at_work, printed):
    from pfgen_fast.tables.formats import table_rows

    path = at_work / "answers.csv"
    printed("checklists", "metrics", "runs", "-s", "suite", "-q", "-o", str(path))
    rows = [row for _, row in table_rows(path)]
    keys = [(row["model"], row["id"], row["length"] or None, int(row["trial"])) for row in rows]
    expected = [("one", "sea", None, 1), ("one", "ice", None, 1), ("one", "fog", None, 1)]
    assert keys == [*expected, ("one", "fog", "short", 1), ("two", "sea", None, 1)]
    assert float(rows[4]["bleu_4"]) == 1.0
    assert rows[3]["rouge_l"] in (None, "")  # the task has no reference


def test_metrics_of_models_as_a_table_or_as_shares_in_json(at_work, call):
    code, out, err = call("checklists", "metrics", "runs", "--suite", "suite", "--areas")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "Means in %, except Distinct and perplexity (ppl)"
    heads = "model answers words repetition_4 distinct_4 bleu_4 rouge_l meteor (no synonyms)"
    assert " ".join(lines[1].split()) == heads
    two = next(line for line in lines if line.startswith("two  ")).split()
    assert two[1:3] == ["1", "10"]
    assert two[5:7] == ["100.00", "100.00"]
    assert any(line.startswith("one, letters  ") for line in lines)
    assert "meteor without WordNet: words match if they or their stems are equal" in err
    line = ("metrics", "runs/two", "-s", "suite", "--json")
    code, out, _ = call("checklists", *line)
    parsed = json.loads(out)
    assert code == 0
    total = parsed["rows"][0]["total"]
    assert (total["n"], total["words"], total["distinct_4"]) == (1, 10.0, {"mean": 1.0, "n": 1})
    assert parsed["signature"].startswith("metrics:repetition_4,distinct_4,bleu_4,rouge_l,meteor (no synonyms)|tokens:")


def test_a_run_with_judgements_only_is_named_and_the_others_are_done(at_work, call):
    judged = [Judgement("sea", "0" * 64, (1.0, 1.0), words=12)]
    run_of(at_work / "runs" / "judged", judgements=judged)
    code, out, err = call("checklists", "metrics", "runs", "-s", "suite")
    assert code == 0
    alone, _, err = call("checklists", "metrics", "runs/judged", "-s", "suite")
    assert alone == 2
    assert "judged: has no answers" in err
    assert sum(line.startswith(("one  ", "two  ", "one, short  ")) for line in out.splitlines()) == 3
    assert call("checklists", "errors", "runs", "-s", "suite")[0] == 0


def test_names_that_attack_a_terminal_are_harmless(at_work, call):
    run_of(at_work / "hostile" / "\x1b[31mred", Answer("sea", f"{ICE} " * 3))
    code, out, err = call("checklists", "errors", "hostile", "-s", "suite")
    assert code == 0, err
    assert not acting(out + err)
