"""Outputs of `pfgen-fast checklists` that cannot be written: one sentence, and nothing is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.judged_folders import COMMANDS, write_judged


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands are typed."""
    monkeypatch.chdir(tmp_path)
    return write_judged(tmp_path)


@pytest.mark.parametrize("command", ["report", "agree", "drift", "noise", "correlate", "sensitivity", "fit"])
def test_an_output_folder_that_is_a_file_is_refused_before_any_work(folder: Path, call, command) -> None:
    (folder / "file").write_text("mine")

    said = call("checklists", command, *COMMANDS[command], "-o", "file")

    assert said == (2, "", "error: file: expected a directory, but file is a file\n")
    assert (folder / "file").read_text() == "mine"


def test_a_folder_in_the_way_of_a_table_leaves_nothing_behind(folder: Path, call) -> None:
    code, _, err = call("checklists", "table", *COMMANDS["table"], "--csv", "runs")

    assert (code, err) == (2, "error: runs: cannot be written: Is a directory\n")
    assert not list(folder.rglob(".*.part"))


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("from-suite mini -o made --runs none", "none: no such file or folder"),
        ("from-suite mini -o runs", "runs: is not the folder of a suite"),
        ("import-suite hellobenhc runs -o made", "unknown source of suites 'hellobenhc'; expected one of hellobench"),
        ("import-suite hellobench runs -o made", "runs: no data of HelloBench in data/main_data/open_ended_qa.jsonl"),
        ("import runs -s suite -o made", "runs: no answers or judgements of HelloBench; expected"),
        ("noise runs -s suite --wanted nan", "--wanted: expected a number of points, not nan"),
        ("fit marks.jsonl -s suite --scale unit --bound inf", "the bound inf: expected a number"),
        ("fit marks.jsonl -s suite --scale unit -o runs", "runs: is not the folder of a suite"),
    ],
)
def test_what_cannot_be_made_leaves_nothing_behind(folder: Path, call, command: str, says: str) -> None:
    before = sorted(folder.rglob("*"))

    code, out, err = call("checklists", *command.split())

    assert (code, out) == (2, "")
    assert err.startswith(f"error: {says}")
    assert sorted(folder.rglob("*")) == before
