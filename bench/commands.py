"""What a user waits for: scoring whole runs from files to files, the import, and the help."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

from pfgen_fast import Suite
from pfgen_fast.native.threads import default_threads
from pfgen_fast.runs.result import read_result
from pfgen_fast.runs.run_scorer import Outcome, RunScorer
from pfgen_fast.runs.trials import find_runs

from . import parse_runs
from .agreement import agree
from .parse_runs import parse_all
from .published import Mix
from .table import Bound, Row
from .timing import take_turns

_COMMAND = str(Path(sys.executable).with_name("pfgen-fast"))
_ROUNDS = 9
_IMPORT = "import numpy, time; begin = time.perf_counter(); import pfgen_fast; print(time.perf_counter() - begin)"


def score_runs(suite: Suite, folders: list[Path], mix: Mix, scratch: Path) -> list[Row]:
    """Times the command and the library in turns with decompressing and parsing the same files, on equal threads."""
    by_command, by_library = scratch / "by_command", scratch / "by_library"
    runs, threads = find_runs(folders), default_threads()
    scorer = RunScorer(suite=suite, output=by_library, force=True, threads=threads)
    options = ["--force", "--float-sum", "compensated", "--output", str(by_command)]
    command = [_COMMAND, "score", *map(str, folders), *options]
    # With a pipe for stderr, no progress bar is drawn.
    run_command = partial(subprocess.run, command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    parse_command = [sys.executable, parse_runs.__file__, str(threads), *map(str, folders)]
    agree("number of trials", parse_all(folders, threads), len(mix))
    agree("number of trials", int(subprocess.check_output(parse_command)), len(mix))
    run_command()
    for outcome in scorer.score(runs):
        _check(outcome, by_command / outcome.path.relative_to(by_library))
    floor, floor_from_start, from_start, in_process = take_turns(
        _ROUNDS,
        partial(parse_all, folders, threads),
        partial(subprocess.run, parse_command, stdout=subprocess.DEVNULL, check=True),
        run_command,
        lambda: list(scorer.score(runs)),
    )
    floor_name = f"floor: decompress + parse {len(runs)} runs, {threads} threads"
    to = "decompress + parse"
    program = f"{to}, a program too"
    return [
        Row(floor_name, floor, "s"),
        Row("  the same", len(mix) / floor, "answers/s"),
        Row("  the same as a program, from process start to last byte", floor_from_start, "s"),
        Row(
            f"pfgen-fast score, {len(runs)} runs, from process start to last byte",
            from_start,
            "s",
            from_start / floor_from_start,
            program,
            must=Bound("ratio", "<=", 2),
        ),
        Row("  beside a process that runs already", from_start, "s", from_start / floor, to),
        Row(
            "the same runs, index in memory, in process",
            in_process,
            "s",
            in_process / floor,
            to,
            must=Bound("ratio", "<=", 3),
        ),
    ]


def _check(outcome: Outcome, by_command: Path) -> None:
    """Checks that command and library write the same results, and that the scores are the published ones."""
    recorded = read_result(outcome.run.folder / "result.json")
    agree(f"{outcome.run.folder.name}: score", outcome.summary.score if outcome.summary else None, recorded.score)
    agree(f"{outcome.run.folder.name}: result.json", by_command.read_bytes(), outcome.path.read_bytes())


def start() -> list[Row]:
    """Times new processes; the fastest of several counts."""
    imports = [float(subprocess.check_output([sys.executable, "-c", _IMPORT])) for _ in range(15)]
    (showing_help,) = take_turns(10, partial(subprocess.run, [_COMMAND, "--help"], stdout=subprocess.DEVNULL))
    return [
        Row("import pfgen_fast after numpy", min(imports) * 1e3, "ms", must=Bound("value", "<=", 20)),
        Row("pfgen-fast --help", showing_help * 1e3, "ms", must=Bound("value", "<=", 150)),
    ]
