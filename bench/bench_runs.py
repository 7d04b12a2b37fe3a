"""Scoring of whole runs from files to files, the import, and the help."""

from __future__ import annotations

import json
import multiprocessing
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from pfgen_fast import Suite
from pfgen_fast.base.native import default_threads
from pfgen_fast.runs.run_result import read_result
from pfgen_fast.runs.run_scorer import Outcome, RunScorer
from pfgen_fast.runs.trials import find_runs

from . import parse_runs
from .inputs import Inputs, Mix
from .measuring import REPORTED, Measure, agree
from .parse_runs import count_trials, parse_all, parse_trials
from .processes import in_a_new_process

_COMMAND = str(Path(sys.executable).with_name("pfgen-fast"))
_IMPORT = "import numpy, time; begin = time.perf_counter(); import pfgen_fast; print(time.perf_counter() - begin)"
_MANY = 100
_TO = "decompress + parse"


def processor_time() -> float:
    """The processor time of all ended child processes and their children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def score_command(
    inputs: Inputs, folders: Sequence[Path], output: Path, float_sum: str = "compensated"
) -> partial[object]:
    """Calls the command; with a pipe for stderr, it draws no progress bar."""
    options = ["--suite", str(inputs.suite), "--force", "--float-sum", float_sum, "--output", str(output)]
    command = [_COMMAND, "score", *map(str, folders), *options]
    return partial(subprocess.run, command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)


def floor_command(folders: Sequence[Path], threads: int) -> list[str]:
    return [sys.executable, parse_runs.__file__, str(threads), *map(str, folders)]


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(default_threads(), multiprocessing.get_context("spawn")) as running:
        yield running


@pytest.mark.benchmark(group="runs")
def test_some_runs(
    measure: Measure, inputs: Inputs, suite: Suite, mix: Mix, scratch: Path, pool: ProcessPoolExecutor
) -> None:
    """Command and library in turns with decompressing and parsing the same files, with the same number of threads."""
    folders, threads = inputs.runs, default_threads()
    by_command, by_library = scratch / "by_command", scratch / "by_library"
    scorer = RunScorer(suite=suite, output=by_library, force=True, threads=threads)
    runs, run_command = find_runs(folders), score_command(inputs, folders, by_command)
    parse_command = floor_command(folders, threads)
    agree("number of trials", parse_all(folders, threads), len(mix))
    agree("number of trials", int(subprocess.check_output(parse_command)), len(mix))
    agree("number of trials", sum(pool.map(count_trials, folders)), len(mix))
    run_command()
    for outcome in scorer.score(runs):
        _check(outcome, by_command / outcome.path.relative_to(by_library), published=inputs.published)
    from_start, in_process, floor, pooled, program = measure.times(
        9,
        run_command,
        {
            "library": lambda: list(scorer.score(runs)),
            "threads": partial(parse_all, folders, threads),
            "processes": lambda: list(pool.map(count_trials, folders)),
            "program": partial(subprocess.run, parse_command, stdout=subprocess.DEVNULL, check=True),
        },
    )
    score = f"pfgen-fast score, {len(runs)} runs, from process start to last byte"
    library = f"RunScorer, {len(runs)} runs, index in memory, in a running process"
    measure.row(f"floor: decompress + parse {len(runs)} runs, {threads} threads", floor, "s")
    measure.row("  in answers per second", len(mix) / floor, "answers/s")
    measure.row("  in a running process pool", pooled, "s")
    measure.row("  in a new process, from process start to last byte", program, "s")
    measure.row(score, from_start, "s", from_start / program, f"{_TO} in a new process")
    measure.row("  compared with a running process pool", from_start, "s", from_start / pooled, f"{_TO} in such a pool")
    measure.row(
        "  compared with threads of a running process", from_start, "s", from_start / floor, f"{_TO} in threads"
    )
    measure.row(library, in_process, "s", in_process / floor, f"{_TO} in threads")


@pytest.mark.benchmark(group="runs", timer=processor_time)
def test_all_runs(measure: Measure, inputs: Inputs, suite: Suite, scratch: Path) -> None:
    """The processor time of the command, compared with decompressing and parsing the same files."""
    folders, output = inputs.all_runs, scratch / "all_runs"
    run_command, parse_command = score_command(inputs, folders, output), floor_command(folders, default_threads())
    run_command()
    if inputs.published:
        recorded = sorted(read_result(folder / "result.json").score for folder in folders)
        agree("scores", sorted(read_result(path).score for path in output.rglob("result.json")), recorded)
    n_answers = int(subprocess.check_output(parse_command))
    rounds = 2 if len(folders) > _MANY else 9
    scoring = in_a_new_process("score_runs", inputs.suite, *folders)
    taken, floor, automatic = measure.times(
        rounds,
        run_command,
        {
            "program": partial(subprocess.check_output, parse_command),
            "auto": score_command(inputs, folders, scratch / "auto", "auto"),
        },
    )
    what = f"all {len(folders)} runs, {n_answers:,} answers: processor time"
    measure.row(f"{what} of a program that decompresses and parses", floor, "s")
    measure.row("  scoring in memory, 1 thread", scoring, "s")
    measure.row(f"{what} of pfgen-fast score", taken, "s", taken / floor, _TO)
    compared = "  compared with decompressing, parsing and scoring"
    measure.row(compared, None, ratio=taken / (floor + scoring), to="the sum of both", note="-")
    measure.row("  with --float-sum auto", automatic, "s", automatic / taken, "--float-sum compensated")


@pytest.mark.benchmark(group="runs", timer=processor_time)
def test_small_runs(measure: Measure, inputs: Inputs, scratch: Path) -> None:
    """The processor time of the command for few answers, most of which goes into starting."""
    folders = [_beginning(run, n, scratch / f"small_{n}") for n, run in enumerate(inputs.runs[:2], start=1)]
    run_command = score_command(inputs, folders, scratch / "small")
    run_command()
    n_answers = sum(map(count_trials, folders))
    measure.row(f"pfgen-fast score, 2 runs, {n_answers} answers: processor time", measure.seconds(15, run_command), "s")


def _beginning(run: Path, n: int, folder: Path) -> Path:
    """A run with the first n trials of each question of another."""
    kept: dict[str, list[str]] = {}
    for trial in parse_trials(run):
        kept_lines = kept.setdefault(trial["question"], [])
        if len(kept_lines) < n:
            kept_lines.append(json.dumps(trial))
    folder.mkdir()
    lines = [line for question_lines in kept.values() for line in question_lines]
    (folder / "trials.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def _check(outcome: Outcome, by_command: Path, *, published: bool) -> None:
    """Checks that command and library write the same results, with the published scores."""
    agree(f"{outcome.run.folder.name}: result.json", by_command.read_bytes(), outcome.path.read_bytes())
    if published:
        recorded = read_result(outcome.run.folder / "result.json")
        agree(f"{outcome.run.folder.name}: score", outcome.summary and outcome.summary.score, recorded.score)


@pytest.mark.benchmark(group="start", timer=REPORTED)
def test_import(measure: Measure) -> None:
    """In new processes, which have imported NumPy."""
    fresh = [sys.executable, "-c", _IMPORT]
    taken = measure.seconds(15, lambda: REPORTED.add(float(subprocess.check_output(fresh))))
    measure.row("import pfgen_fast after numpy", taken * 1e3, "ms")


@pytest.mark.benchmark(group="start")
def test_help(measure: Measure) -> None:
    taken = measure.seconds(10, partial(subprocess.run, [_COMMAND, "--help"], stdout=subprocess.DEVNULL, check=True))
    measure.row("pfgen-fast --help", taken * 1e3, "ms")
