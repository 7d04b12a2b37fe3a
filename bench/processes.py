"""Measurements in a separate process: compiling and opening a suite, building a reference set, discernment.

`python -m bench.processes NAME ARGUMENT...` prints what it has found as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np  # noqa: F401 - what scores import when they first need it is in no measure here
from pfgen_fast import Scorer, Suite

from .inputs import ROOT
from .parse_runs import parse_trials

CACHE = "PFGEN_FAST_CACHE"
Work = Callable[[], object]
Clock = Callable[[], float]
_UNPICKLED = 3
_SCORED = 5


def in_a_new_process(name: str, *arguments: object, cache: Path | str | None = None) -> Any:
    """The result of a function of this module in a new process, optionally with another cache folder."""
    environment = os.environ if cache is None else {**os.environ, CACHE: str(cache)}
    command = [sys.executable, "-m", "bench.processes", name, *map(str, arguments)]
    return json.loads(subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True).stdout)


def seconds(work: Work, clock: Clock = time.perf_counter) -> float:
    begin = clock()
    work()
    return clock() - begin


def compile_suite(folder: str, threads: str) -> float:
    suite = Suite.load(folder)
    for question in suite:
        len(question.answers)  # a suite may read its files lazily, and reading is not part of compiling
    return seconds(lambda: Scorer(suite, threads=int(threads)))


def open_suite(folder: str, answers: str) -> dict[str, Any]:
    """Opens a compiled suite, rewards an answer to each question, then all references, which use the whole index."""
    suites: list[Suite] = []
    scorers: list[Scorer] = []
    rewards = hashlib.sha1()
    with open(answers, encoding="utf-8") as file:
        first = json.loads(next(file))
        resident_before = memory("VmRSS")
        load_seconds = seconds(lambda: suites.append(Suite.load(folder)))
        open_seconds = seconds(lambda: scorers.append(Scorer(suites[0])))
        scorer = scorers[0]
        first_seconds = [seconds(partial(scorer.reward, question, [answer])) for question, answer in first]
        for line in file:
            rewards.update(scorer.reward(*json.loads(line)).tobytes())
    sent = pickle.dumps(scorer)
    return {
        "load_seconds": load_seconds,
        "open_seconds": open_seconds,
        "unpickle_seconds": min(seconds(lambda: pickle.loads(sent)) for _ in range(_UNPICKLED)),
        "first_seconds": first_seconds,
        "resident_bytes": memory("VmRSS") - resident_before,
        "rewards": rewards.hexdigest(),
    }


def score_runs(folder: str, *runs: str) -> float:
    """The processor time of scoring all answers of runs that are in memory, on one thread."""
    scorer = Scorer(Suite.load(folder), threads=1)
    trials = [trial for run in runs for trial in parse_trials(Path(run))]
    questions, answers = [trial["question"] for trial in trials], [trial["answer"] for trial in trials]
    scorer.score(questions, answers)  # opens the index
    return min(seconds(partial(scorer.score, questions, answers), time.process_time) for _ in range(_SCORED))


def find_rare(folder: str, question: str, n_answers: str) -> dict[str, float]:
    """Finds the rare n-grams of answers of the n-gram engine, on several threads as on one."""
    from pfgen_fast import NgramSampler
    from pfgen_fast.build.selection import find_rare_ngrams

    answers = NgramSampler(Path(folder)).sample(question, range(int(n_answers)))
    few = answers[: len(answers) // 10]
    if find_rare_ngrams(few, threads=1).first.tolist() != find_rare_ngrams(few).first.tolist():
        raise AssertionError("rare n-grams: several threads find others than one")
    taken = seconds(lambda: find_rare_ngrams(answers))
    return {"n_code_points": sum(map(len, answers)), "seconds": taken, "n_bytes": memory("VmHWM")}


def build_stages(config: str, threads: str, *stages: str) -> dict[str, Any]:
    from pfgen_fast import build_suite
    from pfgen_fast.build.build_config import read_config

    read = read_config(Path(config))
    taken = {stage: seconds(partial(build_suite, read, stage=stage, threads=int(threads))) for stage in stages}
    return {"seconds": taken, "cpu": time.process_time(), "n_bytes": memory("VmHWM")}


def memory(key: str, process: int | str = "self") -> int:
    """Memory of a process in bytes: VmRSS is what it has now, VmHWM the most it had.

    Where the system does not say, it is the most of this process by `getrusage`, which on Linux starts with the parent.
    """
    status = Path(f"/proc/{process}/status")
    message = status.read_text(encoding="utf-8") if status.exists() else ""
    if match := re.search(rf"^{key}:\s+(\d+) kB$", message, re.MULTILINE):
        return int(match[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
