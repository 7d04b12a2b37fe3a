"""Methods of scoring answers side by side: over answers and over models."""

import csv
import json
import random
from dataclasses import replace

import numpy as np
import pytest
from makers.own_checklists import changed, judged_models, suite_of_36, write_judged, written
from makers.people import write_rows
from makers.runs import make_varied_runs
from pfgen_fast import Scorer
from pfgen_fast.base.errors import ChecklistError
from pfgen_fast.lab.checklists.checklist_runs import open_runs
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite
from pfgen_fast.lab.checklists.judgements import Judgement, write_judgements
from pfgen_fast.lab.checklists.method_correlation import (
    Values,
    checklist_values,
    correlate,
    correlated,
    metric_values,
    ngram_values,
    people_values,
)
from pfgen_fast.lab.checklists.tasks import LEVELS

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
    return sum(weight * verdict for weight, verdict in zip((55, 25, 15, 5), item.scores, strict=True))


def test_a_metric_that_is_the_score_correlates_fully_over_the_answers_that_every_method_has(runs, tmp_path):
    values = checklist_values(SUITE, runs)
    metric = metric_values(metrics_file(tmp_path / "m.csv", lambda _, answer: score(answer)), SUITE)
    result = correlated(Values(SUITE, {**values.methods, **metric}), draws=20)
    assert result.names == ("checklist", "avg-c", "quality")
    item = result.over_answers(*(result.columns[name] for name in ("checklist", "quality")), np.arange(144))
    assert (item.n, item.value.cells, item.p) == (144, (1, None, None), 0)
    assert result.over_models("checklist", "quality").value.cells == (1, None, None)
    tasks = result.model_means["checklist"][0]
    assert [result.grid.tasks[task].length for task in tasks] == [None] * len(tasks)
    assert "without spread, have none" in correlate(result).paragraph
    assert "quality goes best with checklist: Spearman 1.000" in correlate(result).answer
    some = metrics_file(tmp_path / "m.csv", lambda model, answer: None if answer.id.startswith("fable") else 1.0)
    result = correlated(Values(SUITE, {**values.methods, **metric_values(some, SUITE)}), draws=10)
    assert len(result.places) == 4 * 24
    notes = correlate(result).notes
    assert "48 of 144 values by checklist are left out: not every method has these answers" in notes


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
    only = Values(SUITE, {"checklist": values.methods["checklist"], **by_task})
    assert correlate(correlated(only, draws=300)).answer.endswith("; that may be chance.")


def test_unknown_methods_and_lonely_ones_are_refused(runs):
    values = checklist_values(SUITE, runs)
    with pytest.raises(ChecklistError, match="chcklist"):
        correlated(values, against="chcklist")
    with pytest.raises(ChecklistError, match="a correlation needs two methods"):
        correlated(Values(SUITE, {"checklist": values.methods["checklist"]}))
    apart = {"a": {("m", ("x", None, 1)): 1.0}, "b": {("m", ("y", None, 1)): 1.0}}
    with pytest.raises(ChecklistError, match=r"no answer has a value by every method \(a 1, b 1\)"):
        correlated(Values(SUITE, apart))


def test_overall_ratings_are_methods_and_equal_weights_only_where_they_differ(tmp_path):
    overall = changed(FIRST, lambda _, judgement: replace(judgement, method="llm-eval", scores=(7.0,)))
    runs = open_runs([write_judged(tmp_path / "runs", {model: [*FIRST[model], *overall[model]] for model in FIRST})])
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
                lines.append({**line, "verdicts": entry.scores, "overall": min(10, round(score(entry) / 12) + more)})
    lines.append({**lines[0], "response_sha256": "0" * 64})
    result, notes = people_values([write_rows(path, lines)], SUITE, runs, scale="unit")
    assert len(result) == 24
    first = FIRST["alpha"][0]
    assert result["alpha", first.key] == sum(line["overall"] for line in lines[:2]) / 2
    assert notes == ["1 marked answers are not in these runs"]
    with pytest.raises(ChecklistError, match="none of the 1 marked answers"):
        people_values([write_rows(path, lines[-1:])], SUITE, runs, scale="unit")


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


def test_the_command_reads_metrics_and_refuses_options_that_lack_others(runs, tmp_path, call):
    suite = written(SUITE, tmp_path / "suite")
    metrics = metrics_file(tmp_path / "m.csv", lambda model, answer: len(model) + answer.words)
    command = ("checklists", "correlate", tmp_path / "runs", "--suite", suite)
    code, printed, _ = call(*command, "--metrics", metrics, "--draws", "10", "--json")
    assert code == 0
    tables = json.loads(printed)["tables"]
    assert {row["method"] for row in tables["answers"]} == {"avg-c", "quality"}
    assert {row["part"] for row in tables["answers"]} == {"all", "letters", "stories"}
    for options, message in (
        (("--marks", metrics), "expected --scale unit"),
        (("--scale", "ui"), "expected with --marks"),
    ):
        code, _, err = call(*command, *options)
        assert (code, message in err) == (2, True)


def judge_by_ngrams(target, mini):
    """Judges each answer: the first question by fluency, the second by truthfulness, the others at random."""
    suite, scorer, draw = ChecklistSuite.load(target), Scorer(mini), random.Random(3)
    questions = {question.question_id: question.question for question in mini}
    for run in open_runs([target / "runs"]):
        listed = []
        for answer in run.answers(suite).values():
            table = scorer.score([questions[answer.id]], [answer.response])
            scores = [table.fluency[0], table.truthfulness[0], *(draw.random() for _ in range(3))]
            levels = tuple(min(LEVELS, key=lambda level, s=s: abs(level - s)) for s in scores)
            listed.append(Judgement(answer.id, answer.sha256, levels, trial=answer.trial, judge="judge"))
        write_judgements(run.folder / "judgements.jsonl", listed)
    return suite


def test_ngram_scores_stand_beside_checklists(tmp_path, mini, call):
    make_varied_runs(tmp_path / "result", mini, n_runs=4, n_trials=2)
    target = tmp_path / "checklists"
    code, _, message = call("checklists", "import", "mini", "-o", target, "--runs", tmp_path / "result")
    assert code == 0, message
    suite, runs = judge_by_ngrams(target, mini), open_runs([target / "runs"])
    ngram_columns = ngram_values(runs, suite, mini)
    assert set(ngram_columns) == {"n-gram fluency", "n-gram truthfulness", "n-gram helpfulness"}
    assert len(ngram_columns["n-gram fluency"]) == 4 * 8 * 2
    command = ("checklists", "correlate", target / "runs", "--suite", target, "--ngram", "mini", "--draws", "20")
    code, printed, message = call(*command, "--json")
    assert code == 0, message
    tables = json.loads(printed)["tables"]
    assert {row["method"] for row in tables["answers"]} == set(ngram_columns)
    assert next(row["Spearman"] for row in tables["answers"] if row["method"] == "n-gram fluency") > 0.3
