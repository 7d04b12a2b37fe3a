"""Work for tests of kills: each function changes files below the folder that it is given, and nothing else."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from makers import checklists_to_judge
from makers.programs import LENGTHS, command_of, scored
from pfgen_fast import ScorerSpec, Suite
from pfgen_fast.checklists.judging.ask_runs import Judging
from pfgen_fast.checklists.judging.requests import JudgeOptions
from pfgen_fast.checklists.runs import open_runs
from pfgen_fast.evaluators.command import CommandEvaluator
from pfgen_fast.experiments import judge as experiment
from pfgen_fast.files.writing import write_whole
from pfgen_fast.judging.requests import Server
from pfgen_fast.refset.config import read_config
from pfgen_fast.refset.pipeline import build
from pfgen_fast.report.findings import write_finding
from pfgen_fast.tables.folders import records, scoring

SLOW_IMPORTS = {"judge": ("scipy.stats",)}
"""By function, what it imports that takes long: imported once, before the processes fork that do the work."""


def build_suite(folder: Path) -> None:
    """Builds the suite of the config in the folder."""
    built = build(read_config(folder / "config.toml"), threads=1)
    assert built.is_written, built.problems


def judge(folder: Path, suite: str, runs: str, base_url: str = "") -> None:
    """Rates the answers of runs, one after another, and writes the finding; without an address from kept replies."""
    server = Server(base_url, concurrency=1) if base_url else None
    options = experiment.JudgeOptions("j", server=server, cache=folder / "out" / "judge-ratings.jsonl")
    finding = experiment.judge([runs], options, suite=Suite.load(suite), threads=1)
    write_finding(replace(finding, pictures=()), folder / "out")  # pictures are files like others, but take long


def judge_by_checklists(folder: Path, base_url: str = "") -> None:
    """Judges the answers of the runs in the folder; without an address by kept replies."""
    judging = Judging.open(open_runs([folder]), checklists_to_judge.suite(), JudgeOptions("judge-2024-08-06"))
    if base_url:
        judging.ask(Server(base_url, concurrency=1, backoff=0.001).engine)
    judging.write()


def score_by_command(folder: Path) -> None:
    """Scores three texts by a program, keeps the scores, and writes all of them."""
    (folder / "scores").mkdir(exist_ok=True)
    evaluator = CommandEvaluator(command_of(LENGTHS), cache=folder / "scores.jsonl")
    write_whole(folder / "scores" / "all.json", json.dumps(scored(evaluator, ["one", "three", "seven"])).encode())


def score_a_folder(folder: Path) -> None:
    """Scores the tables in the folder into another folder; records name them relative to the folder, which is moved."""
    scoring.recorded_name = records.recorded_name = lambda source: os.path.relpath(source, folder)
    outcomes = scoring.score_files([folder / "in"], folder / "out", ScorerSpec("mini", threads=1))
    assert all(outcome.error is None for outcome in outcomes), outcomes
