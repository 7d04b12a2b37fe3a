"""The scorer, which turns a batch of answers into a table of scores.

A score depends only on the suite, the profile, the float sum, the question and the answer, not on threads, batches,
containers or the Python version. `Scorer.signature` names the package version, the suite and these settings.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from ..base.errors import IndexFormatError, TrialsError
from ..base.native import COLUMN_ERRORS, _core, cached_property, checked_threads, raise_trials_error
from ..base.untrusted_text import utf8
from ..suite.compiled import CompiledSuite, SuiteIndex
from ..suite.keywords import depth_first, regex_searchers, token_reader
from ..suite.questions import Question
from ..suite.rules import COLUMNS, FLOAT_SUMS, PROFILES, TARGET_LENGTH, FloatSum, Profile, check_choice
from ..suite.suite import Suite
from .index import compiled_pieces, index_of, open_index
from .score_table import ScoreTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_HELPFULNESS, _AVERAGE = COLUMNS.index("helpfulness"), COLUMNS.index("average")


class Scorer:
    """Scores answers to the questions of one suite; thread-safe.

    Args:
        suite: The suite, or anything that `Suite.load` accepts.
        profile: `"leaderboard"` (the published figures), `"paper"` (the formulas as printed) or `"normalised"`
            (the formulas of `"leaderboard"`, on texts without punctuation, spaces and differences of width).
        float_sum: `"compensated"` or `"naive"`; affects only the last digit of some rows.
        threads: The number of threads that score a large batch; by default one for each core.
        index: A file that `pfgen-fast suite compile -o` wrote for this suite and profile. By default the index is kept
            in the user's cache and built if it is missing there.

    Raises:
        SuiteError: The suite breaks the rules.
        IndexFormatError: The file `index` is unusable; some damage is detected only when a question is first used.
        ValueError: The profile, float sum or number of threads is invalid.

    Example:
        >>> scorer = Scorer("mini")
        >>> table = scorer.score("Q07", ["Ice floats because it is less dense than water.", ""])
        >>> table.average.round(2).tolist()
        [0.35, 0.0]
    """

    _imports_numpy = True

    def __init__(
        self,
        suite: Suite | str | Path,
        *,
        profile: Profile = "leaderboard",
        float_sum: FloatSum = "compensated",
        threads: int | None = None,
        index: str | Path | None = None,
    ) -> None:
        check_choice("profile", profile, PROFILES)
        check_choice("float_sum", float_sum, FLOAT_SUMS)
        self._threads = checked_threads(threads)
        self.suite = suite if isinstance(suite, Suite) else Suite.load(suite)
        self.profile: Profile = profile
        self.float_sum: FloatSum = float_sum
        self._index = None if index is None else Path(index)
        self._core, self._rule_names = self._build(self._opened_index())
        if self._imports_numpy:  # and not when a thread needs it: a child that is forked meanwhile would wait for ever
            self._core.reward([], [], 1)

    @classmethod
    def from_bytes(cls, content: Any, *, float_sum: FloatSum = "compensated", threads: int | None = None) -> Scorer:
        """Creates a scorer from the result of `to_bytes`, without the files of the suite.

        Args:
            content: The bytes, or any object with the buffer protocol. `bytes` and read-only `mmap.mmap` are borrowed;
                anything else is copied, because its memory may change. Damaged bytes raise IndexFormatError.
            float_sum: See `Scorer`.
            threads: See `Scorer`.

        Example:
            >>> scorer = Scorer.from_bytes(Scorer("mini").to_bytes())
            >>> scorer.signature == Scorer("mini").signature
            True
        """
        compiled = CompiledSuite.of(content, "the compiled suite")
        return cls(Suite.from_compiled(compiled), profile=compiled.profile, float_sum=float_sum, threads=threads)

    def to_bytes(self) -> bytes:
        """The compiled suite of this scorer, for processes that cannot read the suite's files; see `from_bytes`.

        A large suite takes more than a hundred megabytes, so send it only once to each machine. Where the suite's
        directory is readable, pickle the scorer instead: a pickle holds only the directory's path and the suite's hash.
        """
        return b"".join(compiled_pieces(self.suite, self.profile, self._opened_index()))

    def _opened_index(self) -> SuiteIndex:
        if self._index is None:
            return index_of(self.suite, self.profile, self._threads)
        try:
            return open_index(self.suite, self.profile, self._index)
        except FileNotFoundError:
            raise IndexFormatError(f"{self._index}: no such file") from None
        except OSError as error:
            raise IndexFormatError(f"{self._index}: cannot be read: {error.strerror or error}") from None

    def _renew(self, error: Exception) -> None:
        """Rebuilds a damaged index of the cache; damage in a file that the user named is an error."""
        if self._index is not None:
            raise IndexFormatError(f"{self._index}: {error}") from None
        origin = self.suite.whole or self.suite
        if origin.is_checked and origin.folder is None:
            raise IndexFormatError(f"{self.suite.name}: {error}") from None
        index = index_of(self.suite, self.profile, self._threads, damage=str(error))
        self._core, self._rule_names = self._build(index)

    def _build(self, index: SuiteIndex) -> tuple[_core.Scorer, list[list[str | None]]]:
        column_of_set = {name: column for column, name in enumerate(self.suite.set_names)}
        questions, rule_names = [], []
        codes: dict[str, int] = {}
        for code, question in enumerate(self.suite):
            columns = [column_of_set[name] for name in question.answers]
            questions.append(core_question(question, index[code], columns, self.profile))
            rule_names.append([rule.own_name for rule in depth_first(question.keywords)])
            codes[question.question_id] = codes[question.question] = code
        core = _core.Scorer(questions, codes, len(column_of_set), getattr(_core.FloatSum, self.float_sum))
        return core, rule_names

    @property
    def signature(self) -> str:
        """Identifies how scores are computed: version, suite, profile, float sum, n-gram orders."""
        return signature_of(self.suite, profile=self.profile, float_sum=self.float_sum)

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickling creates the native part again, from an index that the receiver finds or maps.
        settings: dict[str, Any] = {"profile": self.profile, "float_sum": self.float_sum}
        return partial(Scorer, threads=self._threads, index=self._index, **settings), (self.suite,)

    def __repr__(self) -> str:
        return f"Scorer({self.suite!r}, profile={self.profile!r}, float_sum={self.float_sum!r})"

    def score(self, questions: Any, answers: Any, *, nulls: Literal["error", "null"] = "error") -> ScoreTable:
        """Scores a batch.

        Args:
            questions: The id or text of one question for all answers, or a column with one for each answer.
            answers: A column of texts: a list of str, a NumPy array, or any object that exports an Arrow string column
                (pyarrow, polars, pandas, duckdb; read without a copy, and pyarrow is not required).
            nulls: How to treat a missing answer (null, None): `"error"` raises an error that names its row, `"null"`
                gives it null scores.

        Raises:
            TrialsError: A question is unknown, an answer is not a text, or the columns differ in length.

        Example:
            >>> table = Scorer("mini").score(["Q07", "Q08"], ["Ice is lighter.", "Microwaves move water molecules."])
            >>> table.question_id.tolist()
            ['Q07', 'Q08']
        """
        check_choice("nulls", nulls, ("error", "null"))
        try:
            column = _core.TextColumn(answers, "answers", nulls == "null")
            return ScoreTable(self, column, self._core.score(questions, column, self._threads))
        except _core.IndexFormatError as error:
            self._renew(error)
            return self.score(questions, answers, nulls=nulls)
        except _CORE_ERRORS as error:
            _raise_trials_error(self.suite, error)

    def reward(self, questions: Any, answers: Any) -> Floats:
        """Scores a batch and returns the averages as an array, with minimal overhead: for training loops.

        Takes the arguments and raises the errors of `score`; a missing answer is always an error.

        Example:
            >>> Scorer("mini").reward("Q07", ["Ice floats because it is less dense than water."]).round(2)
            array([0.35])
        """
        try:
            return self._core.reward(questions, answers, self._threads)
        except _core.IndexFormatError as error:
            self._renew(error)
            return self.reward(questions, answers)
        except _CORE_ERRORS as error:
            _raise_trials_error(self.suite, error)

    def score_one(self, question: str, answer: str) -> dict[str, Any]:
        """Scores one answer and returns the object of docs/scoring.md, section 5.

        Example:
            >>> Scorer("mini").score_one("Q07", "Ice floats on water.")["fluency_discount"]
            1.0
        """
        return self.score(question, (answer,)).details(0)

    def _details(self, table: ScoreTable, row: int, code: int, scores: tuple[float, ...]) -> dict[str, Any]:
        """The details of a row; `row` counts from the start of the batch, not of the table."""
        question = self.suite.questions[code]
        fluency, truthfulness = (
            {name: scores[column] for name, column in self._columns[code][metric].items()} for metric in COLUMNS[:2]
        )
        is_paper = self.profile == "paper"
        return {
            "fluency": fluency,
            "fluency_discount": max(0.0, _core.discount(n_units(question, table._answers[row]))) if is_paper else 1.0,
            "truthfulness": truthfulness,
            "helpfulness": scores[_HELPFULNESS],
            "helpfulness_results": self._helpfulness_results(code, self._core.details(code, table._answers, row)),
            "average": scores[_AVERAGE],
        }

    def _records(
        self, table: ScoreTable, rows: Sequence[int], lines: Sequence[bytes], depth: int
    ) -> list[bytes | None]:
        """The records of trials with the details of their rows, written by the core; None where it cannot."""
        if self.profile == "paper":  # its discount is another in each record
            return [None] * len(rows)
        return self._core.records(self._record_forms, table._scores, table._answers, rows, lines, depth)

    @cached_property
    def _with_other_sum(self) -> Scorer:
        other = Scorer.__new__(Scorer)
        other.__dict__.update(self.__dict__)
        (other.float_sum,) = (float_sum for float_sum in FLOAT_SUMS if float_sum != self.float_sum)
        other._core = self._core.with_float_sum(getattr(_core.FloatSum, other.float_sum))
        return other

    def _added_up(self, table: ScoreTable, float_sum: FloatSum) -> ScoreTable:
        check_choice("float_sum", float_sum, FLOAT_SUMS)
        scorer = self if float_sum == self.float_sum else self._with_other_sum
        (scores, first), n = table.part, len(table)
        return ScoreTable(scorer, table._answers.part(first, n), scorer._core.added_up(scores, first, n))

    @cached_property
    def _record_forms(self) -> list[_core.RecordForm]:
        return [
            _core.RecordForm(
                set_names=list(map(_json_value, question.answers)),
                fluency_columns=list(columns["fluency"].values()),
                truthfulness_columns=list(columns["truthfulness"].values()),
                rule_names=list(map(_json_value, names)),
                rule_scores=[_json_value(1 - rule.importance) for rule in question.keywords],
            )
            for question, columns, names in zip(self.suite, self._columns, self._rule_names, strict=True)
        ]

    @cached_property
    def _columns(self) -> list[dict[str, dict[str, int]]]:
        """For each question, the index of each of its sets in a row of scores, for fluency and for truthfulness."""
        names = self.suite.set_names
        first = {metric: len(COLUMNS) + i * len(names) for i, metric in enumerate(COLUMNS[:2])}
        return [
            {metric: {name: begin + names.index(name) for name in question.answers} for metric, begin in first.items()}
            for question in self.suite
        ]

    def _helpfulness_results(self, code: int, cut: _core.CutAnswer) -> list[list[Any]]:
        names, rules = self._rule_names[code], self.suite.questions[code].keywords
        truncation, score = cut.truncation, cut.score
        results: list[list[Any]] = [[names[unmet.named_by], 1 - rules[unmet.rule].importance] for unmet in cut.unmet]
        if truncation > TARGET_LENGTH and score > 0:
            results.append([f"{truncation - TARGET_LENGTH}字超過", _core.discount(truncation)])
        return results


class LeanScorer(Scorer):
    """A scorer that imports NumPy only when it is needed, for commands that must start quickly and do not fork."""

    _imports_numpy = False


def core_question(
    question: Question, index: _core.QuestionIndex, set_columns: Sequence[int], profile: Profile = "leaderboard"
) -> _core.Question:
    """Makes a question for the core, with callbacks that search for regexes or read tokens."""
    rules, spelling, is_normalised = question.keywords, question.spelling, profile == "normalised"
    nodes = [
        _core.RuleNode(
            form=rule.form,
            n_parts=len(rule.parts),
            text=rule.pattern if spelling is None and rule.form == "t" and rule.is_plain_text else None,
            is_named=rule.name is not None,
            importance=rule.importance,
        )
        for rule in depth_first(rules)
    ]
    return _core.Question(
        index=index,
        rules=_core.KeywordRules(nodes),
        set_columns=set_columns,
        searchers=regex_searchers(rules, question.question_id) if spelling is None else [],
        token_reader=None
        if spelling is None
        else token_reader(rules, spelling, question.question_id, is_normalised=is_normalised),
    )


_encode = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` would make it anew at each call


def _json_value(value: Any) -> bytes:
    """A name or a number as `json_bytes` writes it, without waiting for orjson."""
    return utf8(_encode(value))


def n_units(question: Question, answer: str) -> int:
    """The length of an answer in the units of its question, characters or tokens."""
    return len(answer) if question.spelling is None else len(question.spelling.read(answer).symbols)


_CORE_ERRORS: tuple[type[Exception], ...] = (*COLUMN_ERRORS, _core.UnknownQuestion)


def _raise_trials_error(suite: Suite, error: Exception) -> NoReturn:
    if not isinstance(error, _core.UnknownQuestion):
        raise_trials_error(error)
    row, key = error.args
    raise TrialsError(suite.unknown_question(key), column="questions", row=row) from None


def signature_of(suite: Suite, *, profile: Profile = "leaderboard", float_sum: FloatSum = "compensated") -> str:
    """Names the version, the hash of the suite, the profile, the float sum and the n-gram orders."""
    return f"pfgen-fast:{_core.__version__}|suite:{suite.metadata_hash}|profile:{profile}|sum:{float_sum}|orders:1-10"
