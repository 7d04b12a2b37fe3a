"""Methods of scoring answers side by side, and win rates by scores and by people."""

import csv
import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from makers.own_checklists import judged_models, own_suite, suite_of_36, write_judged, written
from makers.people import write_rows
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.annotations.annotation_rows import Header, export_lines
from pfgen_fast.lab.checklists.checklist_runs import Answer, open_runs, write_run
from pfgen_fast.lab.checklists.checklist_scoring import score_judged_runs
from pfgen_fast.lab.checklists.judgements import Judgement
from pfgen_fast.lab.checklists.method_correlation import (
    Values,
    checklist_values,
    correlate,
    correlated,
    metric_values,
    people_values,
)
from pfgen_fast.lab.checklists.tasks import sha256_of
from pfgen_fast.lab.checklists.wins import ComparedAnswers, win_rates

SUITE = suite_of_36(weights=(55.0, 25.0, 15.0, 5.0))
FIRST = judged_models(SUITE)


@pytest.fixture
def runs(tmp_path):
    return open_runs([write_judged(tmp_path / "runs", FIRST)])


def metrics_file(path, values):
    """A table of a metric; `values` says its value of a model's judgement."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["model", "id", "length", "trial", "quality"])
        for model, listed in FIRST.items():
            for entry in listed:
                value = values(model, entry)
                table.writerow([model, entry.id, "", 1, "" if value is None else value])
    return path


def score(item):
    return sum(weight * verdict for weight, verdict in zip((55, 25, 15, 5), item.verdicts, strict=True))


def test_a_metric_that_is_the_score_correlates_fully_over_the_answers_that_every_method_has(runs, tmp_path):
    values = checklist_values(SUITE, runs)
    metric = metric_values(metrics_file(tmp_path / "m.csv", lambda _, answer: score(answer)), SUITE)
    result = correlated(Values(SUITE, {**values.methods, **metric}), draws=20)
    assert result.names == ("checklist", "avg-c", "quality")
    item = result.over_answers(*(result.columns[name] for name in ("checklist", "quality")), np.arange(144))
    assert (item.n, item.value.cells) == (144, (1, None, None))
    assert 0 < item.p < 1e-200
    assert result.over_models("checklist", "quality").value.cells == (1, None, None)
    assert "quality goes best with checklist: Spearman 1.000" in correlate(result).answer
    some = metrics_file(tmp_path / "m.csv", lambda model, answer: None if answer.id.startswith("fable") else 1.0)
    result = correlated(Values(SUITE, {**values.methods, **metric_values(some, SUITE)}), draws=10)
    assert len(result.places) == 4 * 24


def test_intervals_draw_whole_tasks(runs, tmp_path):
    """A metric that knows the task only is as sure as the tasks are many, not the answers."""
    draw = random.Random(2)
    task_values = {task.id: draw.random() for task in SUITE.tasks}
    values = checklist_values(SUITE, runs)
    by_task = metric_values(metrics_file(tmp_path / "m.csv", lambda _, answer: task_values[answer.id]), SUITE)
    result = correlated(Values(SUITE, {**values.methods, **by_task}), draws=300)
    item = result.over_answers(result.columns["checklist"], result.columns["quality"], np.arange(144))
    assert item.value.low < item.value.value < item.value.high
    assert item.value.low < 0


def test_the_means_of_models_are_one_table_with_p_values_in_scientific_notation(runs, tmp_path):
    metric = metric_values(metrics_file(tmp_path / "m.csv", lambda model, _: len(model)), SUITE)
    result = correlate(correlated(Values(SUITE, {**checklist_values(SUITE, runs).methods, **metric}), draws=10))
    means = result.tables[-1]
    assert [column.name for column in means.columns] == ["model", "answers", "checklist", "avg-c", "quality"]
    averages = {model.model: model.average for model in score_judged_runs(SUITE, runs).models}
    for model, n, scored, plain, quality in means.rows:
        average = averages[model]
        assert (n, quality) == (36, len(model))
        assert (scored, plain) == pytest.approx((average.rescaled, average.rescaled_plain))
    assert re.search(r"\de[+-]\d\d$", result.tables[0].to_text().splitlines()[1])


def test_lonely_methods_are_refused(runs):
    values = checklist_values(SUITE, runs)
    with pytest.raises(ChecklistError, match="a correlation needs two methods"):
        correlated(Values(SUITE, {"checklist": values.methods["checklist"]}))
    apart = {"a": {("m", ("x", None, 1)): 1.0}, "b": {("m", ("y", None, 1)): 1.0}}
    with pytest.raises(ChecklistError, match=r"no answer has a value by every method \(a 1, b 1\)"):
        correlated(Values(SUITE, apart))


def test_overall_ratings_are_methods_and_equal_weights_only_where_they_differ(tmp_path):
    rows = {
        model: [*own, *(replace(row, method="llm-eval", verdicts=(7.0,)) for row in own)]
        for model, own in FIRST.items()
    }
    runs = open_runs([write_judged(tmp_path / "runs", rows)])
    values = checklist_values(SUITE, runs)
    assert set(values.methods) == {"checklist", "avg-c", "llm-eval"}
    assert values.methods["llm-eval"]["alpha", ("fable-000", None, 1)] == 7
    assert set(checklist_values(suite_of_36(), runs).methods) == {"checklist", "llm-eval"}


def test_peoples_marks_are_joined_by_the_hash_of_the_answer(runs, tmp_path):
    path = tmp_path / "marks.jsonl"
    lines = []
    for listed in FIRST.values():
        for entry in listed[:6]:
            for annotator, more in (("ann", 0), ("bob", 1)):
                line = {"id": entry.id, "response_sha256": entry.response_sha256, "annotator": annotator}
                lines.append({**line, "verdicts": entry.verdicts, "overall": min(10, round(score(entry) / 12) + more)})
    lines.append({**lines[0], "response_sha256": "0" * 64})
    result, notes = people_values([write_rows(path, lines)], SUITE, runs)
    assert len(result) == 24
    first = FIRST["alpha"][0]
    assert result["alpha", first.key] == sum(line["overall"] for line in lines[:2]) / 2
    assert notes == ()
    with pytest.raises(ChecklistError, match="none of the 1 marked answers"):
        people_values([write_rows(path, lines[-1:])], SUITE, runs)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("model,id,m\nalpha,fable-000,x\n", r"line 2, m: expected a number, not 'x'"),
        ("model,id,m\nalpha,nothing,1\n", r"line 2: .*nothing"),
        ("id,m\nfable-000,1\n", r"line 2: expected columns model and id"),
        ("model,id\nalpha,fable-000\n", r"no metrics: expected columns of numbers"),
    ],
)
def test_bad_tables_of_metrics_are_named(tmp_path, content, message):
    path = tmp_path / "m.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ChecklistError, match=message):
        metric_values(path, SUITE)


def test_the_command_reads_metrics(runs, tmp_path, call):
    suite = written(SUITE, tmp_path / "suite")
    metrics = metrics_file(tmp_path / "m.csv", lambda model, answer: len(model) + answer.words)
    command = ("checklists", "correlate", tmp_path / "runs", "--suite", suite)
    code, printed, _ = call(*command, "--metrics", metrics, "--json")
    assert code == 0
    tables = json.loads(printed)["tables"]
    assert {row["method"] for row in tables["answers"]} == {"avg-c", "quality"}
    assert {row["part"] for row in tables["answers"]} == {"all", "letters", "stories"}
    code, printed, _ = call(*command, "--metrics", metrics, "--area", "stories", "--json")
    of_area = score_judged_runs(SUITE, runs).models[0].areas["stories"]
    first = json.loads(printed)["tables"]["means"][0]
    assert (code, first["answers"]) == (0, 12)
    assert first["checklist"] == pytest.approx(of_area.rescaled)
    assert "unknown area 'x'" in call(*command, "--metrics", metrics, "--area", "x")[2]


# ---- `checklists wins`: by scores and by people

OWN = own_suite()
TASKS = [task for task in OWN.tasks if task.length is None]
VERDICTS = {"good": (1.0, 0.5, 0.75, 1.0, 0.5), "fair": (0.5, 0.5, 0.5, 0.5, 0.75), "poor": (0.0, 0.5, 0.25, 0.0, 0.25)}
"""The verdicts on all questions of each task. Good wins, ties, wins, wins, and loses against fair."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(OWN, tmp_path / "suite")
    for model, levels in VERDICTS.items():
        answers = [Answer(task.id, f"{model} answers {task.id}") for task in TASKS]
        judgements = [
            Judgement(task.id, answer.sha256, (level,) * OWN.n_questions[task.key], judge="j")
            for task, answer, level in zip(TASKS, answers, levels, strict=True)
        ]
        write_run(tmp_path / "runs" / model, answers, judgements, {})
    return tmp_path


