"""Scores many runs side by side: finds the suite of each, skips what is current, keeps going where one fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from .errors import PfgenError, SuiteError
from .files import input_hash
from .index import Profile, default_threads
from .results import Result, evaluate, is_current, read_result, write_result
from .scoring import FloatSum, Scorer
from .suite import Suite
from .trials import RunFolder, pack_trials

Status = Literal["scored", "current", "failed", "pending"]


@dataclass(frozen=True)
class Outcome:
    """What became of one run.

    Attributes:
        run: The run.
        status: `"scored"`; `"current"` (its result was up to date); `"failed"`; `"pending"` (only with `dry_run`).
        path: Where its result is, or would be.
        summary: The result without its questions; None where there is none.
        error: Why it failed, in one sentence.
    """

    run: RunFolder
    status: Status
    path: Path
    summary: Result | None = None
    error: str | None = None


@dataclass(frozen=True)
class RunScorer:
    """How runs are scored.

    Attributes:
        suite: The suite of all runs; None takes that of the checkout each run lies in.
        profile: See `Scorer`.
        float_sum: See `Scorer`.
        force: Score also what is up to date.
        output: Write results below this folder and leave the runs' own folders untouched.
        dry_run: Only say what would be done.
        threads: How many threads work; by default one for each core.
    """

    suite: Suite | None = None
    profile: Profile = "leaderboard"
    float_sum: FloatSum = "compensated"
    force: bool = False
    output: Path | None = None
    dry_run: bool = False
    threads: int | None = None

    def score(self, runs: Sequence[RunFolder]) -> Iterator[Outcome]:
        """Scores the runs and yields their outcomes in the order given; one that fails does not stop the others.

        Raises:
            SuiteError: There is no suite, or it does not follow the rules; then nothing is scored.
        """
        suites = {run.folder: self.suite_of(run) for run in runs}
        threads = default_threads() if self.threads is None else self.threads
        # Many runs share the threads among them; one run has them all to itself.
        threads_per_run = 1 if len(runs) >= threads else threads

        @cache
        def scorer_of(suite: Suite) -> Scorer:
            return Scorer(suite, profile=self.profile, float_sum=self.float_sum, threads=threads_per_run)

        def work(run: RunFolder) -> Outcome:
            try:
                return self._score_one(run, suites[run.folder], scorer_of)
            except (PfgenError, OSError, MemoryError) as error:
                reason = str(error) or f"{run.folder}: out of memory"
                return Outcome(run, "failed", self.result_path(run), error=reason)

        with ThreadPoolExecutor(threads) as pool:
            futures: list[Future[Outcome]] = []
            try:
                futures.extend(pool.submit(work, run) for run in runs)
                for future in futures:
                    yield future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _score_one(self, run: RunFolder, suite: Suite, scorer_of: Any) -> Outcome:
        path = self.result_path(run)
        config = run.config()
        if run.trials_path is not None and not self.force and self._is_usual and path.exists():
            recorded = _readable_result(path)
            if recorded and is_current(recorded, input_hash(run.trials_path), suite.metadata_hash, config):
                return Outcome(run, "current", path, _summary(recorded))
        if self.dry_run:
            return Outcome(run, "pending", path)
        if run.trials_path is None:
            run = pack_trials(run, self.output and path.parent)
        result = evaluate(run, scorer_of(suite))
        write_result(path, result)
        return Outcome(run, "scored", path, _summary(result))

    @property
    def _is_usual(self) -> bool:
        """Results do not tell their profile and float sum, so only the usual ones can be known to be current."""
        return self.profile == "leaderboard" and self.float_sum == "compensated"

    def suite_of(self, run: RunFolder) -> Suite:
        """The suite a run belongs to."""
        if self.suite is not None:
            return self.suite
        root = checkout_of(run.folder)
        if root is None:
            raise SuiteError(
                f"{run.folder}: no suite given, and the run lies in no checkout with a data/ folder of Q*.json files"
            )
        return _load(root / "data")

    def result_path(self, run: RunFolder) -> Path:
        """Where the result of a run is written: beside it, or at its place below `output`."""
        if self.output is None:
            return run.folder / "result.json"
        folder = run.folder.resolve()
        root = checkout_of(run.folder) or Path.cwd()
        inside = folder.relative_to(root) if folder.is_relative_to(root) else folder.relative_to(folder.anchor)
        return self.output / inside / "result.json"


@lru_cache(maxsize=8)
def _load(folder: Path) -> Suite:
    return Suite.load(folder)


def checkout_of(folder: Path) -> Path | None:
    """The nearest folder above a run that holds a suite in `data/`, as a checkout of pfgen-bench does."""
    for parent in folder.resolve().parents:
        if any((parent / "data").glob("Q*.json")):
            return parent
    return None


def _readable_result(path: Path) -> Result | None:
    """The recorded result; None if it is damaged, which is as good as none."""
    try:
        return read_result(path)
    except PfgenError:
        return None


def _summary(result: Result) -> Result:
    return {key: value for key, value in result.items() if key != "questions"}
