"""Weights of metrics: from a file, from a survey, or assumed; normalised, with notes on what is missing."""

import csv

import numpy as np
import pytest
from makers.tested_evaluators import problem, written
from pfgen_fast.lab.discernment.discernment_plan import (
    paper_facts,
    paper_plan,
    perturbation,
    perturbations_named,
    usual_plan,
)
from pfgen_fast.lab.discernment.votes import read_survey
from pfgen_fast.lab.discernment.weights import open_weights
from pfgen_fast.lab.statistics.raters import fleiss_kappa

NGRAM = ("fluency", "truthfulness", "helpfulness")
HEAD = "task,perturbation,metric,weight\n"


# --- the packaged weights


def test_assumed_weights_serve_the_usual_plan_of_answers():
    perturbations = usual_plan().perturbations
    matrix, notes = open_weights("assumed").matrix("answers", perturbations, NGRAM)
    assert notes == ()
    assert all(np.isnan(row).all() == item.is_control for item, row in zip(perturbations, matrix, strict=True))


@pytest.mark.parametrize("row", paper_facts("datasets"), ids=lambda row: row["dataset"])
def test_assumed_weights_serve_the_plans_of_the_paper(row):
    plan = paper_plan(row["dataset"])
    matrix, notes = open_weights("assumed").matrix(row["task"], plan.perturbations, row["metrics"].split())
    assert notes == ()
    assert np.allclose(matrix.sum(axis=1), 1, rtol=1e-15, atol=0)


# --- files


VOTES = "task,perturbation,metric,votes\nt,negate,c,5\nt,negate,b,1\nt,negate,a,4\n"
OF_DEGREE = HEAD + "t,negate,a,1\nt,negate,b,1\nt,negate/k2,a,3\nt,negate/k2,b,1\n"
OTHER_NAMES = HEAD + "question answering,random_answer,Answer Quality,2\n"


@pytest.mark.parametrize(
    ("text", "task", "names", "metrics", "expected"),
    [
        (VOTES, "t", ["negate/k1"], "abc", [[0.4, 0.1, 0.5]]),  # divided by their sum
        (OF_DEGREE, "t", ["negate/k1", "negate/k2"], "ab", [[0.5, 0.5], [0.75, 0.25]]),
        (OTHER_NAMES, "qa", ["answer_swap", "random_answer"], ["answer_quality"], [[1], [1]]),
        (HEAD + "t,negate,a,1\nother,no_kind,x,1\n", "t", ["negate/k1"], "a", [[1]]),  # of another task
    ],
)
def test_weights_are_found_by_task_degree_or_kind_and_metric(tmp_path, text, task, names, metrics, expected):
    plan = [item for name in names for item in perturbations_named(name)]
    matrix, notes = open_weights(written(tmp_path / "weights.csv", text)).matrix(task, plan, list(metrics))
    assert (matrix.tolist(), notes) == (expected, ())


def test_missing_rows_and_cells_are_noted(tmp_path):
    path = written(tmp_path / "weights.csv", HEAD + "t,negate,a,1\n")
    plan = [perturbation("negate", k=1), perturbation("truncate", k=1), perturbation("newline")]
    matrix, notes = open_weights(path).matrix("t", plan, ["a", "b"])
    copy = written(tmp_path / "copy.csv", "task,perturbation,metric,weight,source\nt,negate,a,1,Assumed\n")
    assert open_weights(copy).name == "copy.csv, assumed"
    assert matrix[0].tolist() == [1.0, 0.0]
    assert np.isnan(matrix[1:]).all()
    assert notes == (
        "The weights (weights.csv) of the task t have none of its metrics for truncate: no weighted score.",
    )


def test_an_evaluator_with_some_metrics_of_a_task_uses_their_weights_and_says_so(tmp_path):
    path = written(tmp_path / "weights.csv", VOTES + "t,truncate,c,1\nt,loop,a,1\nt,loop,c,9\n")
    plan = [perturbation(name, k=1) for name in ("negate", "truncate", "loop")]
    matrix, notes = open_weights(path).matrix("t", plan, ["a", "b", "other"])
    assert matrix[[0, 2]].tolist() == [[0.4, 0.1, 0.0], [0.1, 0.0, 0.0]]  # only their ratio counts
    assert np.isnan(matrix[1]).all()
    assert notes == (
        "The weights (weights.csv) of the task t have none of its metrics for truncate: no weighted score.",
        "The weights (weights.csv) of the task t are used without c, which the evaluator does not have.",
    )


NO_NUMBER = ", line 2, column 'weight': expected a number of at least 0, not "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("task,perturbation,metric\n", ": expected the columns task, perturbation, metric and weight or votes; there "),
        (HEAD, ": no weights; expected a weight in each row"),
        *((f"{HEAD}t,negate,a,{value}\n", f"{NO_NUMBER}'{value}'") for value in ("-1", "nan", "inf", "much", "")),
        (HEAD + "t,negate,a,0\nt,negate,b,0\n", ", line 2: the weights of one perturbation are all 0; "),
        (HEAD + "t,negate,a,1e308\nt,negate,b,1e308\n", ", line 2: the weights of one perturbation are too large; "),
        (HEAD + "t,negate,a,1\nt,negate,A,1\n", ", line 3: the weight of a for negate is repeated"),
        (HEAD + "t,answer_swap,a,1\nt,random_ending,a,1\n", ", line 3: the weight of a for random_ending is repeated"),
        (VOTES + "t,loop,a,1.5\n", ", line 5, column 'votes': expected a whole number of at least 0, not '1.5'"),
    ],
)
def test_a_file_that_breaks_the_rules_is_named_with_the_line(tmp_path, text, expected):
    path = written(tmp_path / "weights.csv", text)
    assert problem(open_weights, path).startswith(f"{path}{expected}")


