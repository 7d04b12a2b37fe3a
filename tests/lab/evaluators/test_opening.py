"""Evaluators opened by their names."""

import sys

import pytest
from pfgen_fast import DiscernmentError
from pfgen_fast.lab.evaluators.command_evaluator import CommandEvaluator
from pfgen_fast.lab.evaluators.ngram_evaluator import MetricsEvaluator, NgramEvaluator
from pfgen_fast.lab.evaluators.opening import open_evaluator
from pfgen_fast.lab.evaluators.table_evaluator import TableScores


def test_each_kind_is_opened_by_its_name(tmp_path, mini, scorer):
    (tmp_path / "scores.csv").write_text("item,perturbation,metric,score\na,original,f,1\n")
    ngram = open_evaluator("ngram", suite=mini, threads=1)
    assert isinstance(ngram, NgramEvaluator)
    assert ngram.signature == scorer.signature
    assert isinstance(open_evaluator("metrics", allow_self_reference=True), MetricsEvaluator)
    assert open_evaluator("python:builtins:sorted").name == "builtins:sorted"
    command = open_evaluator(f"command:{sys.executable} -c 'a b'", time_limit=1.5)
    assert isinstance(command, CommandEvaluator)
    assert command.name == f"{sys.executable} -c 'a b'"
    table = open_evaluator(f"table:{tmp_path / 'scores.csv'}", lower_is_better=["f"])
    assert isinstance(table, TableScores)


def test_a_judge_is_opened_by_its_model_and_tasks(tmp_path):
    (tmp_path / "replies.jsonl").write_text('{"key": "x", "reply": "[[3]]"}\n')
    judge = open_evaluator("judge", model="org/judge", tasks=["qa"], server=None, cache=tmp_path / "replies.jsonl")
    assert judge.name == "judge"
    assert [metric.name for metric in judge.metrics] == ["answer_quality"]


@pytest.mark.parametrize(
    ("what", "nearest"),
    [
        ("n-gram", "ngram"),
        ("tables:scores.csv", "table:FILE"),
        ("Judge", "judge"),
        *((what, "") for what in ("", ":", "ngram:mini", "python", "python:", "command: ", "table", "judge:gpt")),
    ],
)
def test_an_unknown_or_incomplete_evaluator_comes_with_the_list_the_nearest_first(what, nearest):
    with pytest.raises(DiscernmentError) as caught:
        open_evaluator(what)
    message = str(caught.value)
    assert message.startswith(f"unknown evaluator '{what}'; expected one of {nearest}")
    assert sorted(message.partition(" of ")[2].partition(";")[0].split(", ")) == sorted(
        ["ngram", "metrics", "judge", "checklists:SUITE", "python:MODULE:FUNCTION", "command:PROGRAM ...", "table:FILE"]
    )


@pytest.mark.parametrize(
    ("what", "options", "message"),
    [
        (
            "ngram",
            {"suite": "mini", "profil": "paper"},
            "ngram: unknown option 'profil'; expected one of profile, suite",
        ),
        ("ngram", {}, "ngram: needs the option suite"),
        ("judge", {}, "judge: needs the option model"),
        ("command:x", {"time_limits": 3}, "command: unknown option 'time_limits'; expected one of time_limit, "),
        ("python:a:b", {"path": "x"}, "python: unknown option 'path'; expected one of "),
    ],
)
def test_options_are_those_of_the_kind(what, options, message):
    with pytest.raises(DiscernmentError, match=f"^evaluator {message}"):
        open_evaluator(what, **options)
