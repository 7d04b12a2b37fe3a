"""A run as it is exported: its result.json, checked against its answers, which are scored again."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import stdev
from typing import Any, NamedTuple

from ..errors import TrialsError
from ..runs.aggregation import check_questions, trials_of, with_recorded_sum
from ..runs.checkout import run_name, suite_of
from ..runs.leaderboard import Entry, entry_of
from ..runs.reasoning_trials import stripped
from ..runs.result import RunResult, changes, read_result, result_path
from ..runs.trials import RunFolder, Trials
from ..scoring.score_table import ScoreTable
from ..scoring.scorer import Scorer
from ..statistics.mean_interval import mean_interval
from ..suite.rules import PARTS, Profile
from ..suite.suite import Suite


class Figure(NamedTuple):
    """A figure of a run with its 95 % interval and standard error over questions; None if these do not exist."""

    name: str  # a name in `SCORES`
    value: float
    low: float | None
    high: float | None
    standard_error: float | None


@dataclass(frozen=True)
class ScoredRun:
    """A run with its result and the scores of its answers."""

    run: RunFolder
    model: str
    result: RunResult
    trials: Trials
    table: ScoreTable
    date: datetime.datetime | None  # of the newest answer, unless another date was given; in UTC

    @property
    def name(self) -> str:
        """The path of the run within its checkout."""
        return run_name(self.run.folder)

    @property
    def config(self) -> Mapping[str, Any]:
        """The parameters of the run."""
        return self.result.config or {}

    @property
    def suite(self) -> Suite:
        """The suite of the run."""
        return self.table.scorer.suite

    @property
    def suite_name(self) -> str:
        """The name of the suite, without the directories above it; of `data/` in a checkout, that of the checkout."""
        name, *above = reversed(re.split(r"[/\\\\]", self.suite.name))
        return above[0] if name == "data" and above else name

    @property
    def benchmark(self) -> str:
        """The name of the suite, which says that it is one of ours."""
        return self.suite_name if self.suite_name.startswith("pfgen") else f"pfgen-{self.suite_name}"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """How the scores were made: the signature, which names the version, the suite and its hash, and the run."""
        return {
            "signature": self.table.signature,
            "suite": self.suite_name,
            "suite_hash": self.suite.metadata_hash,
            "profile": self.table.scorer.profile,
            "float_sum": self.table.scorer.float_sum,
            "num_questions": len(self.result.questions),
            "num_trials": self.result.num_trials,
            "input_hash": self.result.input_hash,
            "config": dict(self.config),
        }

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """The score and its parts, rounded as in result.json."""
        whole = {"score": self.result.score, **{part: round(self.total(self.result, part), 5) for part in PARTS}}
        return tuple(self._figure(name, value) for name, value in whole.items())

    def total(self, figures: Any, name: str) -> float:
        """A score or part of the run or of a question."""
        return float(figures.scores.total("average" if name == "score" else name, self.table.scorer.float_sum))

    def _figure(self, name: str, value: float) -> Figure:
        by_question = [self.total(question, name) for question in self.result.questions.values()]
        interval = mean_interval(by_question)
        if interval.low is None or interval.high is None:
            return Figure(name, value, None, None, None)
        error = stdev(by_question) / math.sqrt(len(by_question))
        return Figure(name, value, round(interval.low, 5), round(interval.high, 5), round(error, 5))

    def needed_date(self) -> datetime.datetime:
        """The date, for formats that need one."""
        if self.date is None:
            raise TrialsError(f"{self.run.folder}: the answers have no dates; give the date of the run (--date)")
        return self.date


@dataclass
class RunReader:
    """Reads runs for an export, with one scorer for each suite."""

    suite: Suite | None = None
    profile: Profile = "leaderboard"
    model: str | None = None
    date: datetime.datetime | None = None

    def __post_init__(self) -> None:
        self._scorers: dict[Suite, Scorer] = {}

    def read(self, run: RunFolder) -> ScoredRun:
        """Reads a run; raises TrialsError unless its result.json is that of its answers."""
        path = result_path(run)
        again = f"'pfgen-fast score {run.folder}'"
        if not path.is_file():
            raise TrialsError(f"{run.folder}: no result.json; {again} writes it")
        result = read_result(path)
        entry = self._entry(result, path)
        trials = Trials.of(run)
        suite = suite_of(run.folder, self.suite)
        config = run.config()
        is_stripped = entry.config.get("scored_reasoning") == "strip"
        made_of = {**(config or {}), "scored_reasoning": "strip"} if is_stripped else config
        changed = changes(result, trials.input_hash, suite.metadata_hash, made_of)
        if changed:
            raise TrialsError(f"{path}: {', '.join(changed)} differs from what was scored; {again} scores it again")
        trials = trials_of(suite, trials)
        check_questions(trials, suite)
        trials = stripped(trials, config) if is_stripped else trials
        if suite not in self._scorers:
            self._scorers[suite] = Scorer(suite, profile=self.profile)
        table = self._scorers[suite].score(trials.lines.questions, trials.lines.answers)
        _, table, problem = with_recorded_sum(path, trials, table, made_of)
        if problem is not None:
            raise TrialsError(
                f"{path}: its figures are not those of its answers with profile {self.profile}; name the profile "
                f"(--profile), or {again} scores it again"
            )
        return ScoredRun(run, self._model_of(entry, run), result, trials, table, self.date or date_of(trials))

    def _entry(self, result: RunResult, path: Path) -> Entry:
        by_question = {question_id: question.scores for question_id, question in result.questions.items()}
        return entry_of(result, by_question, run_name(path.parent), path)

    def _model_of(self, entry: Entry, run: RunFolder) -> str:
        model = self.model or entry.config.get("model")
        if not isinstance(model, str) or not model.strip():
            raise TrialsError(f"{run.folder}: config.json names no model; name it as on the Hub (--model ORG/NAME)")
        return model


def date_of(trials: Trials) -> datetime.datetime | None:
    """The date of the newest answer; None if no answer has a valid date."""
    texts = (trials.trial(row).get("timestamp") for row in range(len(trials)))
    dates = (parsed_date(text) for text in texts if isinstance(text, str))
    return max((date for date in dates if date is not None), default=None)


def parsed_date(text: str) -> datetime.datetime | None:
    """A date in ISO 8601, converted to UTC; a date without a time zone is in UTC."""
    text = re.sub(r"\.(\d+)", lambda found: f".{found[1][:6]:0<6}", text)  # as Python 3.10 expects it
    try:
        date = datetime.datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)
        zone = datetime.timezone.utc
        return date.replace(tzinfo=zone) if date.tzinfo is None else date.astimezone(zone)
    except (ValueError, OverflowError):
        return None
