"""Scores many runs in parallel: finds the suite of each, skips current results, and continues after failures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..errors import PatternTimeout, PfgenError, TrialsError
from ..files.reading import file_sha1
from ..native import _core
from ..native.threads import checked_threads
from ..suite.pattern_time import PATTERN_SECONDS, pattern_time_limit
from .checkout import checkout_of, suite_of
from .trials import RunFolder, Trials, pack_trials

if TYPE_CHECKING:  # All but trials is imported on demand, while the first trials are already being read.
    from ..scoring.score_table import ScoreTable
    from ..scoring.scorer import Scorer
    from ..suite.rules import FloatSum, Profile
    from ..suite.suite import Suite
    from .result import RunSummary

T = TypeVar("T")

_BATCH_BYTES = 3 << 20
"""The size of stored trials that are scored together; as much again is read ahead."""

Status = Literal["scored", "current", "failed", "pending"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of scoring one run.

    Attributes:
        run: The run.
        status: `"scored"`; `"current"` (its result was up to date); `"failed"`; `"pending"` (only with `dry_run`).
        path: The path of its result, whether or not it exists.
        summary: The result without its questions; None if there is no result.
        error: The reason for a failure, in one sentence.
        suite: The suite of the run; None if it failed.
        signature: What made the scores (see `Scorer.signature`); None if they were not made now, for a result.json
            records none.
    """

    run: RunFolder
    status: Status
    path: Path
    summary: RunSummary | None = None
    error: str | None = None
    suite: Suite | None = None
    signature: str | None = None


@dataclass(frozen=True)
class ReadRun:
    """A run with its trials, ready to be scored."""

    run: RunFolder
    suite: Suite
    path: Path
    config: dict[str, Any] | None
    trials: Trials


