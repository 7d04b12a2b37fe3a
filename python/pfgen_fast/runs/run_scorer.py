"""Scores many runs in parallel: finds the suite of each, skips current results, and continues after failures."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..base.errors import PatternTimeout, PfgenError, SuiteError, TrialsError
from ..base.file_reading import file_sha1
from ..base.file_writing import write_whole
from ..base.native import _core, checked_threads
from ..scoring.reply_text import ReasoningChoice
from ..suite.keywords import PATTERN_SECONDS, pattern_time_limit
from .checkout import checkout_of, suite_of
from .trials import RunFolder, Trials, pack_trials, reasoning_notes, stripped

if TYPE_CHECKING:  # All but trials is imported on demand, while the first trials are already being read.
    from ..base.mean_interval import MeanInterval
    from ..scoring.score_table import ScoreTable
    from ..scoring.scorer import Scorer
    from ..suite.rules import FloatSum, Profile
    from ..suite.suite import Suite
    from .aggregation import UnknownQuestions
    from .run_result import RunSummary

T = TypeVar("T")

_BATCH_BYTES = 3 << 20
"""The size of the files of trials that are scored together; the next batch of this size is read ahead."""

Status = Literal["scored", "current", "failed"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of scoring one run."""

    run: RunFolder
    status: Status  # `"scored"`; `"current"` (its result was up to date); `"failed"`
    path: Path  # path of its result, whether or not it exists
    summary: RunSummary | None = None  # result without its questions; None if there is no result
    error: str | None = None  # reason for a failure, in one sentence
    part: str | None = None  # share of the suite's questions that is scored, such as `3 of 50 questions`; None for all
    is_kept: bool = True  # whether its result was written to `path`; see `RunScorer`
    notes: tuple[str, ...] = ()  # further facts about the run, one sentence each
    suite: Suite | None = None  # suite of the run; None if it failed
    signature: str | None = None  # see `Scorer.signature`; None if the result was not computed now
    # score as the mean over questions, with its 95 % interval (docs/statistics.md); None as `summary`
    interval: MeanInterval | None = None
    # why an existing result is replaced, such as `config.json (mode) changed`; None without a result, or with `force`
    replaces: str | None = None
    by_question: Mapping[str, float] = field(default_factory=dict)  # mean score by question ID; empty as `summary`


@dataclass(frozen=True)
class ReadRun:
    """A run with its trials, ready to be scored."""

    run: RunFolder
    suite: Suite
    path: Path
    config: dict[str, Any] | None
    trials: Trials
    notes: tuple[str, ...] = ()
    replaces: str | None = None


