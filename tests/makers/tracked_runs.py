"""Scored runs, as they are logged to trackers."""

from __future__ import annotations

from pathlib import Path

from pfgen_fast import Suite
from pfgen_fast.runs.run_scorer import Outcome, RunScorer
from pfgen_fast.runs.trials import find_runs

from .runs import make_run, trial_lines


def scored_run(folder: Path, suite: Suite, model: str = "org/model", n_trials: int = 3, first: int = 0) -> Outcome:
    """A run with reference answers, its result.json and the outcome of scoring it."""
    make_run(folder, trial_lines(suite, n_trials, first), {"model": model, "mode": "qa", "temperature": 1.0})
    (outcome,) = RunScorer(suite=suite, force=True).score(find_runs([folder]))
    assert outcome.error is None
    return outcome
