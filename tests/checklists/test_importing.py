"""Answers and judgements of HelloBench become runs, wherever they lie and however they are packed."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from makers import checklist_data
from makers.hellobench_checkouts import CATEGORIES, WEIGHTED, result_lines, write_checkout, write_lines
from pfgen_fast.checklists import ChecklistSuite, Run, open_runs
from pfgen_fast.checklists.importing.hellobench_results import Imported, import_runs
from pfgen_fast.checklists.importing.hellobench_suite import import_suite
from pfgen_fast.checklists.runs import REPLIES_FILE
from pfgen_fast.errors import ChecklistError

N_MAIN = sum(2 * len(categories) for categories in CATEGORIES.values())


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return write_checkout(tmp_path / "checkout")


@pytest.fixture
def suite(checkout: Path) -> ChecklistSuite:
    return import_suite(checkout)


def imported(folder: Path, suite: ChecklistSuite, output: Path) -> tuple[dict[str, Imported], dict[str, Run]]:
    found = {one.key: one for one in import_runs(folder, suite, output)}
    runs = {run.key: run for run in open_runs([output])} if output.exists() else {}
    return found, runs


def change(path: Path, what: Callable[[list[dict[str, Any]]], object]) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    what(rows)
    write_lines(path, rows)


def test_a_checkout_gives_a_run_for_each_model(tmp_path: Path, checkout: Path, suite: ChecklistSuite) -> None:
    found, runs = imported(checkout, suite, tmp_path / "runs")

    assert list(found) == list(runs) == ["heron", "stork"]
    for key, run in runs.items():
        answers, judgements = run.answers(suite), run.judgements(suite)
        assert len(answers) == len(judgements) == N_MAIN + 2
        assert (found[key].n_answers, found[key].n_judgements) == (N_MAIN + 2, N_MAIN + 2)
        assert found[key].problems == found[key].notes == ()
        for judgement in judgements:
            assert judgement.response_sha256 == answers[judgement.key].sha256
            assert judgement.judge == "gpt-4o"
            assert judgement.checklist_sha256 == suite.checklist(suite.by_key[judgement.id, judgement.length]).sha256
            assert judgement.reasons == tuple(f"so {place}" for place in range(len(judgement.reasons)))


@pytest.mark.parametrize("part", ["results", "results/judgements", "results/judgements/main_exp"])
def test_a_folder_within_a_checkout_does_too(tmp_path: Path, checkout: Path, suite: ChecklistSuite, part: str) -> None:
    _, runs = imported(checkout / part, suite, tmp_path / "runs")

    assert len(runs["stork"].judgements(suite)) == N_MAIN + 2


@pytest.mark.parametrize("ending", [".jsonl.xz", ".jsonl.gz"])
def test_files_may_be_packed(tmp_path: Path, checkout: Path, suite: ChecklistSuite, ending: str) -> None:
    _, plain = imported(checkout, suite, tmp_path / "plain")
    packed_checkout = write_checkout(tmp_path / "packed-checkout", ending=ending)
    _, packed = imported(packed_checkout, suite, tmp_path / "packed")

    for key in plain:
        assert packed[key].judgements(suite) == plain[key].judgements(suite)
        assert packed[key].answers(suite) == plain[key].answers(suite)


def test_lines_in_another_order_give_the_same_files(tmp_path: Path, checkout: Path, suite: ChecklistSuite) -> None:
    imported(checkout, suite, tmp_path / "a")
    for path in checkout.glob("results/*/*/*/*.jsonl"):
        change(path, lambda rows: rows.reverse())
    imported(checkout, suite, tmp_path / "b")

    for path in sorted((tmp_path / "a").rglob("*.jsonl")):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_answers_without_judgements_are_imported(tmp_path: Path, checkout: Path, suite: ChecklistSuite) -> None:
    shutil.rmtree(checkout / "results/judgements")

    _, runs = imported(checkout, suite, tmp_path / "runs")

    assert len(runs["heron"].answers(suite)) == N_MAIN
    assert runs["heron"].judgements(suite) == []


def test_the_answer_that_was_judged_is_kept_and_that_is_said(
    tmp_path: Path, checkout: Path, suite: ChecklistSuite
) -> None:
    path = checkout / "results/generations/main_exp/heron/chat_results.jsonl"
    change(path, lambda rows: rows[0].update(response="generated anew"))

    found, runs = imported(checkout, suite, tmp_path / "runs")

    assert found["heron"].notes == ("heron: 1 answers differ from those that were judged, and the judged were kept",)
    assert runs["heron"].answers(suite)["chat_000", None, 1].response.startswith("heron answers chat_000")


def test_equal_judgements_of_one_answer_are_one(tmp_path: Path, checkout: Path, suite: ChecklistSuite) -> None:
    path = checkout / "results/judgements/main_exp/heron/chat_results.jsonl"
    change(path, lambda rows: rows.append(rows[0]))

    found, _ = imported(checkout, suite, tmp_path / "runs")

    assert (found["heron"].problems, found["heron"].n_judgements) == ((), N_MAIN + 2)


def test_two_judgements_of_one_answer_stop_this_model_only(
    tmp_path: Path, checkout: Path, suite: ChecklistSuite
) -> None:
    path = checkout / "results/judgements/main_exp/heron/chat_results.jsonl"
    change(
        path, lambda rows: rows.append({**rows[0], "checklist_wise_evaluation": rows[1]["checklist_wise_evaluation"]})
    )

    found, runs = imported(checkout, suite, tmp_path / "runs")

    assert list(runs) == ["stork"]
    assert found["heron"].folder is None
    (problem,) = found["heron"].problems
    assert problem == f"{path}, line 3: another judgement of the answer to chat_000 came before; expected one"


def verdicts(*scores: Any) -> list[dict[str, Any]]:
    return [{"checklist_id": n, "reason": "r", "evaluation_score": score} for n, score in enumerate(scores)]


BAD_LINES: dict[str, tuple[dict[str, Any], str]] = {
    "no-level": (
        {"checklist_wise_evaluation": verdicts(1, 0.3)},
        r"\[1\].evaluation_score: expected a level .*not 0.3",
    ),
    "above": ({"checklist_wise_evaluation": verdicts(1, 2)}, "expected a level .*, not 2"),
    "text": ({"checklist_wise_evaluation": verdicts(1, "good")}, "expected a level .*, not 'good'"),
    "true": ({"checklist_wise_evaluation": verdicts(1, True)}, "expected a level .*, not true"),
    "nan": ({"checklist_wise_evaluation": verdicts(1, float("nan"))}, "expected a level .*, not NaN"),
    "too-few": ({"checklist_wise_evaluation": verdicts(1)}, "expected 2 verdicts, one for each question, not 1"),
    "too-many": ({"checklist_wise_evaluation": verdicts(1, 1, 1)}, "expected 2 verdicts, .* not 3"),
    "twice": (
        {"checklist_wise_evaluation": [*verdicts(1), *verdicts(1)]},
        r"\[1\].checklist_id: expected each question from 0 to 1 once, not 0",
    ),
    "id-text": (
        {"checklist_wise_evaluation": [*verdicts(1), {"checklist_id": "a", "evaluation_score": 1}]},
        "expected a whole number, not 'a'",
    ),
    "no-list": ({"checklist_wise_evaluation": "none"}, "checklist_wise_evaluation: expected a list, not 'none'"),
    "task": ({"id": "chat_0000"}, "unknown task 'chat_0000'; expected one of chat_000"),
    "area": ({"id": "open_ended_qa_000", "checklist_wise_evaluation": verdicts(1, 1)}, "is of the area open_ended_qa"),
    "response": ({"response": None}, "response: expected a string, not null"),
    "surrogate": ({"response": "\ud800"}, "response: a lone surrogate"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_named_and_the_others_are_there(
    tmp_path: Path, checkout: Path, suite: ChecklistSuite, name: str
) -> None:
    path = checkout / "results/judgements/main_exp/heron/chat_results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[1] |= BAD_LINES[name][0]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    found, runs = imported(checkout, suite, tmp_path / "runs")

    (problem,) = found["heron"].problems
    assert problem.startswith(f"{path}, line 2: ")
    with pytest.raises(ChecklistError, match=BAD_LINES[name][1]):
        raise ChecklistError(problem)
    assert len(runs["heron"].judgements(suite)) == N_MAIN + 1
    assert found["stork"].problems == ()


def test_levels_up_to_rounding_are_levels_and_order_means_nothing(
    tmp_path: Path, checkout: Path, suite: ChecklistSuite
) -> None:
    path = checkout / "results/judgements/main_exp/heron/chat_results.jsonl"
    listed = verdicts(0.2500000000001, 1)[::-1]
    change(path, lambda rows: rows[0].update(checklist_wise_evaluation=listed))

    _, runs = imported(checkout, suite, tmp_path / "runs")

    by_key = {judgement.key: judgement for judgement in runs["heron"].judgements(suite)}
    assert by_key["chat_000", None, 1].scores == (0.25, 1.0)


def test_three_failed_tries_are_unjudged_and_not_missing(tmp_path: Path, checkout: Path, suite: ChecklistSuite) -> None:
    path = checkout / "results/judgements/main_exp/heron/chat_results.jsonl"
    change(path, lambda rows: rows[0].update(checklist_wise_evaluation=[]))

    _, runs = imported(checkout, suite, tmp_path / "runs")

    by_key = {judgement.key: judgement for judgement in runs["heron"].judgements(suite)}
    assert (by_key["chat_000", None, 1].scores, by_key["chat_000", None, 1].fault) == (None, "number")


def test_a_file_of_an_unknown_area_is_named(tmp_path: Path, checkout: Path, suite: ChecklistSuite) -> None:
    path = checkout / f"results/judgements/main_exp/heron/{WEIGHTED}_3k_results.jsonl"
    write_lines(path, result_lines(WEIGHTED, "heron", judged=True))

    found, _ = imported(checkout, suite, tmp_path / "runs")

    (problem,) = found["heron"].problems
    assert problem.startswith(f"{path}: its name is no area of the suite (open_ended_qa, ")


def test_replies_of_a_judge_are_never_parted_from_their_judgements(
    tmp_path: Path, checkout: Path, suite: ChecklistSuite
) -> None:
    (tmp_path / "runs/heron").mkdir(parents=True)
    (tmp_path / "runs/heron" / REPLIES_FILE).write_text("")

    found, _ = imported(checkout, suite, tmp_path / "runs")

    assert "holds replies of a judge" in found["heron"].problems[0]
    assert not (tmp_path / "runs/heron/judgements.jsonl").exists()


def test_a_folder_without_results_says_what_is_expected(tmp_path: Path, suite: ChecklistSuite) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(ChecklistError, match="no answers or judgements of HelloBench; expected results/judgements/EXP"):
        list(import_runs(tmp_path / "empty", suite, tmp_path / "runs"))


def test_a_table_of_models_names_them(tmp_path: Path, checkout: Path, suite: ChecklistSuite) -> None:
    _, runs = imported(checkout, suite, tmp_path / "runs")
    folder = tmp_path / "compact"
    for kind, name in (("judgements", "judgements"), ("generations", "answers")):
        (folder / kind).mkdir(parents=True)
        shutil.copy(runs["heron"].folder / f"{name}.jsonl", folder / kind / "heron.jsonl")
    (folder / "models.csv").write_text(
        "key,name,group,version,max_new_tokens,temperature\nheron,Heron,open,org/heron-1,2048,0.8\n"
    )

    _, compact = imported(folder, suite, tmp_path / "again")

    assert compact["heron"].config == {
        "model": "org/heron-1",
        "name": "Heron",
        "group": "open",
        "max_tokens": 2048,
        "temperature": 0.8,
    }
    assert compact["heron"].judgements(suite) == runs["heron"].judgements(suite)
    assert compact["heron"].answers(suite) == runs["heron"].answers(suite)


def test_a_folder_of_compact_judgements_alone_is_enough(tmp_path: Path, checkout: Path, suite: ChecklistSuite) -> None:
    _, runs = imported(checkout, suite, tmp_path / "runs")
    (tmp_path / "compact").mkdir()
    shutil.copy(runs["heron"].judgements_path or "", tmp_path / "compact/heron.jsonl")

    _, again = imported(tmp_path / "compact", suite, tmp_path / "again")

    assert again["heron"].judgements(suite) == runs["heron"].judgements(suite)


@checklist_data.needs_hellobench
def test_the_published_files_give_what_the_compact_ones_hold(tmp_path: Path) -> None:
    suite = import_suite(checklist_data.folder())
    compact = tmp_path / "compact"
    for kind in ("judgements", "generations"):
        (compact / kind).mkdir(parents=True)
        shutil.copy(checklist_data.folder() / kind / "yi_large.jsonl.xz", compact / kind)

    _, ours = imported(compact, suite, tmp_path / "ours")
    _, published = imported(checklist_data.folder() / "upstream", suite, tmp_path / "published")

    judgements = {judgement.key: judgement for judgement in ours["yi_large"].judgements(suite)}
    found = published["yi_large"].judgements(suite)
    assert len(found) == 145 + 123
    for judgement in found:
        known = dataclasses.replace(judgements[judgement.key], words=None, most_repeated_sentence=None)
        assert judgement == known
    answers = ours["yi_large"].answers(suite)
    for key, answer in published["yi_large"].answers(suite).items():
        assert answer == answers[key]