@dataclass(frozen=True)
class RunScorer:
    """Scores runs, with these settings.

    A score on some of a suite's questions is always computed again, and is written only below another `output`. If the
    config.json of a run lists questions, the run is scored on these.
    """

    suite: Suite | None = None  # suite of all runs; None uses the suite of each run's checkout
    questions: tuple[str, ...] = ()  # questions that are scored; `questions` and `limit` are arguments of `Suite.only`
    limit: int | None = None
    unknown: UnknownQuestions = "error"  # how trials of questions that the suite lacks are treated
    profile: Profile = "leaderboard"  # see `Scorer`
    # see `Scorer`; `"auto"` (for profile leaderboard) keeps the sum of an existing result: see `with_recorded_sum`
    float_sum: FloatSum | Literal["auto"] = "compensated"
    force: bool = False  # whether to score runs whose results are up to date
    output: Path | None = None  # folder below which results are written, so that the runs' own folders stay unchanged
    threads: int | None = None  # number of threads; by default one for each core
    # `"strip"` scores answers without the reasoning of a model; `"keep"` scores them unchanged
    reasoning: ReasoningChoice = "keep"
    pattern_seconds: float = PATTERN_SECONDS  # how long one pattern may take on one answer; a run that exceeds it fails
    # takes each scored run in order, in place of the result.json, which is not written
    on_scored: Callable[[ReadRun, ScoreTable], None] | None = None

    def score(self, runs: Sequence[RunFolder]) -> Iterator[Outcome]:
        """Yields the outcomes in the order of the runs; a failure does not stop the others, no suite at all does."""
        threads = checked_threads(self.threads)
        with _pool(threads) as (pool, stop):
            reading = (self._reading(batch, pool, stop) for batch in chain(_batches(runs), ([], [])))
            first = next(reading)
            self._check_suites(runs)
            from ..scoring.scorer import LeanScorer

            @cache
            def scorer_of(suite: Suite) -> Scorer:
                return LeanScorer(suite, profile=self.profile, float_sum=self._usual_sum, threads=threads)

            behind: list[Future[Outcome]] = []
            # While a batch is scored, the next one is read and the results of the previous one are written.
            for current, _ in pairwise(chain([first], reading)):
                scored = list(map(self._passed_on, self._score_batch(list(_results(current, scorer_of)), scorer_of)))
                finished, behind = behind, [pool.submit(self._finish, item) for item in scored]
                yield from (future.result() for future in finished)

    def read(self, runs: Sequence[RunFolder]) -> Iterator[list[ReadRun | Outcome]]:
        """Yields batches of runs with their trials, and reads the next batch while the caller works.

        For callers that score in other ways. Only packed trials are written, for runs without them. A run that cannot
        be read is yielded as a failed outcome; so is a run that was generated for some questions only.
        """
        everything = replace(self, force=True)
        self._check_suites(runs)
        with _pool(checked_threads(self.threads)) as (pool, stop):
            reading = (everything._reading(batch, pool, stop, is_all=True) for batch in chain(_batches(runs), ([],)))
            for current, _ in pairwise(reading):
                yield [future.result() for future in current]

    def _reading(
        self, batch: Sequence[RunFolder], pool: ThreadPoolExecutor, stop: _Stop, *, is_all: bool = False
    ) -> list[Future[ReadRun | Outcome]]:
        # Largest first, so that no thread starts a large run while the others run out of work.
        largest_first = sorted(batch, key=lambda run: run.n_bytes, reverse=True)
        work = {run: partial(self._read, run, stop, is_all=is_all) for run in largest_first}
        futures = {run: pool.submit(self._guarded, run, read) for run, read in work.items()}
        return [futures[run] for run in batch]

    def _check_suites(self, runs: Sequence[RunFolder]) -> None:
        """Raises SuiteError if no run has a suite; otherwise each run without a suite fails alone."""
        for run in runs:
            with contextlib.suppress(SuiteError):
                self._suite_of(run)
                return
        if runs:
            self._suite_of(runs[0])

    def _passed_on(self, item: tuple[ReadRun, ScoreTable] | Outcome) -> tuple[ReadRun, ScoreTable] | Outcome:
        """Calls `on_scored`; a run that does not fit the runs before it becomes a failed outcome."""
        if self.on_scored is not None and not isinstance(item, Outcome):
            try:
                self.on_scored(*item)
            except SuiteError as error:
                return Outcome(item[0].run, "failed", item[0].path, error=str(error))
        return item

    def _suite_of(self, run: RunFolder, config: Mapping[str, Any] | None = None) -> Suite:
        """The suite of a run, cut to the chosen questions, or else to the questions that it was generated for."""
        suite = suite_of(run.folder, self.suite)
        if self.questions or self.limit is not None:
            return _cut(suite, self.questions, self.limit)
        return _cut(suite, _generated_for(suite, config), None)

    def _finish(self, scored: tuple[ReadRun, ScoreTable] | Outcome) -> Outcome:
        return scored if isinstance(scored, Outcome) else self._guarded(scored[0].run, lambda: self._written(*scored))

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
        return Outcome(run, "failed", self.result_path(run), error=reason)

    def _read(self, run: RunFolder, stop: _Stop, *, is_all: bool) -> ReadRun | Outcome:
        path = self.result_path(run)
        config = run.config()
        replaces = None
        if run.trials_path is not None and not self.force and self._is_usual and path.exists():
            recorded = self._current(run, path, config)
            if isinstance(recorded, Outcome):
                return recorded
            replaces = recorded
        trials_path = run.trials_path or self._packed(run, path)
        whole = Trials.read(trials_path, on_piece=stop.check)
        from .aggregation import check_all_answered, trials_of, unknown_questions

        suite = self._suite_of(run, None if is_all else config)
        trials = trials_of(suite, whole, unknown=self.unknown)
        check_all_answered(trials, suite)
        notes: tuple[str, ...] = ()
        if skipped := unknown_questions(suite, whole):
            n_trials = sum(len(whole.rows_by_question[question]) for question in skipped)
            why = f"because the suite lacks their questions ({len(skipped):,})"
            notes = (f"{whole.path}: {n_trials:,} of {len(whole):,} trials are left out, {why}",)
        if self.reasoning == "strip":
            unusual = {**(config or {}), "scored_reasoning": "strip"}  # no usual result records it
            return ReadRun(run, suite, path, unusual, stripped(trials, config), notes, replaces)
        return ReadRun(run, suite, path, config, trials, (*notes, *reasoning_notes(trials)), replaces)

    def _score_batch(
        self, read: Sequence[ReadRun | Outcome], scorer_of: Callable[[Suite], Scorer]
    ) -> list[tuple[ReadRun, ScoreTable] | Outcome]:
        """Scores the answers of all runs of a batch together; outcomes are passed through unchanged."""
        scored: dict[RunFolder, tuple[ReadRun, ScoreTable] | Outcome] = {}
        for suite in dict.fromkeys(job.suite for job in read if isinstance(job, ReadRun)):
            jobs = [job for job in read if isinstance(job, ReadRun) and job.suite is suite]
            scored |= zip((job.run for job in jobs), self._score_in_time(jobs, scorer_of(suite)), strict=True)
        return [job if isinstance(job, Outcome) else scored[job.run] for job in read]

    def _score_in_time(self, jobs: Sequence[ReadRun], scorer: Scorer) -> list[tuple[ReadRun, ScoreTable] | Outcome]:
        """Scores several runs as one batch; if a pattern takes too long, scores each run alone, so only one fails."""
        try:
            with pattern_time_limit(self.pattern_seconds):
                return list(zip(jobs, _score_together(jobs, scorer), strict=True))
        except PatternTimeout as error:
            if len(jobs) == 1:
                run, reason = jobs[0].run, f"{jobs[0].trials.path}: {error}"
                return [Outcome(run, "failed", self.result_path(run), error=reason)]
            return [outcome for job in jobs for outcome in self._score_in_time([job], scorer)]

    def _current(self, run: RunFolder, path: Path, config: dict[str, Any] | None) -> Outcome | str | None:
        """The recorded result, or the reason to replace it; None for a score on some questions."""
        from .run_result import changes, read_scores

        assert run.trials_path is not None
        try:
            recorded, by_question = read_scores(path)
        except PfgenError:
            return "it was damaged"
        suite = self._suite_of(run, config)
        if suite.whole is not None:
            return None
        changed = changes(recorded, file_sha1(run.trials_path), suite.metadata_hash, config)
        if changed:
            return f"{', '.join(changed)} changed"
        averages = {question_id: scores.average for question_id, scores in by_question.items()}
        return Outcome(
            run, "current", path, recorded, interval=_interval(averages.values()), suite=suite, by_question=averages
        )

    def _packed(self, run: RunFolder, path: Path) -> Path:
        """Packs the single trials of a run into a file and returns its path; SuiteError if the run has no suite."""
        suite_of(run.folder, self.suite)
        packed = pack_trials(run, self.output and path.parent).trials_path
        assert packed is not None
        return packed

    def _written(self, job: ReadRun, table: ScoreTable) -> Outcome:
        from .aggregation import aggregate, with_recorded_sum

        problem = None
        if self.float_sum == "auto" and self.profile == "leaderboard":
            earlier = job.path if job.path.exists() else job.run.folder / "result.json"
            result, table, problem = with_recorded_sum(earlier, job.trials, table, job.config)
        else:
            result = aggregate(job.trials, table, job.config)
        whole = job.suite.whole
        averages = {question_id: question.scores.average for question_id, question in result.questions.items()}
        is_kept = whole is None or job.path.parent.resolve() != job.run.folder.resolve()
        is_same = job.path.is_file() and job.path.read_bytes() == result.content  # its directory may be read-only
        if is_kept and self.on_scored is None and not is_same:
            write_whole(job.path, result.content)
        return Outcome(
            job.run,
            "scored",
            job.path,
            result.summary(),
            part=None if whole is None else f"{len(job.suite)} of {len(whole)} questions",
            is_kept=is_kept,
            notes=job.notes if problem is None else (*job.notes, problem),
            suite=job.suite,
            signature=table.signature,
            interval=_interval(averages.values()),
            replaces=job.replaces if is_kept else None,
            by_question=averages,
        )

    @property
    def _usual_sum(self) -> FloatSum:
        return "compensated" if self.float_sum == "auto" else self.float_sum

    @property
    def _is_usual(self) -> bool:
        """Whether all settings that results do not record are the defaults."""
        settings = self.profile, self._usual_sum, self.questions, self.limit, self.reasoning
        return settings == ("leaderboard", "compensated", (), None, "keep")

    def result_path(self, run: RunFolder) -> Path:
        """The path of a run's result: in the run's folder, or at the same relative path below `output`."""
        if self.output is None:
            return run.folder / "result.json"
        folder = run.folder.resolve()
        root = checkout_of(run.folder) or Path.cwd()
        inside = folder.relative_to(root) if folder.is_relative_to(root) else folder.relative_to(folder.anchor)
        return self.output / inside / "result.json"