def test_an_evaluator_without_a_weighted_metric_has_no_weighted_score(tmp_path):
    weights = open_weights(written(tmp_path / "weights.csv", VOTES + "u,negate,fluencey,1\n"))
    matrix, _ = weights.matrix("t", [perturbation("negate", k=1)], NGRAM)
    assert np.isnan(matrix).all()
    for metrics in ([*NGRAM, "B"], []):
        weights.check(["v", "u", "t"], [], metrics)
    assert "unknown task 't'; expected one of v" in problem(weights.check, ["v"], [], NGRAM)
    assert problem(weights.check, ["v", "u"], [], NGRAM) == (
        "the weights (weights.csv) are for fluencey; expected at least one metric of the evaluators: fluency, "
        "truthfulness, helpfulness"
    )


def test_unknown_kinds_are_refused(tmp_path):
    weights = open_weights(written(tmp_path / "weights.csv", HEAD + "t,negate,fluency,1\nt,negat,fluency,1\n"))
    assert "weights.csv, line 3: unknown kind 'negat'; expected one of negate, " in problem(
        weights.check, ["t"], [perturbation("negate", k=1)]
    )


def test_the_hash_is_of_the_weights_and_not_of_their_order_or_scale(tmp_path):
    first = open_weights(written(tmp_path / "weights.csv", HEAD + "t,negate,a,1\nt,negate,b,3\nt,loop,a,1\n"))
    same = open_weights(written(tmp_path / "others.csv", HEAD + "t,loop,a,7\nt,negate,b,0.75\nt,negate,a,0.25\n"))
    other = open_weights(written(tmp_path / "third.csv", HEAD + "t,negate,a,1\nt,negate,b,2\nt,loop,a,1\n"))
    assert first.hash == same.hash != other.hash


# --- surveys

SURVEY = "voter,task,perturbation,metric\n"


def votes(*choices, kind="negate"):
    return "".join(f"voter {number},t,{kind},{metric}\n" for number, metric in enumerate(choices))


def test_a_survey_becomes_weights(tmp_path):
    lines = votes(*"aaaabccccc") + votes(*"bbbbbbbbbb", kind="loop")
    survey = read_survey(written(tmp_path / "survey.csv", SURVEY + lines + "v,=cmd(),negate,a\n"))
    survey.write(tmp_path / "weights.csv")
    with (tmp_path / "weights.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["perturbation"], row["metric"], row["weight"], row["votes"]) for row in rows] == [
        *(("negate", "a", "0.4", "4"), ("negate", "b", "0.1", "1"), ("negate", "c", "0.5", "5")),
        *(("loop", "a", "0.0", "0"), ("loop", "b", "1.0", "10"), ("loop", "c", "0.0", "0")),
        ("negate", "a", "1.0", "1"),
    ]
    assert {row["source"] for row in rows[:-1]} == {"10 voters, survey.csv"}
    assert rows[-1]["task"] == "'=cmd()"  # no formula
    assert ("=cmd()", "negate") in open_weights(tmp_path / "weights.csv").rows
    plan = [perturbation("negate", k=1), perturbation("loop", k=1)]
    matrix, notes = open_weights(tmp_path / "weights.csv").matrix("t", plan, ["a", "b", "c"])
    assert matrix.tolist() == [[0.4, 0.1, 0.5], [0.0, 1.0, 0.0]]
    assert notes == ()


def test_the_agreement_of_voters_is_fleiss_kappa(tmp_path):
    lines = votes(*"aaaabccccc") + votes(*"bbbbbbbbbb", kind="loop") + votes(*"abababcabc", kind="truncate")
    (survey_task,) = read_survey(written(tmp_path / "weights.csv", SURVEY + lines)).tasks
    assert survey_task.n_voters == 10
    assert survey_task.kappa == pytest.approx(fleiss_kappa(np.array([[4, 1, 5], [0, 10, 0], [4, 4, 2]])), rel=1e-12)
    finding = read_survey(tmp_path / "weights.csv").finding()
    (picture,) = finding.pictures
    assert (picture.chart.rows, picture.chart.columns) == (("negate", "loop", "truncate"), ("a", "b", "c"))
    assert picture.chart.values.tolist() == [[0.4, 0.1, 0.5], [0, 1, 0], [0.4, 0.4, 0.2]]
    assert finding.answer == f"t: 10 voters, 3 kinds of damage, agreement (Fleiss' kappa) {survey_task.kappa:.3f}"
    (survey_task,) = read_survey(
        written(tmp_path / "weights.csv", SURVEY + votes(*"aab") + votes(*"ab", kind="loop"))
    ).tasks
    assert survey_task.kappa == pytest.approx(fleiss_kappa([[2, 1], [1, 1]]))  # one did not vote on everything
    assert survey_task.votes["loop"] == {"a": 1, "b": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("voter,task,metric\n", ": expected the columns voter, task, perturbation, metric; there are 'voter', "),
        (SURVEY, ": no votes; expected a vote in each row"),
        (SURVEY + "v,t,negate,\n", ", line 2, column 'metric': expected a name, not ''"),
        (SURVEY + "v,qa,negate,a\nv,question answering,negate,b\n", ", line 3: a second vote of v on negate, after "),
    ],
)
def test_a_survey_that_breaks_the_rules_is_named_with_the_line(tmp_path, text, expected):
    path = written(tmp_path / "weights.csv", text)
    assert problem(read_survey, path).startswith(f"{path}{expected}")
