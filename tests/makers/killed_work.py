"""Work for tests of kills: each function changes files below the folder that it is given, and nothing else."""

from __future__ import annotations

from pathlib import Path

from makers import checklists_to_judge
from pfgen_fast import PfgenError, ScorerSpec
from pfgen_fast.checklists.judging.ask_runs import Judging
from pfgen_fast.checklists.judging.requests import JudgeOptions
from pfgen_fast.checklists.runs import open_runs
from pfgen_fast.judging.requests import Server
from pfgen_fast.refset.config import read_config
from pfgen_fast.refset.pipeline import build
from pfgen_fast.tables.folders import score_files
from pfgen_fast.tables.table_job import TableJob


def build_suite(folder: Path) -> None:
    """Builds the suite of the config in the folder."""
    built = build(read_config(folder / "config.toml"), threads=1)
    assert built.is_written, built.problems


def judge_by_checklists(folder: Path, base_url: str = "") -> None:
    """Judges the answers of the runs in the folder; without an address by kept replies."""
    judging = Judging.open(open_runs([folder]), checklists_to_judge.suite(), JudgeOptions("judge-2024-08-06"))
    if base_url:
        judging.ask(Server(base_url, concurrency=1, backoff=0.001).engine)
    judging.write()


def score_a_folder(folder: Path) -> None:
    """Scores the tables in the folder into another folder, also if that has scores of other settings."""
    try:
        outcomes = score_files([folder / "in"], folder / "out", TableJob(ScorerSpec("mini", threads=1)))
    except PfgenError:
        outcomes = score_files([folder / "in"], folder / "out", TableJob(ScorerSpec("mini", threads=1)), again=True)
    assert all(outcome.error is None for outcome in outcomes), outcomes
