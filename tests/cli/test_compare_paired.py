"""`compare --paired-ar`, and `--format json` as sacrebleu has it: the same figures in text, Markdown and JSON."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from makers import terminal
from makers.engines import run_python_blocks

PAGE = Path(__file__).parents[2] / "docs" / "integrations" / "sacrebleu.md"


@pytest.fixture
def paths(varied):
    return sorted(path.parent for path in varied.rglob("trials.jsonl"))


def test_randomization_is_shown_as_any_comparison(call, paths, scorer):
    line = ("compare", "--suite", "mini", paths[2], *paths[:2], "--paired-ar")
    found = json.loads(call(*line, "-f", "json")[1])
    assert found == json.loads(call(*line, "--json")[1])
    assert (found["signature"], found["n_draws"], found["seed"]) == (scorer.signature, 10_000, 0)
    assert [row["model_b"] for row in found["metrics"]] == [str(paths[at]) for at in (0, 1)]
    text, markdown = call(*line)[1], call(*line, "--format", "markdown")[1].replace("\\", "")
    for row in found["metrics"]:
        assert f"{row['difference']:+.4f}  {row['low']:+.4f} to {row['high']:+.4f}" in text
        assert f"| {row['low']:+.4f} to {row['high']:+.4f} |" in markdown


def test_a_folder_stands_for_its_runs_without_the_baseline(call, paths, varied):
    def runs_of(*given):
        return json.loads(call("compare", "--suite", "mini", *given, "--paired-ar", "--json")[1])["metrics"]

    assert runs_of(paths[2], varied) == runs_of(paths[2], *(path for path in paths if path != paths[2]))
    spelt_otherwise = [paths[0].parent / "." / ".." / paths[0].parent.name / paths[0].name for _ in range(2)]
    assert runs_of(paths[2], paths[0], *spelt_otherwise) == runs_of(paths[2], paths[0])
    assert len(runs_of(paths[2], paths[2])) == 1  # but with itself alone, if that is what is asked for


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([0], "1 run: expected at least one other run to compare it with"),
        ([0, 1, "--paired-ar", "--deciding", "3"], "--deciding is for comparisons without --paired-ar"),
        ([0, 1, "--paired-ar", "--metric", "score", "--metric", "length"], "--paired-ar compares one metric"),
        ([0, 1, 2, "--by-subject"], "2 pairs: --by-subject is for a comparison of two"),
        ([0, 1, "--models", "a"], "--models is for tables: leave it out for runs"),
        ([0, 1, "--item-column", "a"], "--item-column is for tables: leave it out for runs"),
    ],
)
def test_invalid_combinations_of_options_are_refused(call, paths, arguments, message):
    code, _, err = call("compare", "--suite", "mini", *(paths[a] if isinstance(a, int) else a for a in arguments))
    assert code == 2
    assert message in err


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
    assert capsys.readouterr().out.splitlines()[-1] == "+0.0000 p=1.0000 Holm=1.0000 differs=False"
