"""Results of runs: their types, and reading and writing of result.json. Format: docs/scoring.md, section 6.

All values used from a result.json are checked here, so code can rely on the types of a `RunResult`. Its numbers are
finite, or NaN where the file holds no finite number. Types that occur hundreds of times in a result are named tuples,
which are created four times as fast as frozen dataclasses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from ..base import untrusted_json as typed
from ..base.native import cached_property
from ..base.untrusted_text import in_one_line
from ..suite.rules import FloatSum, add_up
from .trials import RunFolder

RECORD_DEPTH = 4
"""The depth of a recorded answer in a result.json: result, questions, question, samples."""


class Scores(NamedTuple):
    """Scores by metric; fluency and truthfulness also by reference set, whose values sum to the metric."""

    fluency: Mapping[str, float]
    truthfulness: Mapping[str, float]
    helpfulness: float
    average: float

    def total(self, metric: str, float_sum: FloatSum = "compensated") -> float:
        """The value of one metric, summed over all sets; the published table is made with the compensated sum."""
        value: Mapping[str, float] | float = getattr(self, metric)
        return value if isinstance(value, float) else add_up(value.values(), float_sum)


class ScoredAnswer(NamedTuple):
    """One of the recorded answers to a question; its parts are read on demand, because only reports show them."""

    # object in result.json: the trial without its question, and all details of the scores
    stored: Mapping[str, Any] | typed.WrittenJson

    @property
    def record(self) -> Mapping[str, Any]:
        """The object in result.json."""
        return self.stored.decoded if isinstance(self.stored, typed.WrittenJson) else self.stored

    @property
    def answer(self) -> str:
        """The answer."""
        return typed.member(self.record, "answer", typed.text)

    @property
    def scores(self) -> Scores:
        """The scores of the answer."""
        return typed.member(self.record, "scores", _scores)

    @property
    def unmet(self) -> tuple[tuple[str, float], ...]:
        """The unmet keyword rules and the excess length, each with the factor of helpfulness that remains."""
        return typed.member(self.record, "scores", _unmet)

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of `unmet`."""
        return tuple(name for name, _ in self.unmet)


@dataclass(frozen=True)
class Figures:
    """Means and standard deviations over the answers to a question, or over all trials of a run."""

    score: float
    score_std: float
    length: float
    length_std: float
    scores: Scores

    def to_dict(self) -> dict[str, Any]:
        """As result.json holds them."""
        return {**{part.name: getattr(self, part.name) for part in fields(Figures)}, "scores": self.scores._asdict()}


@dataclass(frozen=True)
class QuestionResult(Figures):
    """One question of a run: its text, its figures, and some of its answers from best to worst."""

    question: str
    samples: tuple[ScoredAnswer, ...]

    def to_dict(self, *, decodes: bool = True) -> dict[str, Any]:
        """As result.json holds it; without `decodes`, answers that are already JSON are for `json_bytes`."""
        samples = [sample.record if decodes else sample.stored for sample in self.samples]
        return {"question": self.question, **super().to_dict(), "samples": samples}


@dataclass(frozen=True)
class RunSummary(Figures):
    """A result without its questions, which make up most of it."""

    input_hash: str  # SHA-1 of the file of trials
    metadata_hash: str  # hash of the suite
    config: Mapping[str, Any] | None  # parameters of the run; None if there is no config.json
    num_trials: int  # number of answers that every question has

    def to_dict(self) -> dict[str, Any]:
        """As result.json holds it."""
        hashes = {"input_hash": self.input_hash, "metadata_hash": self.metadata_hash}
        config = {} if self.config is None else {"config": self.config}
        return {**hashes, **config, "num_trials": self.num_trials, **super().to_dict()}


@dataclass(frozen=True)
class RunResult(RunSummary):
    """The content of a result.json, with `questions` keyed by `question_id`."""

    questions: Mapping[str, QuestionResult]

    def to_dict(self, *, decodes: bool = True) -> dict[str, Any]:
        """As result.json holds it; for `decodes` see `QuestionResult.to_dict`."""
        questions = {name: question.to_dict(decodes=decodes) for name, question in self.questions.items()}
        return {**super().to_dict(), "questions": questions}

    @cached_property
    def content(self) -> bytes:
        """The bytes of result.json."""
        return typed.json_bytes(self.to_dict(decodes=False))

    def summary(self) -> RunSummary:
        """The result without its questions."""
        return RunSummary(**{part.name: getattr(self, part.name) for part in fields(RunSummary)})