@dataclass(frozen=True)
class RunScorer:
    """Scores runs, with these settings.

    Attributes:
        suite: The suite of all runs; None uses the suite of each run's checkout.
        profile: See `Scorer`.
        float_sum: See `Scorer`.
        force: Whether to score runs whose results are up to date.
        output: A folder below which results are written, so that the runs' own folders stay unchanged.
        dry_run: Whether to only report what would be done.
        threads: The number of threads; by default one for each core.
        pattern_seconds: How long the search of one pattern in one answer may take; a run that exceeds it fails (see
            `pattern_time_limit`).
    """

    suite: Suite | None = None
    profile: Profile = "leaderboard"
    float_sum: FloatSum = "compensated"
    force: bool = False
    output: Path | None = None
    dry_run: bool = False
    threads: int | None = None
    pattern_seconds: float = PATTERN_SECONDS

    def score(self, runs: Sequence[RunFolder]) -> Iterator[Outcome]:
        """Scores the runs and yields their outcomes in the given order; a failure does not stop the others.

        Raises:
            SuiteError: A run has no suite, or a suite breaks the rules; then nothing is scored.
        """
        threads = checked_threads(self.threads)
        stop = _Stop()

        def read(batch: Sequence[RunFolder]) -> list[Future[ReadRun | Outcome]]:
            # Largest first, so that no thread starts a large run while the others run out of work.
            largest_first = sorted(batch, key=_stored_bytes, reverse=True)
            futures = {run: pool.submit(self._read_guarded, run, stop) for run in largest_first}
            return [futures[run] for run in batch]

        with ThreadPoolExecutor(threads) as pool:
            try:
                batches = _batches(runs)
                ahead = read(next(batches, []))
                self._check_suites(runs)
                from ..scoring.scorer import Scorer

                @cache
                def scorer_of(suite: Suite) -> Scorer:
                    return Scorer(suite, profile=self.profile, float_sum=self.float_sum, threads=threads)

                behind: list[Future[Outcome]] = []
                for batch in (*batches, [], []):
                    # While a batch is scored, the next one is read and the results of the previous one are written.
                    current, ahead = ahead, read(batch)
                    scored = self._score_batch(list(_results(current, scorer_of)), scorer_of)
                    finished, behind = behind, [pool.submit(self._finish_guarded, item) for item in scored]
                    yield from (future.result() for future in finished)
            finally:
                stop.now()
                pool.shutdown(cancel_futures=True)

    def read(self, runs: Sequence[RunFolder]) -> Iterator[list[ReadRun | Outcome]]:
        """Yields batches of runs with their trials, and reads the next batch while the caller works.

        For callers that score in other ways. Nothing is written except packed trials for runs without them. A run
        that cannot be read is yielded as its failed outcome.
        """
        everything = replace(self, force=True, dry_run=False)
        self._check_suites(runs)
        stop = _Stop()
        with ThreadPoolExecutor(checked_threads(self.threads)) as pool:
            try:
                ahead: list[Future[ReadRun | Outcome]] = []
                for batch in (*_batches(runs), []):
                    current, ahead = ahead, [pool.submit(everything._read_guarded, run, stop) for run in batch]
                    if current:
                        yield [future.result() for future in current]
            finally:
                stop.now()
                pool.shutdown(cancel_futures=True)

    def _check_suites(self, runs: Sequence[RunFolder]) -> None:
        """Raises SuiteError if a run has no suite or an invalid one."""
        for run in runs:
            suite_of(run.folder, self.suite)

    def _read_guarded(self, run: RunFolder, stop: _Stop) -> ReadRun | Outcome:
        read = self._guarded(run, lambda: self._read(run, stop))
        if isinstance(read, ReadRun) or read.status == "failed":
            return read
        return replace(read, suite=suite_of(run.folder, self.suite))

    def _finish_guarded(self, scored: tuple[ReadRun, ScoreTable] | Outcome) -> Outcome:
        if isinstance(scored, Outcome):
            return scored
        job, table = scored
        finished = self._guarded(job.run, lambda: self._finish(job, table))
        if finished.status == "failed":
            return finished
        return replace(finished, suite=job.suite, signature=table.signature)

    def _guarded(self, run: RunFolder, work: Callable[[], T]) -> T | Outcome:
        """The result of `work`, or the failed outcome with the reason."""
        try:
            return work()
        except PfgenError as error:
            reason = str(error)
        except OSError as error:
            reason = f"{error.filename or run.folder}: {error.strerror or error}"
        except MemoryError:
            reason = f"{run.folder}: out of memory"
        return self._failed(run, reason)

    def _failed(self, run: RunFolder, reason: str) -> Outcome:
        return Outcome(run, "failed", self.result_path(run), error=reason)

    def _read(self, run: RunFolder, stop: _Stop) -> ReadRun | Outcome:
        path = self.result_path(run)
        config = run.config()
        if run.trials_path is not None and not self.force and self._is_usual and path.exists():
            summary = self._current(run, path, config)
            if summary is not None:
                return Outcome(run, "current", path, summary)
        if self.dry_run:
            return Outcome(run, "pending", path)
        trials_path = run.trials_path or self._packed(run, path)
        trials = Trials.read(trials_path, on_piece=stop.check)
        from .aggregation import check_questions

        suite = suite_of(run.folder, self.suite)
        check_questions(trials, suite)
        return ReadRun(run, suite, path, config, trials)

    def _score_batch(
        self, read: Sequence[ReadRun | Outcome], scorer_of: Callable[[Suite], Scorer]
    ) -> list[tuple[ReadRun, ScoreTable] | Outcome]:
        """Scores the answers of all runs of a batch together; outcomes are passed through unchanged."""
        scored: dict[Path, tuple[ReadRun, ScoreTable] | Outcome] = {}
        for suite in dict.fromkeys(job.suite for job in read if isinstance(job, ReadRun)):
            jobs = [job for job in read if isinstance(job, ReadRun) and job.suite is suite]
            scored |= zip((job.path for job in jobs), self._score_in_time(jobs, scorer_of(suite)), strict=True)
        return [job if isinstance(job, Outcome) else scored[job.path] for job in read]

    def _score_in_time(self, jobs: Sequence[ReadRun], scorer: Scorer) -> list[tuple[ReadRun, ScoreTable] | Outcome]:
        """Scores several runs as one batch; where a pattern takes too long, each alone, so that only one fails."""
        try:
            with pattern_time_limit(self.pattern_seconds):
                return list(zip(jobs, _score_together(jobs, scorer), strict=True))
        except PatternTimeout as error:
            if len(jobs) == 1:
                return [self._failed(jobs[0].run, f"{jobs[0].trials.path}: {error}")]
            return [outcome for job in jobs for outcome in self._score_in_time([job], scorer)]

    def _current(self, run: RunFolder, path: Path, config: dict[str, Any] | None) -> RunSummary | None:
        """The recorded result without its questions, if it is up to date; a damaged result counts as missing."""
        from .result import is_current, read_scores

        assert run.trials_path is not None
        try:
            recorded, _ = read_scores(path)
        except PfgenError:
            return None
        hashes = file_sha1(run.trials_path), suite_of(run.folder, self.suite).metadata_hash
        return recorded if is_current(recorded, *hashes, config) else None

    def _packed(self, run: RunFolder, path: Path) -> Path:
        """Packs the single trials of a run into a file and returns its path; SuiteError if the run has no suite."""
        suite_of(run.folder, self.suite)
        packed = pack_trials(run, self.output and path.parent).trials_path
        assert packed is not None
        return packed

    def _finish(self, job: ReadRun, table: ScoreTable) -> Outcome:
        from .aggregation import aggregate
        from .result import write_result

        result = aggregate(job.trials, table, job.config)
        write_result(job.path, result)
        return Outcome(job.run, "scored", job.path, result.summary())

    @property
    def _is_usual(self) -> bool:
        """Whether profile and float sum are the defaults.

        Results do not record them, so only results with the defaults can be recognized as current.
        """
        return self.profile == "leaderboard" and self.float_sum == "compensated"

    def result_path(self, run: RunFolder) -> Path:
        """The path of a run's result: in the run's folder, or at the same relative path below `output`."""
        if self.output is None:
            return run.folder / "result.json"
        folder = run.folder.resolve()
        root = checkout_of(run.folder) or Path.cwd()
        inside = folder.relative_to(root) if folder.is_relative_to(root) else folder.relative_to(folder.anchor)
        return self.output / inside / "result.json"


