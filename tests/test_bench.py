"""The bench: its table, its comparison of revisions, and its measurements without a checkout."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pfgen_fast
import pytest
from makers.documented import ROOT

PACKAGE = Path(pfgen_fast.__file__).parent


@pytest.fixture(scope="module")
def table():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield importlib.import_module("bench.table")


def bench(folder, *arguments):
    """Runs measures quickly, without a checkout; returns what was said, and the table or None."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**own, "PFGEN_BENCH": str(folder / "nowhere"), "PYTHONPATH": str(PACKAGE.parent)}
    made = folder / "bench.json"
    options = ["--quick", "--benchmark-only", "--benchmark-quiet", f"--benchmark-json={made}"]
    command = [sys.executable, "-m", "pytest", *options, f"--basetemp={folder / 'scratch'}", *arguments]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    return run, json.loads(made.read_text(encoding="utf-8")) if made.exists() and made.stat().st_size else None


@pytest.mark.slow
def test_without_a_checkout_the_packaged_suite_is_measured(table, tmp_path):
    run, measured = bench(tmp_path, "bench/bench_scoring.py", "-k", "reward")
    assert run.returncode == 0, run.stdout
    assert "Measured on the packaged suite mini" in run.stdout
    whats = [row.what for row in table.rows_of(measured)]
    assert "reward of one answer, the mix in its order" in whats
    assert "the packaged suite mini and 4 runs of the n-gram engine" in table.table(measured)[2]
    assert all(one["stats"]["rounds"] == 1 for one in measured["benchmarks"])
