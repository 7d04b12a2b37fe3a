"""`compare` on tables of scores: the same figures in text, Markdown and JSON; one sentence for each refusal."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from makers import terminal
from makers.engines import run_python_blocks

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
    parsed = json.loads(call(*line, "--json")[1])
    assert (parsed["a"], parsed["b"]) == ("org/new", "org/old")
    text, markdown = call(*line, "--deciding", 2)[1], call(*line, "-f", "markdown")[1].replace("\\", "")
    for out in (text, markdown):
        assert parsed["verdict"] in out
        assert parsed["method"] in out
        for row in (*parsed["metrics"], *parsed["subjects"]):
            cells = f"{row['a']:.4f}", f"{row['difference']:+.4f}", f"{row['low']:+.4f} to {row['high']:+.4f}"
            assert all(cell in out for cell in cells)
        assert "p-values of 1 subject corrected together by Holm; too few items for a verdict: law (2)" in out
        assert "a difference of 0.05 is found with power 0.8 by" in out
    assert text.startswith("A: org/new\nB: org/old\nA is better by 0.")
    assert f"\n{parsed['questions'][0]['question_id']} " in text
    assert text.count("\nq") == 2
    assert "signature" not in parsed


@pytest.mark.parametrize("options", [(), ("--all-pairs",), ("--metric", "f1")])
def test_several_models_have_corrected_p_values_and_names(call, table, options):
    parsed = json.loads(call("compare", table, *options, "--json")[1])
    text = call("compare", table, *options)[1]
    markdown = call("compare", table, *options, "-f", "markdown")[1].replace("\\", "")
    n = (3 if "--all-pairs" in options else 2) * (1 if "f1" in options else 2)
    assert len(parsed["metrics"]) == n
    for out in (text, markdown):
        assert parsed["verdict"] in out
        assert parsed["method"] in out.replace("\n  ", " ")
        assert "p (Holm)" in out
        for row in parsed["metrics"]:
            assert f"{row['difference']:+.4f}" in out
            assert row["model_b"] in out
    assert (re.search(r"^org/new +small  ", text, re.MULTILINE) is not None) == ("--all-pairs" in options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--models", "org/new"), "1 model: a comparison needs at least two"),
        (("--models", "org/new,org/nwe"), "did you mean 'org/new'?"),
        (("--models", "small,small"), "model small: given twice"),
        (("--metric", "acuracy"), "did you mean 'accuracy'?"),
        (("--suite", "mini"), "no such option for tables; it is for runs: --suite"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(refused, table, options, message):
    assert message in refused("compare", table, *options)


def test_a_name_with_a_comma_can_be_chosen(call, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text('item,"a,b",c,d\n1,0,1,1\n2,1,0,1\n')
    parsed = json.loads(call("compare", path, "--models", "a,b", "--models", "d", "--json")[1])
    assert (parsed["a"], parsed["b"]) == ("a,b", "d")
    out = call("compare", path, "--models", "a,b", "--models", "d")[1]
    assert ("\n1 " in out, "\n2 " in out) == (True, False)  # the item without a difference decides nothing


def test_missing_subjects_and_files_are_named(call, table, tmp_path):
    plain = tmp_path / "plain.csv"
    plain.write_text("item,a,b\n1,0,1\n2,1,0\n")
    assert "or whose items have a subject (--subject-column)" in call("compare", plain, "--by-subject")[2]
    assert "missing.jsonl: no such file or folder" in call("compare", tmp_path / "missing.jsonl")[2]


def test_runs_and_tables_are_not_mixed(refused, table, varied):
    run = next(varied.rglob("trials.jsonl")).parent
    assert "expected only runs, or only tables of scores" in refused("compare", run, table)


# ---- Runs against a baseline, and `--format json` as sacrebleu has it: the same figures in text, Markdown and JSON


PAGE = Path(__file__).parents[2] / "docs" / "integrations" / "sacrebleu.md"


@pytest.fixture
def paths(varied):
    return sorted(path.parent for path in varied.rglob("trials.jsonl"))


def test_runs_against_a_baseline_are_shown_alike(call, paths, scorer):
    line = ("compare", "--suite", "mini", paths[2], *paths[:2], "--metric", "score")
    parsed = json.loads(call(*line, "--json")[1])
    assert parsed["signature"] == scorer.signature
    assert [row["model_b"] for row in parsed["metrics"]] == [str(paths[at]) for at in (0, 1)]
    text, markdown = call(*line)[1], call(*line, "--format", "markdown")[1].replace("\\", "")
    for row in parsed["metrics"]:
        assert f"{row['difference']:+.4f}  {row['low']:+.4f} to {row['high']:+.4f}" in text
        assert f"| {row['low']:+.4f} to {row['high']:+.4f} |" in markdown


def test_a_folder_stands_for_its_runs_without_the_baseline(call, paths, varied):
    def runs_of(*arguments):
        return json.loads(call("compare", "--suite", "mini", *arguments, "--metric", "score", "--json")[1])["metrics"]

    assert runs_of(paths[2], varied) == runs_of(paths[2], *(path for path in paths if path != paths[2]))
    spelt_otherwise = [paths[0].parent / "." / ".." / paths[0].parent.name / paths[0].name for _ in range(2)]
    assert runs_of(paths[2], paths[0], *spelt_otherwise) == runs_of(paths[2], paths[0])
    assert runs_of(varied, "--all-pairs") == runs_of(*paths, "--all-pairs")
    assert len(runs_of(paths[2], paths[2])) == 1  # but with itself alone, if that is what is asked for


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([0], "1 run: expected at least one other run to compare it with"),
        ([0, 1, 2, "--by-subject"], "--by-subject: expected a comparison of two"),
        ([0, 1, "--models", "a"], "no such option for runs; it is for tables: --models"),
        ([0, 1, "--item-column", "a"], "no such option for runs; it is for tables: --item-column"),
    ],
)
def test_invalid_combinations_of_options_are_refused(refused, paths, arguments, message):
    assert message in refused("compare", "--suite", "mini", *(paths[a] if isinstance(a, int) else a for a in arguments))


def test_the_commands_of_the_page_run(varied, tmp_path, monkeypatch):
    """The block of a shell, in a folder with the runs that the page speaks of."""
    page = PAGE.read_text(encoding="utf-8")
    for name, run in zip(("baseline", "first", "second"), sorted((varied / "org").iterdir()), strict=False):
        shutil.copytree(run / "abc", tmp_path / "result" / name)
    monkeypatch.chdir(tmp_path)
    [block] = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    [shown] = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    assert shown in terminal.run_here(block)


def test_the_python_of_the_page_runs(capsys):
    assert run_python_blocks(PAGE) == 2
    assert capsys.readouterr().out.splitlines()[-1] == "+0.1150 p=0.0078"