class _Stop:
    """Ends the reading of large files in other threads when the caller is interrupted."""

    def __init__(self) -> None:
        self._is_due = threading.Event()

    def now(self) -> None:
        """Lets every `check` from now on raise."""
        self._is_due.set()

    def check(self) -> None:
        """Raises TrialsError if reading is to end."""
        if self._is_due.is_set():
            raise TrialsError("stopped")


def _results(
    reading: Sequence[Future[ReadRun | Outcome]], scorer_of: Callable[[Suite], Scorer]
) -> Iterator[ReadRun | Outcome]:
    """Yields the runs as they are read; each scorer is created while other runs are still being read."""
    for future in reading:
        item = future.result()
        if isinstance(item, ReadRun):
            scorer_of(item.suite)
        yield item


def _score_together(jobs: Sequence[ReadRun], scorer: Scorer) -> Iterator[ScoreTable]:
    """Scores several runs as one batch, so that the index of each question enters the CPU cache only once."""
    questions = _core.TextColumn.joined("questions", [job.trials.lines.questions for job in jobs])
    table = scorer.score(questions, _core.TextColumn.joined("answers", [job.trials.lines.answers for job in jobs]))
    first = 0
    for job in jobs:
        yield table.rows(first, first + len(job.trials))
        first += len(job.trials)


def _batches(runs: Sequence[RunFolder]) -> Iterator[list[RunFolder]]:
    """Splits runs into batches of bounded total file size, of at least one run, to bound memory."""
    batch: list[RunFolder] = []
    n_bytes = 0
    for run in runs:
        size = _stored_bytes(run)
        if batch and n_bytes + size > _BATCH_BYTES:
            yield batch
            batch, n_bytes = [], 0
        batch.append(run)
        n_bytes += size
    if batch:
        yield batch


def _stored_bytes(run: RunFolder) -> int:
    """The size of a run's stored trials; 0 if there is no file, which is reported when the run is read."""
    try:
        return run.trials_path.stat().st_size if run.trials_path else 0
    except OSError:
        return 0
