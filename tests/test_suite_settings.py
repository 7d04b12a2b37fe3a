"""The settings of the tests: warnings fail a test, except for warnings of test tools."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from makers.documented import ROOT

WARNINGS = """
import threading, warnings
import hypothesis, pytest

def test_passes_a_large_repr():
    warnings.warn("a large repr", hypothesis.errors.HypothesisWarning)

def test_passes_an_old_name_of_hypothesis():
    warnings.warn("an old name", hypothesis.errors.HypothesisDeprecationWarning)

def test_passes_an_old_name_of_pytest():
    warnings.warn("an old name", pytest.PytestDeprecationWarning)

def test_passes_an_old_name_that_a_test_tool_uses():
    warnings.warn_explicit("an old name", DeprecationWarning, "x.py", 1, module="xdist.remote")

def test_fails_our_own():
    warnings.warn("an old name", DeprecationWarning)

def test_fails_that_of_another_package():
    warnings.warn_explicit("an old name", DeprecationWarning, "x.py", 1, module="numpy.core")

def test_fails_a_thread():
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
"""


@pytest.mark.slow
def test_warnings_fail_unless_they_are_of_a_test_tool(tmp_path):
    (tmp_path / "test_it.py").write_text(WARNINGS)
    configured = ["-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, "-p", "no:cacheprovider", "-n", "0"]
    command = [sys.executable, "-m", "pytest", "-v", *configured, tmp_path / "test_it.py"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    outcomes = dict(re.findall(r"::(test_\w+) (PASSED|FAILED)", run.stdout))
    assert len(outcomes) == 7, run.stdout
    assert all(outcome == ("PASSED" if "passes" in name else "FAILED") for name, outcome in outcomes.items()), outcomes