_cutting = threading.Lock()


def _cut(suite: Suite, names: tuple[str, ...], limit: int | None) -> Suite:
    """The cut suite; the same one for all runs, so that they are scored together."""
    if not names and limit is None:
        return suite
    with _cutting:
        return _cut_once(suite, names, limit)


@lru_cache(maxsize=64)
def _cut_once(suite: Suite, names: tuple[str, ...], limit: int | None) -> Suite:
    return suite.only(names, limit=limit)


def _generated_for(suite: Suite, config: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The IDs of the questions that `generate` recorded, if it generated answers to some only."""
    ids = (config or {}).get("questions")
    if not isinstance(ids, list) or not all(isinstance(name, str) and name in suite for name in ids):
        return ()
    return tuple(ids) if suite.whole is None else ()


def _interval(averages: Collection[float]) -> MeanInterval | None:
    """The interval of a score; None for a recorded result without questions, or with a score that is not a number."""
    from ..base.mean_interval import mean_interval

    return mean_interval(averages) if averages and all(map(math.isfinite, averages)) else None


class _Stop(threading.Event):
    """Ends the reading of large files in other threads when the caller is interrupted."""

    def check(self) -> None:
        """Raises TrialsError if reading is to end."""
        if self.is_set():
            raise TrialsError("stopped")


@contextlib.contextmanager
def _pool(threads: int) -> Iterator[tuple[ThreadPoolExecutor, _Stop]]:
    """Threads that end early if the caller is interrupted."""
    stop = _Stop()
    with ThreadPoolExecutor(threads) as pool:
        try:
            yield pool, stop
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


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
        size = run.n_bytes
        if batch and n_bytes + size > _BATCH_BYTES:
            yield batch
            batch, n_bytes = [], 0
        batch.append(run)
        n_bytes += size
    if batch:
        yield batch
