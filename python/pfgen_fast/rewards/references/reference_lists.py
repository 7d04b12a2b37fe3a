"""The references of a batch: a list for each answer; fluency and truthfulness by these lists (docs/scoring.md)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...base.errors import TrialsError
from ...base.native import _core
from ...base.untrusted_text import counted
from ...suite.rules import Lengths
from ...suite.units import PatternTokenizer, Spelling
from .metrics import NGRAM_METRICS, TRUTHFULNESS

NO_LIST = 0xFFFFFFFF
"""The number of a list that is missing."""

_EXPECTED = "expected a list of references for each answer"
A_NULL = "expected a list of references, got a null"
"""The problem of a missing list."""
_EMPTY = "expected at least one reference, got an empty list"

Nulls = Literal["error", "null"]


@dataclass(frozen=True)
class ReferenceLists:
    """The texts of all lists, where each list begins, and the list of each row; equal lists may have one number."""

    texts: _core.TextColumn
    begins: NDArray[np.uint64]
    numbers: NDArray[np.uint32]


def read_lists(source: Any, n_rows: int, nulls: Nulls) -> ReferenceLists:
    """Reads the references of `n_rows` answers; raises TrialsError."""
    if source is None or isinstance(source, (str, bytes, dict)):
        raise _error(f"{_EXPECTED}, got {_kind(source)}")
    is_arrow = hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")
    if is_arrow and not hasattr(source, "ndim"):  # a column of Python objects (of pandas) may not export itself
        return _of_arrow(source, n_rows, nulls)
    try:
        rows = source if isinstance(source, list) else list(source.tolist() if hasattr(source, "tolist") else source)
    except TypeError:
        raise _error(f"{_EXPECTED}, got {_kind(source)}") from None
    _check_length(len(rows), n_rows)
    return _joined(rows, nulls)


def _check_length(n_lists: int, n_rows: int) -> None:
    if n_lists != n_rows:
        problem = f"{counted(n_lists, 'list')} for {counted(n_rows, 'answer')}; {_EXPECTED}"
        raise _error(problem)


def _of_arrow(source: Any, n_rows: int, nulls: Nulls) -> ReferenceLists:
    texts, begins, is_null = _core.import_lists(source, "references")
    _check_length(len(is_null), n_rows)
    if nulls == "error" and is_null.any():
        raise _error(A_NULL, int(is_null.argmax()))
    is_empty = (np.diff(begins) == 0) & ~is_null
    if is_empty.any():
        raise _error(_EMPTY, int(is_empty.argmax()))
    return ReferenceLists(texts, begins, np.where(is_null, NO_LIST, np.arange(n_rows)).astype(np.uint32))


def _joined(rows: Sequence[Any], nulls: Nulls) -> ReferenceLists:
    texts: list[Any] = []
    begins, list_numbers = [0], []
    numbers: dict[int, int] = {}  # a list that several rows share is read once; `rows` keeps all lists alive
    for row, value in enumerate(rows):
        number = numbers.get(id(value))
        if number is None:
            if value is None or (isinstance(value, float) and value != value):
                if nulls == "error":
                    raise _error(A_NULL, row)
                number = NO_LIST
            else:
                texts += value if type(value) is list else _list(value, row)
                if len(texts) == begins[-1]:
                    raise _error(_EMPTY, row)
                number = len(begins) - 1
                begins.append(len(texts))
            numbers[id(value)] = number
        list_numbers.append(number)
    lists = np.array(begins, np.uint64), np.array(list_numbers, np.uint32)
    try:
        return ReferenceLists(_core.TextColumn(texts, "references"), *lists)
    except _core.BadRow as error:
        _, at, problem = error.args
        number = bisect_right(begins, at) - 1
        problem = f"reference {at - begins[number]}: {problem}"
        raise _error(problem, list_numbers.index(number)) from None


def _list(value: Any, row: int) -> list[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return list(value)
    raise _error(f"expected a list of references, got {_kind(value)}", row)


def _error(problem: str, row: int | None = None) -> TrialsError:
    return TrialsError(problem, column="references", row=row)


def _kind(value: object) -> str:
    return "None" if value is None else f"one {type(value).__name__}"


FEWEST_REFERENCES = 100
"""The fewest references for truthfulness: with fewer, unrelated answers would have high scores."""

_MOST_KEPT = 256  # lists of which an index is kept
_NO_UNIT = "\U0003ffff"  # a noncharacter; in place of references without any unit, so that every answer scores 0


class NgramScores:
    """Scores answers by lists of reference answers; keeps the indexes of the last lists.

    The units are words, or else characters, and the lengths fit those of each list, or else are the usual ones.
    """

    def __init__(self, *, in_words: bool, fits_lengths: bool) -> None:
        self._tokenizer = PatternTokenizer("words") if in_words else None
        self._fits_lengths = fits_lengths
        self._questions: dict[tuple[str, ...], _core.Question] = {}

    def score(
        self, metrics: Collection[str], answers: _core.TextColumn, lists: ReferenceLists, n_threads: int
    ) -> dict[str, NDArray[np.float64]]:
        """The columns of these metrics; raises TrialsError for a list that is too short for truthfulness."""
        columns = {name: np.full(len(answers), np.nan) for name in metrics}
        rows = np.flatnonzero(lists.numbers != NO_LIST)
        if not rows.size:
            return columns
        numbers = lists.numbers[rows]
        sizes = np.diff(lists.begins)[numbers]
        if TRUTHFULNESS in metrics and sizes.min() < FEWEST_REFERENCES:
            first = int((sizes < FEWEST_REFERENCES).argmax())
            problem = f"truthfulness needs at least {FEWEST_REFERENCES} references, got {sizes[first]}"
            raise TrialsError(problem, column="references", row=int(rows[first]))
        texts, begins = lists.texts.tolist(), lists.begins.tolist()
        key_of_list = {number: tuple(texts[slice(*begins[number : number + 2])]) for number in set(numbers.tolist())}
        codes = {key: code for code, key in enumerate(dict.fromkeys(key_of_list.values()))}
        questions = self._read(list(codes), n_threads)
        names = {str(code): code for code in codes.values()}
        scorer = _core.Scorer(questions, names, 1, _core.FloatSum.compensated)
        all_codes = ["0"] * len(answers)
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            all_codes[row] = str(codes[key_of_list[number]])
        scores = scorer.score(all_codes, answers, n_threads)
        for name, column in columns.items():
            column[rows] = scores.column(NGRAM_METRICS.index(name))[rows]
        return columns

    def _read(self, keys: list[tuple[str, ...]], n_threads: int) -> list[_core.Question]:
        """The lists as questions, of which the new ones are compiled."""
        questions = dict(self._questions)
        new = [key for key in keys if key not in questions]
        spellings = [None if self._tokenizer is None else Spelling.learned(self._tokenizer, key) for key in new]
        spelled = [
            list(key) if spelling is None else spelling.spelled(key)
            for key, spelling in zip(new, spellings, strict=True)
        ]
        sets = [texts if any(texts) else [_NO_UNIT] for texts in spelled]
        lengths = [self._lengths(texts).native for texts in sets]
        compiled = _core.compile([[texts] for texts in sets], _core.Profile.leaderboard, n_threads, lengths)
        for key, spelling, lengths_of_list, index in zip(new, spellings, lengths, compiled, strict=True):
            questions[key] = _core.Question(
                index=index,
                rules=_core.KeywordRules([]),
                set_columns=[0],
                searchers=[],
                token_reader=None,
                lengths=lengths_of_list,
                spelling=None if spelling is None else spelling.native,
            )
        by_age = dict.fromkeys((*keys, *reversed(questions)))  # the lists of this batch are the youngest
        self._questions = {key: questions[key] for key in reversed([*by_age][:_MOST_KEPT])}
        return [questions[key] for key in keys]

    def _lengths(self, texts: Sequence[str]) -> Lengths:
        return Lengths.fitting(median(map(len, texts))) if self._fits_lengths else Lengths()
