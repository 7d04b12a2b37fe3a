"""Verification of a run: compares the core with the oracle, and the recorded result with a new one.

The oracle and the compared index are made from the suite's files only, because the cache might be forged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..base.errors import TrialsError
from ..base.native import default_threads
from ..base.untrusted_json import any_object, checked, read_json
from ..oracle import Oracle
from ..scoring.index import built_index, index_of
from ..scoring.scorer import Scorer
from ..suite.compiled import SuiteIndex, cached_path, describe_questions
from ..suite.rules import FloatSum
from ..suite.suite import Suite
from .aggregation import UnknownQuestions, evaluate, trials_of
from .run_result import result_path
from .trials import RunFolder, Trials


@dataclass(frozen=True)
class VerifiedRun:
    """The outcome of verifying one run."""

    run: RunFolder
    suite: Suite
    n_answers: int  # number of answers that the oracle scored
    differences: tuple[str, ...]  # answers on which core and oracle disagree, one sentence each
    recorded: str  # state of its result.json, in one sentence
    is_recorded_right: bool | None  # whether the result.json matches these inputs; None if there is none
    index_differences: tuple[str, ...]  # differences between the index that scores it and the suite's files
    # signature of the recorded scores; None without recorded scores, or if these inputs do not reproduce them
    signature: str | None = None

    @property
    def is_right(self) -> bool:
        """Whether nothing differs."""
        return not self.differences and not self.index_differences and self.is_recorded_right is not False

    def to_dict(self) -> dict[str, Any]:
        """All facts, for JSON."""
        return {
            "run": str(self.run.folder),
            "suite": self.suite.name,
            "signature": self.signature,
            "right": self.is_right,
            "n_answers": self.n_answers,
            "differences": list(self.differences),
            "index_differences": list(self.index_differences),
            "recorded": self.recorded,
            "recorded_right": self.is_recorded_right,
        }


class Verifier:
    """Verifies runs of one suite; the oracle's tables are built only once."""

    def __init__(
        self,
        suite: Suite,
        *,
        float_sum: FloatSum | Literal["auto"] = "compensated",
        sample: int | None = None,
        unknown: UnknownQuestions = "error",
    ) -> None:
        first: FloatSum = "compensated" if float_sum == "auto" else float_sum
        self.suite = suite
        self._takes_either = float_sum == "auto"
        self._sample, self._unknown = sample, unknown
        self._scorer = Scorer(suite, float_sum=first)
        other: FloatSum = "naive" if first == "compensated" else "compensated"
        self._other_scorer = Scorer(suite, float_sum=other)
        original = _original(suite)
        self._oracle = Oracle(original, float_sum=first)
        self.index_differences = tuple(_index_differences(self._scorer, original))

    def verify(self, run: RunFolder, on_answer: Callable[[int, int], None] | None = None) -> VerifiedRun:
        """Verifies one run; `on_answer(done, total)` is called after each answer of the oracle."""
        trials = trials_of(self._scorer.suite, Trials.of(run), unknown=self._unknown)
        if not len(trials):
            raise TrialsError(f"{trials.path}: no answers to the questions of the suite, so nothing can be verified")
        rows = self._rows(len(trials))
        recorded, is_right, signature = self._check_recorded(run)
        differences = tuple(self._differences(trials, rows, on_answer))
        index = self.index_differences
        return VerifiedRun(run, self.suite, len(rows), differences, recorded, is_right, index, signature)

    def _rows(self, n: int) -> list[int]:
        if self._sample is None or self._sample >= n:
            return list(range(n))
        return [int(row) for row in np.linspace(0, n - 1, self._sample).round()]

    def _differences(
        self, trials: Trials, rows: list[int], on_answer: Callable[[int, int], None] | None
    ) -> Iterator[str]:
        # Sorted by question, because the oracle's tables are large.
        for done, row in enumerate(sorted(rows, key=lambda row: trials.questions[row]), start=1):
            question, answer = trials.questions[row], trials.answers[row]
            expected = self._oracle.score_one(question, answer)
            scores = self._scorer.score_one(question, answer)
            if repr(scores) != repr(expected):
                where, here, there = first_difference(expected, scores) or ("", expected, scores)
                location = f"{trials.path}, line {trials.line_number(row)}: {where}"
                yield f"{location}: the oracle says {here!r}, the core {there!r}"
            if on_answer:
                on_answer(done, len(rows))

    def _check_recorded(self, run: RunFolder) -> tuple[str, bool | None, str | None]:
        path = result_path(run)
        if not path.exists():
            return "there is no result.json", None, None
        if self._scorer.suite.whole is not None:
            return "result.json is not compared, because it covers all questions", None, None
        recorded = checked(read_json(path), any_object, str(path))
        difference = first_difference(recorded, self._result(run, self._scorer))
        expected, other = self._scorer.float_sum, self._other_scorer.float_sum
        if difference is None:
            return f"result.json matches these inputs ({expected} sum)", True, self._scorer.signature
        if first_difference(recorded, self._result(run, self._other_scorer)) is None:
            signature = self._other_scorer.signature
            if self._takes_either:
                return f"result.json matches these inputs ({other} sum)", True, signature
            return f"result.json matches these inputs with the {other} sum, not the {expected} one", False, signature
        where, here, there = difference
        return f"result.json differs at {where}: recorded {here!r}, these inputs give {there!r}", False, None

    def _result(self, run: RunFolder, scorer: Scorer) -> dict[str, Any]:
        return evaluate(run, scorer, unknown=self._unknown).to_dict()


