"""Runs of the packaged suite, for tests of files and commands."""

import gzip
import json
import lzma
import shutil
from pathlib import Path
from typing import Any

import zstandard
from pfgen_fast import Suite
from pfgen_fast.runs.leaderboard import find_results
from pfgen_fast.suite.suite_reading import PACKAGED

PACKERS = {
    "trials.jsonl": bytes,
    "trials.jsonl.xz": lambda content: lzma.compress(content, preset=1),
    "trials.jsonl.gz": gzip.compress,
    "trials.jsonl.zst": zstandard.compress,
}
"""How trials are packed, by the name of their file."""


def trial_lines(suite: Suite, n_trials: int = 2, first: int = 0) -> list[str]:
    """Trials whose answers are reference answers of the suite."""
    return [
        json.dumps({"question": question.question, "answer": question.answers["A"][first + k], "timestamp": k})
        for k in range(n_trials)
        for question in suite
    ]


def make_run(folder: Path, lines: list[str], config: dict[str, Any] | None = None) -> Path:
    """Makes a run folder with a plain trials.jsonl."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trials.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def make_varied_runs(folder: Path, suite: Suite, n_runs: int = 6, n_trials: int = 3) -> Path:
    """Makes runs from good to bad below a folder, with ever shorter prefixes of reference answers."""
    for run in range(n_runs):
        lines = []
        for k in range(n_trials):
            for number, question in enumerate(suite):
                answer = question.answers["A"][10 * run + k]
                length = len(answer) * (n_runs - run) // n_runs + (7 * k + 3 * number) % 5
                lines.append(json.dumps({"question": question.question, "answer": answer[:length]}))
        make_run(folder / f"org/model-{run}/abc", lines, {"model": f"org/model-{run}", "mode": "qa"})
    return folder


def files_below(folder: Path) -> dict[str, bytes]:
    """The content of every file below a folder, hidden ones too, by its relative path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def answers_by_trial(folder: Path) -> dict[int, list[str]]:
    """The answers in the files of single trials in a run's folder, by the number of the trial."""
    return {
        int(path.stem.removeprefix("trial_")): [
            json.loads(line)["answer"] for line in path.read_text(encoding="utf-8").splitlines()
        ]
        for path in sorted(folder.glob("trial_*.jsonl"))
    }


def write_small_suite(folder: Path, n_answers: int = 30) -> Path:
    """Writes the packaged suite with few reference answers, because the oracle is slow."""
    shutil.copytree(PACKAGED / "mini", folder)
    for path in folder.glob("Q*.json"):
        question = json.loads(path.read_text(encoding="utf-8"))
        fewer = {name: answers[:n_answers] for name, answers in question["answers"].items()}
        path.write_text(json.dumps({**question, "answers": fewer}), encoding="utf-8")
    return folder


def results_as_lines(folder: Path) -> list[str]:
    """The results below a folder as lines of a table, named `run 0`, `run 1`, ..."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in find_results([folder])]
    return [json.dumps({**result, "run": f"run {number}"}) + "\n" for number, result in enumerate(results)]
