"""Exit codes: the table of docs/commands.md holds for every command."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
import typer
from makers import own_checklists
from makers.documented import ROOT
from makers.judged_runs import changed, judged, lowered, made_suite, written
from makers.runs import make_run, trial_lines
from pfgen_fast.cli.app import app


def _leaves(command, context=None, path=()):
    context = command.make_context(" ".join(path), ["--help"], parent=context, resilient_parsing=True)
    names = getattr(command, "commands", None)
    if names is None:
        yield " ".join(path)
    for name in names or ():
        yield from _leaves(command.get_command(context, name), context, (*path, name))


LEAVES = list(_leaves(typer.main.get_command(app)))
WITHOUT_INPUT = {"discern kinds", "discern show", "suite list", "serve"}
"""Commands that read no file that is named by an argument."""


@pytest.mark.parametrize("name", LEAVES)
def test_help_succeeds_and_an_unknown_option_is_code_2(call, name):
    assert call(*name.split(), "--help")[0] == 0
    code, out, err = call(*name.split(), "--no-such-option")
    assert (code, out) == (2, "")
    assert "--no-such-option" in err


@pytest.mark.parametrize("name", [name for name in LEAVES if name not in WITHOUT_INPUT])
def test_an_input_that_is_not_there_is_code_2(call, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    code, _, err = call(*name.split(), "not-there")
    assert code == 2, err
    assert err
    assert not list(tmp_path.iterdir())


@pytest.fixture
def runs(call, tmp_path, mini):
    make_run(tmp_path / "runs/good", trial_lines(mini, 3), {"model": "me/good"})
    worse = [json.dumps({**json.loads(line), "answer": "Well."}) for line in trial_lines(mini, 3)]
    make_run(tmp_path / "runs/worse", worse, {"model": "me/worse"})
    assert call("score", "--suite", "mini", tmp_path / "runs")[0] == 0
    return tmp_path / "runs"


def of_verify(runs):
    path = runs / "good/result.json"
    path.write_text(path.read_text().replace('"num_trials": 3', '"num_trials": 4'))
    return "verify", "--suite", "mini", runs / "good", "--sample", "2"


def of_suite_check(runs):
    suite = runs.parent / "suite"
    suite.mkdir()
    (suite / "Q01.json").write_text("{}")
    return "suite", "check", suite


def of_drift(runs):
    made = made_suite()
    first = judged(made)
    new = changed(changed(first, lowered("fable", 1)), lambda _, one: replace(one, version="judge-2"))
    sides = written(runs.parent / "old", first), written(runs.parent / "new", new)
    suite = own_checklists.written(made, runs.parent / "checklists")
    return "checklists", "drift", *sides, "--suite", suite, "--check", "--draws", "10"


def of_fail_if_worse(runs):
    return "compare", runs / "worse", runs / "good", "--suite", "mini", "--fail-if-worse"


def of_non_inferior(runs):
    return "compare", runs / "worse", runs / "good", "--suite", "mini", "--non-inferior", "0.01"


def of_score(runs):
    return "score", "--suite", "mini", runs, "--fail-under", "0.5"


def of_place(runs):
    return "place", runs / "worse", "--against", runs / "good", "--fail-under", "0.5"


def of_checklists_table(runs):
    made = made_suite()
    path, suite = written(runs.parent / "old", judged(made)), own_checklists.written(made, runs.parent / "checklists")
    return "checklists", "table", path, "--suite", suite, "--fail-under", "99", "--draws", "10"


def of_discern_run(runs):
    options = ("--suite", "mini", "--min-items", "8", "-q", "-o", runs.parent / "damage")
    return "discern", "run", "--from-suite", "-e", "ngram", *options, "--kinds", "char_delete/30", "--fail-under", "99"


FAILED = {
    "compare --fail-if-worse": of_fail_if_worse,
    "compare --non-inferior": of_non_inferior,
    "score --fail-under": of_score,
    "place --fail-under": of_place,
    "checklists table --fail-under": of_checklists_table,
    "discern run --fail-under": of_discern_run,
    "verify": of_verify,
    "suite check": of_suite_check,
    "checklists drift --check": of_drift,
}


def test_each_command_with_a_check_is_documented():
    section = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8").split("## Exit codes")[1].split("\n## ")[0]
    rows = section.split("| command |")[1].splitlines()[2:]
    documented = {name for row in rows if row for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert documented == set(FAILED)


@pytest.mark.parametrize("name", FAILED)
@pytest.mark.usefixtures("undrawn")
def test_a_failed_check_is_code_1(call, runs, name):
    code, out, err = call(*FAILED[name](runs))
    assert code == 1, err
    assert out or err


@pytest.mark.parametrize("name", ["score", "leaderboard", "place", "report", "verify"])
@pytest.mark.usefixtures("undrawn")
def test_a_failed_input_among_others_is_code_3_and_named(call, runs, tmp_path, name):
    make_run(runs / "bad", ["{"], {"model": "me/bad"})
    (runs / "bad/result.json").write_text("{")
    options = {
        "score": ("--suite", "mini"),
        "verify": ("--suite", "mini", "--sample", "2"),
        "report": ("--suite", "mini", "-o", tmp_path / "page.html"),
        "place": ("--against", runs / "good"),
    }  # fmt: skip
    code, out, err = call(name, runs, *options.get(name, ()))
    assert code == 3, err
    assert out
    assert str(runs / "bad") in err
