"""Compares another revision with this one: both in turns, in separate processes, once their results are equal.

`make bench-compare REV=...`, or `pytest bench/revisions.py --rev=... --benchmark-only`. REV is a revision of this
repository, which is built into build/revisions, or a folder that holds a package `pfgen_fast`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import pfgen_fast
import pytest

from .figures import Row
from .inputs import ROOT, Inputs, Mix, evenly
from .measuring import REPORTED, Measure, agree
from .side import GROUPS

_MOST_ANSWERS = 60_000
_BUILT = ROOT / "build" / "revisions"


class Side:
    def __init__(self, package: Path, suite: Path, answers: Path, cache: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(package), "PFGEN_FAST_CACHE": str(cache)}
        command = [sys.executable, "-m", "bench.side", str(suite), str(answers)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment, **pipes)
        self.about = self._read()
        result = Path(self.about["package"]).parent.parent
        if result.resolve() != package.resolve():
            raise RuntimeError(f"the process for {package} has imported the package in {result}")

    def measure(self, what: str) -> dict[str, float]:
        """The seconds of one round, of processor time and by the clock."""
        assert self._process.stdin is not None
        print(what, file=self._process.stdin, flush=True)
        return self._read()

    def end(self) -> None:
        self._process.communicate()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a side ended with code {self._process.wait()}; see stderr")
        parsed: dict[str, Any] = json.loads(line)
        return parsed


@dataclass(frozen=True)
class Sides:
    """Both sides, and the answers that they score."""

    this: Side
    other: Side
    revision: str
    n_answers: int


@pytest.fixture(scope="module")
def sides(pytestconfig: pytest.Config, inputs: Inputs, mix: Mix) -> Iterator[Sides]:
    revision = pytestconfig.getoption("rev")
    if not revision:
        pytest.skip("no revision to compare with: --rev=...")
    folder, name = package_of(revision)
    rows = evenly(range(len(mix)), _MOST_ANSWERS)
    with tempfile.TemporaryDirectory() as scratch:
        answers = Path(scratch, "answers.json")
        mix.part(rows).write(answers)
        here = Path(pfgen_fast.__file__).parent.parent
        this = Side(here, inputs.suite, answers, Path(scratch, "this"))
        other = Side(folder, inputs.suite, answers, Path(scratch, "other"))
        for what, result in this.about["results"].items():
            agree(f"{what} of {name} and of this revision", result, other.about["results"][what])
        yield Sides(this, other, name, len(rows))
        this.end()
        other.end()


def package_of(revision: str) -> tuple[Path, str]:
    """The folder with the package of a revision, which is built if it is missing; and the revision's name."""
    if Path(revision).is_dir():
        return Path(revision).resolve(), revision
    commit = _git("rev-parse", "--verify", f"{revision}^{{commit}}")
    built = _BUILT / f"{commit}-{sys.implementation.cache_tag}"
    if not built.exists():
        _build(commit, built)
    return built, commit[:7]


def _build(commit: str, target: Path) -> None:
    """Installs a commit into a folder, with the build tools of this environment and without touching the checkout."""
    print(f"building {commit[:7]} (compiling takes minutes)", file=sys.stderr, flush=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        sources, packed, created = Path(name, "sources"), Path(name, "sources.zip"), Path(name, "made")
        _git("archive", "--format=zip", f"--output={packed}", commit)
        shutil.unpack_archive(packed, sources)
        options = (
            "--quiet",
            "--disable-pip-version-check",
            "--no-build-isolation",
            "--no-deps",
            "--target",
            str(created),
        )
        subprocess.run([sys.executable, "-m", "pip", "install", *options, str(sources)], check=True, stdout=sys.stderr)
        created.rename(target)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


@pytest.mark.benchmark(timer=REPORTED, group="against another revision")
@pytest.mark.parametrize(
    ("what", "named", "clock", "rounds"),
    [
        ("lists", "lists of str, 1 thread", "processor", 25),
        ("Arrow", "Arrow columns, 1 thread", "processor", 25),
        ("lists by two", "lists of str, 2 threads", "clock", 25),
        ("reward", "reward, one by one in order, 1 thread", "processor", 15),
        *((f"groups of {n}", f"groups of {n}, each to a random question, 1 thread", "processor", 15) for n in GROUPS),
        ("compile", "compile the suite in memory, 1 thread", "processor", 7),
    ],
    ids=["lists", "arrow", "two_threads", "reward", *(f"groups_{n}" for n in GROUPS), "compile"],
)
def test_beside(measure: Measure, sides: Sides, what: str, named: str, clock: str, rounds: int) -> None:
    """A round of each side in turns; processor time on one thread, which other load hardly changes."""

    def round_of(side: Side) -> None:
        REPORTED.add(side.measure(what)[clock])

    for side in (sides.this, sides.other):
        round_of(side)  # to warm up
    times = measure.all_times(rounds, lambda: round_of(sides.this), {sides.revision: lambda: round_of(sides.other)})
    scale, unit = (1, "s") if what == "compile" else (1e6 / sides.n_answers, "us an answer")
    named += ", by the clock" if clock == "clock" else ", processor time"
    measure.rows(*_rows(named, times, scale, unit, sides.revision))
    if what == "compile":
        n_bytes, other_side = sides.this.about["n_bytes"], sides.other.about["n_bytes"]
        smaller = f"smaller than of {sides.revision} ({other_side / 1e6:,.0f} MB)"
        measure.row("compiled file", n_bytes / 1e6, "MB", other_side / n_bytes, smaller)


def _rows(what: str, times: list[list[float]], scale: float, unit: str, revision: str) -> list[Row]:
    this_times, other_side = times
    ratios = [other / this for this, other in zip(this_times, other_side, strict=True)]
    low, _, high = quantiles(ratios, n=4) if len(ratios) > 1 else [ratios[0]] * 3
    best, middle = [min(this_times), min(other_side)], [median(this_times), median(other_side)]
    faster = f"faster than {revision}"
    spread = f"{faster}; half of the rounds {low:.2f} to {high:.2f}"
    return [
        Row(f"{what}: best of {len(ratios)}", best[0] * scale, unit, best[1] / best[0], faster),
        Row("  median", middle[0] * scale, unit, median(ratios), spread),
        Row(f"  {revision}: best", best[1] * scale, unit),
        Row(f"  {revision}: median", middle[1] * scale, unit),
    ]
