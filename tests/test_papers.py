"""The pages of the papers: each command in them runs, on data of our own in the form of the paper's."""

import shutil
import sys

import pytest
from makers import documented
from makers.checklist_folders import write_checkout
from makers.documented import DOCS, ROOT
from makers.terminal import run_here, run_in_bash


@pytest.mark.usefixtures("undrawn")
def test_the_commands_of_hellobench_run(tmp_path, monkeypatch):
    results = write_checkout(tmp_path / "HelloBench") / "results"
    for kind in ("generations", "judgements"):
        shutil.copytree(results / kind / "main_exp/heron", results / kind / "main_exp/gpt4o_0806")
    monkeypatch.chdir(tmp_path)
    page = DOCS / "papers" / "hellobench.md"
    [first] = documented.blocks(page)
    run_here(first.code)
    for people in ("people", "alone"):
        run_in_bash(f"{sys.executable} {ROOT / 'examples/fake_annotators.py'} {people} runs")
    commands = [command for command in dict.fromkeys(documented.commands(page)) if command not in first.code]
    assert len(commands) >= 10
    printed = {command: run_here(command) for command in commands}
    [means] = [text for command, text in printed.items() if " correlate " in command]
    assert "Means by model and method" in means
