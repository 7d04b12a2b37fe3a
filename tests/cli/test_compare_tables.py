"""`compare` on tables of scores: the same figures in text, Markdown and JSON; one sentence for each refusal."""

from __future__ import annotations

import json

import numpy as np
import pytest

MODELS = ("org/new", "org/old", "small")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Scores of three models on 20 items of two subjects, in two metrics."""
    rng = np.random.default_rng(3)
    lines = ["item,model,metric,score,subject"]
    for metric in ("accuracy", "f1"):
        for model, mean in zip(MODELS, (0.8, 0.4, 0.3), strict=True):
            lines += [
                f"q{item},{model},{metric},{rng.normal(mean, 0.2):.6f},{'law' if item < 2 else 'math'}"
                for item in range(20)
            ]
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_two_models_are_shown_as_two_runs_are(call, table):
    line = ("compare", table, "--models", "org/new,org/old", "--difference", "0.05", "--by-subject")
    found = json.loads(call(*line, "--json")[1])
    assert (found["a"], found["b"]) == ("org/new", "org/old")
    text, markdown = call(*line, "--deciding", 2)[1], call(*line, "-f", "markdown")[1].replace("\\", "")
    for out in (text, markdown):
        assert found["verdict"] in out
        assert found["method"] in out
        for row in (*found["metrics"], *found["subjects"]):
            cells = f"{row['a']:.4f}", f"{row['difference']:+.4f}", f"{row['low']:+.4f} to {row['high']:+.4f}"
            assert all(cell in out for cell in cells)
        assert "p-values of 1 subject corrected together by Holm; too few items for a verdict: law (2)" in out
        assert "a difference of 0.05 is found with power 0.8 by" in out
    assert text.startswith("A: org/new\nB: org/old\nA is better by 0.")
    assert f"\n{found['questions'][0]['question_id']} " in text
    assert text.count("\nq") == 2
    assert "signature" not in found


@pytest.mark.parametrize("options", [(), ("--all-pairs",), ("--metric", "f1")])
def test_several_models_have_corrected_p_values_and_names(call, table, options):
    found = json.loads(call("compare", table, *options, "--json")[1])
    text = call("compare", table, *options)[1]
    markdown = call("compare", table, *options, "-f", "markdown")[1].replace("\\", "")
    n = (3 if "--all-pairs" in options else 2) * (1 if "f1" in options else 2)
    assert len(found["metrics"]) == n
    for out in (text, markdown):
        assert found["verdict"] in out
        assert found["method"] in out.replace("\n  ", " ")
        assert "p (Holm)" in out
        for row in found["metrics"]:
            assert f"{row['difference']:+.4f}" in out
            assert row["model_b"] in out
    assert ("org/new vs small" in text) == ("--all-pairs" in options)


def test_paired_tests_take_one_metric_of_a_table(call, table):
    line = ("compare", table, "--paired-ar", "--metric", "f1")
    found = json.loads(call(*line, "--json")[1])
    assert [(row["metric"], row["model_b"]) for row in found["metrics"]] == [("f1", model) for model in MODELS[1:]]
    text = call(*line)[1]
    assert (found["n_draws"], text.startswith("A: org/new\n")) == (10_000, True)
    assert "paired approximate randomization, 10,000 draws of 20 items, seed 0" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--models", "org/new"), "1 model: a comparison needs at least two"),
        (("--models", "org/new,org/nwe"), "did you mean 'org/new'?"),
        (("--models", "small,small"), "model small: given twice"),
        (("--paired-ar", "--metric", "acuracy"), "did you mean 'accuracy'?"),
        (("--suite", "mini"), "--suite is for runs: leave it out for tables"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(call, table, options, message):
    code, _, err = call("compare", table, *options)
    assert code == 2
    assert message in err


def test_a_name_with_a_comma_can_be_chosen(call, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text('item,"a,b",c,d\n1,0,1,1\n2,1,0,1\n')
    found = json.loads(call("compare", path, "--models", "a,b", "--models", "d", "--json")[1])
    assert (found["a"], found["b"]) == ("a,b", "d")
    out = call("compare", path, "--models", "a,b", "--models", "d")[1]
    assert ("\n1 " in out, "\n2 " in out) == (True, False)  # the item without a difference decides nothing


def test_missing_subjects_and_files_are_named(call, table, tmp_path):
    plain = tmp_path / "plain.csv"
    plain.write_text("item,a,b\n1,0,1\n2,1,0\n")
    assert "--by-subject: the items have no subject (--subject-column)" in call("compare", plain, "--by-subject")[2]
    assert "missing.jsonl: no such file or folder" in call("compare", tmp_path / "missing.jsonl")[2]


def test_runs_and_tables_are_not_mixed(call, table, varied):
    run = next(varied.rglob("trials.jsonl")).parent
    code, _, err = call("compare", run, table)
    assert (code, "expected only runs, or only tables of scores" in err) == (2, True)
