"""Leaderboards as CSV files, made as the command makes them, and tables of results."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from pfgen_fast import Suite
from pfgen_fast.runs.leaderboard import find_results, rank, to_csv
from pfgen_fast.runs.run_scorer import RunScorer
from pfgen_fast.runs.trials import find_runs


def write_leaderboard(folder: Path, runs: Path, suite: Suite) -> Path:
    """Scores a copy of the runs below a folder and writes `leaderboard.csv` there."""
    copy = folder / "scored"
    if not copy.exists():
        shutil.copytree(runs, copy)
        assert all(outcome.status == "scored" for outcome in RunScorer(suite=suite).score(find_runs([copy])))
    path = folder / "leaderboard.csv"
    path.write_text(to_csv(rank(find_results([copy]))), encoding="utf-8")
    return path


def results_as_lines(folder: Path) -> list[str]:
    """The results below a folder as lines of a table, named `run 0`, `run 1`, ..."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in find_results([folder])]
    return [json.dumps({**result, "run": f"run {number}"}) + "\n" for number, result in enumerate(results)]
