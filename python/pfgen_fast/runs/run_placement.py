"""Places a run among other runs: its rank by score, and the verdict about it and each other run.

Rules: docs/statistics.md. The other runs are the published ones by default (`published`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import PfgenError, TrialsError
from ..base.untrusted_text import counted, in_one_line
from ..suite.suite import Suite, hash_of_cut
from .checkout import checkout_of, run_name
from .leaderboard import Entry, entry_of, find_results, is_system, model_of, order_key, rank
from .placement import Placement, compared_with, place_models
from .result_tables import PUBLISHED, is_result_table, quick_questions, read_entries, score_table_of
from .run_result import RunResult
from .run_scorer import Outcome, RunScorer
from .statistics.paired_tests import MIN_QUESTIONS
from .trials import find_runs

FEW_TRIALS = 10
_SAMPLING = ("temperature", "top_p", "num_examples", "max_tokens")
_FROM_REFERENCES = ("ngram", "reference", "ground-truth", "system")


def place(run: str | Path | RunResult, against: Any = PUBLISHED, *, metric: str | None = None) -> Placement:
    """Places a scored run among other runs, or a model of a table of scores among its other models.

    Args:
        run: Directory of a run with its result.json, as `pfgen-fast score` writes it, or the result itself. A run that
            was generated for some questions has no result.json, and is scored now. For a table of scores, the name of
            the model.
        against: `published` for the 522 published results of pfgen-bench, a table of results, or a directory of runs.
            Or else a table of scores by item and model: a file, or a table in memory.
        metric: The metric of a table of scores; by default the first one.

    Raises:
        TrialsError: There is not one result, or it is of another suite than the other runs; or the table has no such
            model.
    """
    is_published = isinstance(against, str) and against == PUBLISHED
    scores = None if is_published or is_result_table(against) else score_table_of([against])
    if scores is not None:
        return place_models(scores, [str(run)], metric)[0]
    if metric is not None:
        raise TrialsError("metric: runs are ranked by their score; expected a metric for tables of scores only")
    if isinstance(run, RunResult):
        scores_of = {question_id: question.scores for question_id, question in run.questions.items()}
        entries: Sequence[Entry] = [entry_of(run, scores_of, model_of(run.config, "this run"), "the result")]
    else:
        entries = entries_at([run])
    if len(entries) != 1:
        raise TrialsError(f"{run}: contains {len(entries)} results; expected one")
    return Field(read_entries(against)).place(entries[0])


def entries_at(paths: Iterable[str | Path], on_problem: Callable[[TrialsError], None] | None = None) -> Sequence[Entry]:
    """The results at or below paths, best first. Runs of some questions have no result.json, and are scored now.

    `on_problem` gets the errors of single runs and paths; without it, the first one is raised. If there is no run, an
    error is always raised.
    """
    results: dict[Path, None] = {}
    some: list[Entry] = []
    problems: list[TrialsError] = []
    for path in paths:
        missing = None
        try:
            results |= dict.fromkeys(find_results([path]))
        except TrialsError as error:
            missing = error
        try:
            outcomes = _scored_on_some_questions(path)
        except PfgenError as error:
            problems.append(TrialsError(str(error)))
            continue
        if missing is not None and not outcomes:
            problems.append(missing)
        for outcome in outcomes:
            if outcome.summary is None:
                problems.append(TrialsError(outcome.error or f"{outcome.run.folder}: not scored"))
            else:
                some.append(entry_of_outcome(outcome))
    ending = None if results or some else problems.pop()
    for problem in problems:
        if on_problem is None:
            raise problem
        on_problem(problem)
    if ending is not None:
        raise ending
    return rank(results, others=some, on_problem=on_problem)


def _scored_on_some_questions(path: str | Path) -> list[Outcome]:
    """Scores the runs at or below a path that were generated for some questions, by the suite of their checkout."""
    try:
        runs = [run for run in find_runs([path]) if "questions" in (run.config() or {})]
    except TrialsError:
        return []
    outside = [run for run in runs if checkout_of(run.folder) is None]
    outcomes = list(RunScorer().score([run for run in runs if run not in outside]))
    return outcomes + (list(RunScorer(suite=Suite.load("pfgen-bench")).score(outside)) if outside else [])


def entry_of_outcome(outcome: Outcome) -> Entry:
    """A run that was scored now."""
    if outcome.summary is None:
        raise TrialsError(outcome.error or f"{outcome.run.folder}: not scored")
    return Entry(outcome.run.folder, run_name(outcome.run.folder), outcome.summary, None, outcome.by_question)


class Field:
    """Runs among which other runs are placed; yardsticks do not count."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        entries = list(entries)
        self._yardsticks = tuple((entry.name, entry.result.score) for entry in entries if is_system(entry.model))
        runs = [entry for entry in entries if not is_system(entry.model)]
        if not runs:
            raise TrialsError("no runs to compare with; expected the results of at least one model")
        hashes = {entry.result.metadata_hash for entry in runs}
        if len(hashes) > 1:
            raise TrialsError(f"the runs to compare with are of {len(hashes)} suites; expected one suite")
        self._all, self.metadata_hash = entries, hashes.pop()
        self._entries = sorted(runs, key=lambda entry: order_key(entry.result.score, entry.name))
        self._ids = list(dict.fromkeys(name for entry in runs for name in entry.by_question))
        self._scores = np.array([self._row(entry) for entry in self._entries])
        intervals = [(entry, entry.interval()) for entry in self._entries]
        self._heads = [(entry.name, entry.model, entry.result.score, own.low, own.high) for entry, own in intervals]

    def _row(self, entry: Entry) -> list[float]:
        return [entry.by_question.get(name, math.nan) for name in self._ids]

    def place(self, entry: Entry) -> Placement:
        """Places a run among the other runs that have all its questions, on these questions."""
        self._check_suite(entry)
        ids = [name for name in self._ids if name in entry.by_question]
        others = [other for other in self._all if other.by_question.keys() >= {*ids}]
        n_all, n_lacking = len({*self._ids, *entry.by_question}), len(self._all) - len(others)
        if not ids or not others:
            raise TrialsError(f"{entry.name}: expected at least one other run that has the same questions")
        if len(ids) == n_all and not n_lacking:
            return self._place(entry)
        notes = []
        if len(ids) < n_all:
            notes = [f"{len(ids)} of {n_all} questions: all runs are ranked and compared on these questions only"]
        if n_lacking:
            notes.append(f"{counted(n_lacking, 'run')} left out, without some of these questions")
        quick = quick_questions()
        if (self.metadata_hash, set(ids)) == (quick.metadata_hash, set(quick.questions)):
            notes.append(quick.cost())
        return Field(_on(ids, other) for other in others)._place(_on(ids, entry), *notes)

    def _place(self, entry: Entry, *notes: str) -> Placement:
        """Places a run by the paired t-test over questions against each other run."""
        rows = [row for row, other in enumerate(self._entries) if not entry.is_same_run(other)]
        if not rows:
            raise TrialsError(f"{entry.name}: there is no other run to compare it with")
        others, is_yardstick = [self._entries[row] for row in rows], is_system(entry.model)
        return Placement(
            run=entry.name,
            model=entry.model,
            score=entry.result.score,
            interval=entry.interval(),
            others=compared_with(np.array(self._row(entry)), self._scores[rows], [self._heads[row] for row in rows]),
            yardsticks=self._yardsticks,
            notes=(*notes, *self._weaker(entry, others)),
            is_yardstick=is_yardstick,
            n_trials=entry.result.num_trials,
        )

    def _check_suite(self, entry: Entry) -> None:
        """Raises TrialsError unless a run has the suite of the field, or some of its questions."""
        its, ours = entry.result.metadata_hash, self.metadata_hash
        if its not in (ours, hash_of_cut(ours, list(entry.by_question))):
            raise TrialsError(
                f"{entry.name}: scored with the suite of metadata hash {in_one_line(its, 40)}, and the other runs with "
                f"that of {in_one_line(ours, 40)}; scores of two suites cannot be compared. Score the run with the "
                "suite of the other runs (published runs: --suite pfgen-bench), or name runs of its suite (--against)"
            )

    def _weaker(self, entry: Entry, others: Sequence[Entry]) -> Iterable[str]:
        """What makes the comparison weaker."""
        n_trials = entry.result.num_trials
        usual = Counter(other.result.num_trials for other in self._entries).most_common(1)[0][0]
        if n_trials < min(FEW_TRIALS, usual):
            trials = "1 trial" if n_trials == 1 else f"{n_trials} trials"
            yield f"{trials}: the score depends on the draw of the answers; most other runs have {usual} trials"
        n_questions = len(entry.by_question)
        if n_questions < MIN_QUESTIONS:
            yield f"no verdict: {counted(n_questions, 'question')}, at least {MIN_QUESTIONS} are needed"
        engine = entry.config.get("engine")
        if engine in _FROM_REFERENCES:
            yield f"engine {engine}: its answers come from the suite itself, so its rank says nothing about a model"
            return
        own = _settings(entry.config)
        mode = own["mode"]
        same_mode = [settings for other in others if (settings := _settings(other.config))["mode"] == mode]
        if not entry.config.get("mode"):
            yield "mode: unknown, because the run has no config.json that names it"
        elif not same_mode:
            yield f"mode: {mode}, which no other run has"
        for name in _SAMPLING if same_mode else ():
            value, n = Counter(settings[name] for settings in same_mode).most_common(1)[0]
            if own[name] != value:
                yield f"{name}: {own[name]}, but {value} in {n} of {len(same_mode)} other runs of mode {mode}"


def _on(ids: Sequence[str], entry: Entry) -> Entry:
    """A run on some of its questions: its score is the mean over these."""
    by_question = {name: entry.by_question[name] for name in ids}
    score = round(math.fsum(by_question.values()) / len(by_question), 4)
    return replace(entry, by_question=by_question, result=replace(entry.result, score=score))


def _settings(config: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the mode and the sampling settings."""
    return {name: _text(config.get(name)) for name in ("mode", *_SAMPLING)}


def _text(value: Any) -> str:
    if value is None:
        return "not set"
    return f"{value:g}" if isinstance(value, float) else in_one_line(str(value), 40)
