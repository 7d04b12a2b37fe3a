"""The scorer, which turns a batch of answers into a table of scores.

A score depends only on the suite, the profile, the float sum, the question and the answer, not on threads, batches,
containers or the Python version. `Scorer.signature` names the package version, the suite and these settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from ..base.errors import IndexFormatError, TrialsError
from ..base.native import COLUMN_ERRORS, ForkSafeLock, _core, cached_property, checked_threads, raise_trials_error
from ..suite.compiled import CompiledSuite, SuiteIndex
from ..suite.keywords import depth_first, regex_searchers, token_reader
from ..suite.questions import Question
from ..suite.rules import FLOAT_SUMS, PROFILES, FloatSum, Profile, check_choice
from ..suite.suite import Suite
from .index import compiled_pieces, index_of, open_index
from .score_table import ScoreTable, score_columns, signature_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


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
        self.core = self._build(self._opened_index())
        if self._imports_numpy:  # and not when a thread needs it: a child that is forked meanwhile would wait for ever
            self.core.reward([], [], 1)

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
        self.core = self._build(index)

    def _build(self, index: SuiteIndex) -> _core.Scorer:
        column_of_set = {name: column for column, name in enumerate(self.suite.set_names)}
        questions: list[_core.Question] = []
        codes: dict[str, int] = {}
        for code, question in enumerate(self.suite):
            columns = [column_of_set[name] for name in question.answers]
            questions.append(core_question(question, index[code], columns, self.profile))
            codes[question.question_id] = codes[question.question] = code
        return _core.Scorer(questions, codes, len(column_of_set), getattr(_core.FloatSum, self.float_sum))

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
            return ScoreTable(self, column, self.core.score(questions, column, self._threads), self.float_sum)
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
            return self.core.reward(questions, answers, self._threads)
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


class LeanScorer(Scorer):
    """A scorer that imports NumPy only when it is needed, for commands that must start quickly and do not fork."""

    _imports_numpy = False


def core_question(
    question: Question, index: _core.QuestionIndex, set_columns: Sequence[int], profile: Profile = "leaderboard"
) -> _core.Question:
    """Makes a question for the core, with callbacks that search for regexes or call the tokenizer of a file."""
    rules, question_id = question.keywords, question.question_id
    words = None if question.spelling is None else question.spelling.native
    reader = None
    if question.spelling and not words:
        reader = token_reader(rules, question.spelling, question_id, is_normalised=profile == "normalised")
    nodes = [
        _core.RuleNode(
            form=rule.form,
            n_parts=len(rule.parts),
            text=rule.pattern if reader is None and rule.form == "t" and rule.is_plain_text else None,
            is_named=rule.name is not None,
            importance=rule.importance,
        )
        for rule in depth_first(rules)
    ]
    return _core.Question(
        index=index,
        rules=_core.KeywordRules(nodes, question.lengths.missing),
        set_columns=set_columns,
        searchers=[] if reader else regex_searchers(rules, question_id),
        token_reader=reader,
        lengths=question.lengths.native,
        spelling=words,
    )


_CORE_ERRORS: tuple[type[Exception], ...] = (*COLUMN_ERRORS, _core.UnknownQuestion)


def _raise_trials_error(suite: Suite, error: Exception) -> NoReturn:
    if not isinstance(error, _core.UnknownQuestion):
        raise_trials_error(error)
    row, key = error.args
    raise TrialsError(suite.unknown_question(key), column="questions", row=row) from None


_scorers: dict[ScorerSpec, Scorer] = {}
_SETTINGS = ("suite_hash", "profile", "float_sum", "index", "threads")
_making = ForkSafeLock()


class ScorerSpec:
    """The settings of a `Scorer`; small, picklable and comparable, for processes that each create the scorer once.

    A distributed engine sends a spec with every task; a process creates the scorer at the first use and keeps it.

    A pickle contains the path and the hash of a suite's directory, not its references; only a suite that was built in
    memory is sent whole. `scorer` raises an error if the receiver lacks that directory or has another suite there.
    If the compiled index is missing, one process builds it into the machine's cache and the others wait.

    Args:
        suite: The suite, or anything that `Suite.load` accepts.
        profile: See `Scorer`.
        float_sum: See `Scorer`.
        index: See `Scorer`; a path that every receiver can read.
        threads: The number of threads of each scorer; by default one for each core that its process may use.

    Example:
        >>> import pickle
        >>> spec = ScorerSpec("mini")
        >>> len(pickle.dumps(spec)) < 1000, pickle.loads(pickle.dumps(spec)) == spec
        (True, True)
        >>> spec.scorer.signature == spec.signature, spec.scorer is ScorerSpec("mini").scorer
        (True, True)
    """

    def __init__(
        self,
        suite: Suite | str | Path,
        *,
        profile: Profile = "leaderboard",
        float_sum: FloatSum = "compensated",
        index: str | Path | None = None,
        threads: int | None = None,
    ) -> None:
        check_choice("profile", profile, PROFILES)
        check_choice("float_sum", float_sum, FLOAT_SUMS)
        self.__dict__["suite"] = suite if isinstance(suite, Suite) else Suite.load(suite)
        self.suite_hash: str = self.suite.metadata_hash
        self.profile: Profile = profile
        self.float_sum: FloatSum = float_sum
        self.index = None if index is None else str(index)
        self.threads = None if threads is None else checked_threads(threads)

    @cached_property
    def suite(self) -> Suite:
        """The suite; a receiver reads it at the first use, and raises SuiteError if it is missing or has changed."""
        scorer = _scorers.get(self)  # engines send a spec with every task, and a suite from memory may be large
        if scorer is not None:
            return scorer.suite
        import pickle

        suite: Suite = pickle.loads(self._sent_suite)
        return suite

    @cached_property
    def _sent_suite(self) -> bytes:
        import pickle  # few callers need it, and `score` starts faster without it

        return pickle.dumps(self.suite)

    @property
    def signature(self) -> str:
        """The signature of the scorer; see `Scorer.signature`."""
        return signature_of(self.suite, profile=self.profile, float_sum=self.float_sum)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a `ScoreTable` without `question_id`."""
        return score_columns(self.suite.set_names)

    @property
    def scorer(self) -> Scorer:
        """The scorer of this process, which all equal specs share; raises the errors of `Scorer`."""
        with _making:
            if self not in _scorers:
                _scorers[self] = Scorer(
                    self.suite,
                    profile=self.profile,
                    float_sum=self.float_sum,
                    threads=self.threads,
                    index=self.index,
                )
            return _scorers[self]

    def with_threads(self, threads: int) -> ScorerSpec:
        """Returns a spec with this number of threads, unless it already has one; for engines that start processes.

        Example:
            >>> ScorerSpec("mini").with_threads(1).threads, ScorerSpec("mini", threads=4).with_threads(1).threads
            (1, 4)
        """
        if self.threads is not None:
            return self
        other = copy(self)
        other.threads = checked_threads(threads)
        return other

    @property
    def _key(self) -> tuple[object, ...]:
        return self.suite_hash, self.profile, self.float_sum, self.index, self.threads

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScorerSpec) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __getstate__(self) -> dict[str, Any]:  # a receiver reads the suite at the first use
        return {"_sent_suite": self._sent_suite, **{name: getattr(self, name) for name in _SETTINGS}}

    def __repr__(self) -> str:
        return f"ScorerSpec({self.suite_hash[:7]}, profile={self.profile!r}, float_sum={self.float_sum!r})"