def tables(call: Any, folder: Path, *options: Any) -> Any:
    command = ("checklists", "wins", folder / "runs", "--suite", folder / "suite", "--json")
    code, printed, err = call(*command, *options)
    assert (code, err) == (0, "")
    return json.loads(printed)["tables"]


def test_a_tie_is_half_a_win(call: Any, folder: Path) -> None:
    rows = tables(call, folder, "--reference", "fair")["rates"]
    good = next(row for row in rows if row["model"] == "good")
    assert (good["against"], good["by"], good["ties"]) == ("fair", "judge", 1)
    assert good["win rate"] == pytest.approx(70)
    assert good["low"] < 70 < good["high"]


def test_all_pairs_are_complements(call: Any, folder: Path) -> None:
    rates = {(row["model"], row["against"]): row["win rate"] for row in tables(call, folder)["rates"]}
    assert len(rates) == 6
    assert all(rates[pair] + rates[pair[::-1]] == pytest.approx(100) for pair in rates)


def test_the_interval_of_a_pair_is_from_its_own_tasks() -> None:
    task_signs = [(("a", "b"), 200, (1, -1)), (("a", "c"), 6, (1,)), (("b", "c"), 6, (1,))]
    comparisons = [
        ComparedAnswers((f"t{task}", None), models, signs[task % len(signs)])
        for models, n, signs in task_signs
        for task in range(n)
    ]
    rates = {(row.model, row.against): row.rate.cells for row in win_rates("people", comparisons)}
    assert rates["b", "c"] == pytest.approx((100, 47.6, 100), abs=0.1)