def _original(suite: Suite) -> Suite:
    """The suite as read from its files, without the cache; the suite itself if it has no files."""
    if suite.whole is not None:
        return _original(suite.whole).only(question.question_id for question in suite)
    return suite if suite.folder is None else Suite.load(suite.folder, cached=False)


def _index_differences(scorer: Scorer, original: Suite) -> Iterator[str]:
    """Compares the index of a scorer with one that is made from the suite's files."""
    suite, threads = scorer.suite, default_threads()
    if suite.metadata_hash != original.metadata_hash:
        yield f"suite {suite.name}: its files have the hash {original.metadata_hash}, not {suite.metadata_hash}"
    scorer.reward([question.question_id for question in suite], [""] * len(suite))  # rebuilds a damaged index
    cached = _compiled_questions(suite, index_of(suite, scorer.profile, threads))
    expected = _compiled_questions(original, built_index(original, scorer.profile, threads))
    path = cached_path((suite.whole or suite).metadata_hash, scorer.profile)
    for key in {**expected, **cached}:
        if cached.get(key) != expected.get(key):
            yield f"suite {suite.name}, question {key}: its index is not what the suite's files give; delete {path}"


def _compiled_questions(suite: Suite, index: SuiteIndex) -> dict[str, tuple[bytes, bytes]]:
    return {
        question.question_id: (describe_questions((question,)), bytes(memoryview(section)))
        for question, section in zip(suite, index, strict=True)
    }


def first_difference(recorded: Any, scored: Any, where: str = "") -> tuple[str, Any, Any] | None:
    """The first location at which two JSON values differ in value, type or order of keys, and both values there."""
    what, pairs = where or "it", list[tuple[str, Any, Any]]()
    if isinstance(recorded, dict) and isinstance(scored, dict):
        prefix = f"{where}." if where else ""
        pairs = [(f"{prefix}{key}", recorded[key], scored[key]) for key in recorded if key in scored]
        what, recorded, scored = f"keys of {what}", list(recorded), list(scored)
    elif isinstance(recorded, list) and isinstance(scored, list):
        pairs = [(f"{where}[{i}]", a, b) for i, (a, b) in enumerate(zip(recorded, scored, strict=False))]
        what, recorded, scored = f"length of {what}", len(recorded), len(scored)
    differences = (first_difference(a, b, place) for place, a, b in pairs)
    same = type(recorded) is type(scored) and repr(recorded) == repr(scored)
    return next(filter(None, differences), None) or (None if same else (what, recorded, scored))
