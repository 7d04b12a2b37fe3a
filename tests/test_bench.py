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

PICTURES = ("cost_against_work", "throughput_against_threads")


@pytest.fixture(scope="module")
def table():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield importlib.import_module("bench.table")


def row(what, value, **others):
    empty = {"ratio": None, "to": "", "note": ""}
    return {"what": what, "value": value, "unit": "s", **empty, **others}


def saved(*rows, published=True, quick=False):
    return {
        "machine_info": {"pfgen_fast": {"pfgen-fast": "1", "cores": "2"}},
        "pfgen_fast": {"inputs": "made runs", "published": published, "quick": quick},
        "benchmarks": [{"extra_info": {"rows": [each]}} for each in rows] + [{"extra_info": {}}],
    }


@pytest.mark.slow
def test_only_the_table_in_the_readme_is_replaced(table, tmp_path):
    (tmp_path / "README.md").write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n", encoding="utf-8")
    (tmp_path / "pictures").mkdir()
    growth = {"of": "scoring", "work": "answers", "exponent": 1.0, "seconds": {"10": 0.1, "100": 1.0}}
    measured = saved(row("fast", 1.0))
    rates = {"lists of str": {"1": 100.0, "2": 190.0}}
    info = {"growth": growth, "answers_per_second_by_threads": rates}
    measured["benchmarks"].append({"stats": {"min": 0.1}, "extra_info": info})
    rounds = {"stats": {"min": 0.1, "data": [0.1, 0.2]}, "extra_info": {**info, "in_turns_with": {"other": [0.3]}}}
    table.write({**measured, "benchmarks": [*measured["benchmarks"][:-1], rounds]}, tmp_path)
    lines = (tmp_path / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines == ["before", table.BEGIN, "", *table.table(measured), "", table.END, "after"]
    assert json.loads((tmp_path / "results.json").read_text(encoding="utf-8")) == measured  # without single times
    drawn = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert drawn == {f"{name}.svg" for name in PICTURES}


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
