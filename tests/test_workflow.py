"""The workflow of docs/guides/gates.md does what the page says, step by step, in bash."""

import os
import re
import shlex
import sys
import textwrap
from xml.etree import ElementTree

import pytest
from makers.documented import DOCS, blocks
from makers.terminal import run_in_bash

[WORKFLOW] = [block.code for block in blocks(DOCS / "guides" / "gates.md") if block.language == "yaml"]
_STEP = re.compile(
    r"^      - name: (?P<name>.+)\n(?:        if: (?P<condition>.+)\n)?"
    r"        run: (?:\|\n(?P<lines>(?:          .*\n)+)|(?P<line>.+)\n)",
    re.MULTILINE,
)
STEPS = [
    (match["name"], match["condition"], match["line"] or textwrap.dedent(match["lines"]))
    for match in _STEP.finditer(WORKFLOW)
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "pfgen-fast").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m pfgen_fast "$@"\n')
    (programs / "pfgen-fast").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_job(folder, order):
    """Runs the steps with a model of this order; returns the names of those that ran, and what they printed."""
    ran, printed = [], ""
    for name, condition, code in STEPS:
        assert condition in (None, "hashFiles('baseline/**') != ''")
        if condition is None or (folder / "baseline").is_dir():
            ran.append(name)
            printed += run_in_bash(code.replace("--order 6", f"--order {order}"))
    return ran, printed


@pytest.mark.slow
def test_the_workflow_gates_a_checkpoint(folder):
    assert len(STEPS) == WORKFLOW.count(" run: ") == 5
    names = [name for name, _, _ in STEPS]
    first, _ = run_job(folder, 6)
    assert first == [name for name in names if "last checkpoint" not in name]
    second, printed = run_job(folder, 8)  # a better model
    assert (second, "passed: score: " in printed) == (names, True)
    with pytest.raises(AssertionError, match=r"failed: score: .* is worse than"):
        run_job(folder, 6)
    [failure] = ElementTree.parse(folder / "gates" / "compare.xml").getroot().iter("failure")
    assert "is worse than" in failure.get("message")
    assert (folder / "baseline" / "ngram" / "order-8").is_dir()  # the failed one was not kept