def test_choices_of_people_are_shown_beside_the_judge(call: Any, folder: Path) -> None:
    rows = []
    for task, choice in zip(TASKS, ("second", "second", "first", "tie", "second"), strict=True):
        first, second = (sha256_of(f"{model} answers {task.id}") for model in ("poor", "good"))
        pair = {"first_sha256": first, "second_sha256": second, "choice": choice}
        rows.append({"kind": "pair", "id": task.id, "length": None, **pair})
    other = {**rows[0], "first_sha256": "of no run"}
    (folder / "a.jsonl").write_bytes(export_lines(Header("a", "own", ""), [*rows, other]))
    result = tables(call, folder, "--pairs", folder / "a.jsonl")["rates"]
    by_people = {(row["model"], row["against"]): row["win rate"] for row in result if row["by"] == "people"}
    assert by_people == {("good", "poor"): pytest.approx(70), ("poor", "good"): pytest.approx(30)}
    assert sum(row["by"] == "judge" for row in result) == 6


def test_bad_input_is_one_sentence(call: Any, folder: Path) -> None:
    command = ("checklists", "wins", folder / "runs", "--suite", folder / "suite")
    code, _, err = call(*command, "--reference", "god")
    assert code == 2
    assert "--reference: unknown model 'god'; expected one of good, fair, poor; did you mean 'good'?" in err
    mark = {"kind": "pair", "id": "letter_1", "length": None, "choice": "tie"}
    mark |= {"first_sha256": "a", "second_sha256": "b"}
    (folder / "a.jsonl").write_bytes(export_lines(Header("a", "own", ""), [mark]))
    err = call(*command, "--pairs", folder / "a.jsonl")[2]
    assert "by people: no two models have answers to the same task" in err
    code, _, err = call("checklists", "wins", folder / "runs" / "good", "--suite", folder / "suite")
    assert (code, err) == (2, "error: expected at least two judged runs, or choices of people (--pairs)\n")