def result_path(run: RunFolder) -> Path:
    """The path of a run's result."""
    return run.folder / "result.json"


def read_result(path: Path) -> RunResult:
    """Reads a result.json."""
    return parse_result(typed.read_json(path), str(path))


def read_scores(path: Path) -> tuple[RunSummary, dict[str, Scores]]:
    """Reads the parts of a result.json that rankings and experiments need: the summary, and the scores by question."""
    return parse_scores(typed.read_json(path), str(path))


def parse_scores(value: Any, where: str) -> tuple[RunSummary, dict[str, Scores]]:
    """The same parts of a decoded result.json; error messages call it `where`."""
    return typed.checked(value, _summary_and_scores, f"{where}: not a result")


def parse_result(value: Any, where: str) -> RunResult:
    """Converts a decoded result.json to a result; error messages call it `where`."""
    return typed.checked(value, _result, f"{where}: not a result")


def _result(value: Any) -> RunResult:
    return RunResult(
        **_summary(value), questions=typed.member(value, "questions", lambda part: typed.entries(part, _question))
    )


def _summary_and_scores(value: Any) -> tuple[RunSummary, dict[str, Scores]]:
    by_question = typed.member(
        value, "questions", lambda part: typed.entries(part, lambda row: typed.member(row, "scores", _scores))
    )
    return RunSummary(**_summary(value)), by_question


def _summary(value: Any) -> dict[str, Any]:
    """The arguments of `RunSummary`."""
    return {
        **{name: typed.member(value, name, typed.text) for name in ("input_hash", "metadata_hash")},
        "config": typed.member(value, "config", typed.or_none(typed.any_object), None),
        "num_trials": typed.member(value, "num_trials", typed.count),
        **_figures(value),
    }


def _question(value: Any) -> QuestionResult:
    return QuestionResult(
        question=typed.member(value, "question", typed.text),
        **_figures(value),
        samples=typed.member(value, "samples", lambda part: typed.items(part, _scored_answer)),
    )


def _figures(value: Any) -> dict[str, Any]:
    """The arguments of `Figures`; the standard deviations may be missing."""
    means = {name: typed.member(value, name, typed.number) for name in ("score", "length")}
    deviations = {name: typed.member(value, name, typed.number, math.nan) for name in ("score_std", "length_std")}
    return {**means, **deviations, "scores": typed.member(value, "scores", _scores)}


def _scores(value: Any) -> Scores:
    return Scores(
        typed.member(value, "fluency", _numbers),
        typed.member(value, "truthfulness", _numbers),
        typed.member(value, "helpfulness", typed.number),
        typed.member(value, "average", typed.number),
    )


def _numbers(value: Any) -> dict[str, float]:
    return typed.entries(value, typed.number)


def _scored_answer(value: Any) -> ScoredAnswer:
    sample = ScoredAnswer(value)
    _ = sample.answer, sample.scores, sample.unmet  # detects faults now rather than on access
    return sample


def _unmet(scores: Any) -> tuple[tuple[str, float], ...]:
    return typed.member(
        scores, "helpfulness_results", lambda part: () if part is None else typed.items(part, _unmet_rule), ()
    )


def _unmet_rule(value: Any) -> tuple[str, float]:
    if not isinstance(value, list) or not value:
        raise typed.unexpected("a list of a rule's name and its score", value)
    return typed.text(value[0]), typed.number(value[1]) if len(value) > 1 else math.nan


def changes(
    result: RunSummary, input_hash: str, metadata_hash: str, config: Mapping[str, Any] | None
) -> tuple[str, ...]:
    """The inputs that differ from those of a recorded result, such as `config.json (mode)`."""
    before, now = result.config or {}, config or {}
    keys = [in_one_line(key, 40) for key in {**before, **now} if (key, before.get(key)) != (key, now.get(key))]
    differ = {
        "trials": result.input_hash != input_hash,
        "suite": result.metadata_hash != metadata_hash,
        f"config.json ({', '.join(keys)})" if keys else "config.json": result.config != config,
    }
    return tuple(name for name, is_other in differ.items() if is_other)
