"""The columns of tables of scores: names that the user gives, guesses from usual names, and cells as names and scores.

A column of cells is a list or an Arrow array.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import TrialsError
from ...base.untrusted_json import MAX_NUMBER
from ...base.untrusted_text import did_you_mean, few_names, in_one_line, shown_value
from ...rewards.references.metrics import METRICS
from ...suite.rules import AVERAGE_FIRST
from ...tables.formats import reader_of
from ...tables.table_rows import STANDARD_STREAM, ChosenColumns, usual_columns

Codes = NDArray[np.int32]
Locate = Callable[[int], str]
"""The location of a row for messages."""

NO_NAME = -1
"""The number of an empty name."""

_WORDS = {"true": 1.0, "false": 0.0}

_USUAL = {
    "item": (
        "item", "item_id", "question_id", "qid", "doc_id", "task_id", "problem_id", "prompt_id", "example_id",
        "instance_id", "sample_id", "id", "question", "problem", "prompt", "example", "instance", "sample", "doc_hash",
    ),
    "model": ("model", "model_name", "model_id", "system", "system_id", "checkpoint", "run", "run_id", "perturbation"),
    "trial": (
        "trial", "epoch", "attempt", "repeat", "repetition", "replicate", "seed", "sample_index", "run", "run_id",
    ),
    "metric": ("metric", "metric_name", "measure", "criterion", "scorer"),
    "score": (
        "score", "accuracy", "acc", "correct", "is_correct", "exact_match", "em", "passed", "pass", "f1",
        "reward", "rating", "grade", "value",
    ),
    "subject": ("subject", "category", "domain", "topic", "subset", "task", "dataset"),
    "cluster": ("cluster", "cluster_id", "document", "document_id", "passage", "passage_id", "context_id"),
}  # fmt: skip
"""Usual names of columns in lower case, the most usual name first."""

OUR_SCORES = tuple(name for name in dict.fromkeys((*AVERAGE_FIRST, *METRICS)) if name not in _USUAL["score"])
"""The columns that `pfgen-fast score` writes, the one that ranks first."""


@dataclass(frozen=True, kw_only=True)
class ColumnNames:
    """The names of the columns of a table of scores.

    A column that is not named is found by its usual names. An empty name stands for no column.

    Attributes:
        item: The column with the names of the items.
        model: The column with the names of the models.
        score: The columns with scores; several columns are several metrics.
        trial: The column that tells the trials of a model on one item apart.
        metric: The column with the names of the metrics.
        subject: The column with the subject of each item.
        cluster: The column with the cluster of each item, such as its document.

    Example:
        >>> ColumnNames(item="problem", score=("accuracy", "f1")).score
        ('accuracy', 'f1')
    """

    item: str | None = None
    model: str | None = None
    score: tuple[str, ...] = ()
    trial: str | None = None
    metric: str | None = None
    subject: str | None = None
    cluster: str | None = None

    @property
    def labels(self) -> list[str]:
        """The named columns except those with scores."""
        names = [getattr(self, part.name) for part in fields(self) if part.name != "score"]
        return [name for name in names if name]


def used_columns(named: ColumnNames, names: Sequence[str], where: str) -> tuple[ColumnNames, str]:
    """The columns of a table that has columns with these names, and a sentence about the guesses, or an empty text."""
    free = [name for name in names if name]
    for name in (*named.labels, *named.score):
        if name not in free:
            there = few_names(free, 12) or "no columns"
            raise TrialsError(f"{where}: no column '{in_one_line(name)}'; there are {there}{did_you_mean(name, free)}")
    free = [name for name in free if name not in named.labels and name not in named.score]
    columns, guesses = named, []
    for kind, usual in _USUAL.items():
        if getattr(named, kind) not in (None, ()):
            continue
        matches = usual_columns(free, usual)
        # Several columns of scores are several metrics, unless one is named score, or metrics are in a column.
        if kind != "score" or columns.metric or "score" in matches:
            matches = matches[:1]
        ours = _our_scores(free, has_models=bool(columns.model)) if kind == "score" and not columns.metric else []
        if "average" in ours or not matches:
            matches = ours or matches
        if matches:
            values: dict[str, Any] = {kind: tuple(matches) if kind == "score" else matches[0]}
            columns = replace(columns, **values)
            free = [name for name in free if name not in matches]
            if matches not in ([kind], ["question"], ours):  # files that `score` wrote need no note
                guesses.append(f"{kind}s from {' and '.join(repr(in_one_line(name, 40)) for name in matches)}")
    return columns, f"read {', '.join(guesses)}, columns chosen by their usual names" if guesses else ""


def _our_scores(names: Sequence[str], *, has_models: bool) -> list[str]:
    """The columns that `pfgen-fast score` has written; a lone `average` may also be a model of a wide table."""
    ours = [name for name in OUR_SCORES if name in names]
    if ours == ["average"] and not has_models:
        return []
    prefixes = tuple(f"{name}_" for name in ours if name in ("fluency", "truthfulness"))
    return ours + [name for name in names if name not in ours and name.startswith(prefixes or ("\0",))]


def location_of_row(path: str, encoding: str | None, row: int) -> str:
    """The location of a row that was read before, for the rare message that needs it: the file is read again."""
    if path == STANDARD_STREAM:
        return f"stdin, row {row + 1}"
    with contextlib.closing(reader_of(path, encoding)(ChosenColumns(), None)) as parts:
        for part in parts:
            if row < len(part):
                return part.location(row)
            row -= len(part)
    return path


# --- cells


class Names(dict[str, int]):
    """The number of each name, in the order of first occurrences."""

    def number(self, name: str) -> int:
        """The number of a name."""
        return self.setdefault(name, len(self))

    def numbers(self, values: Any, column: str, locate: Locate, *, may_be_empty: bool = False) -> Codes:
        """The numbers of the names in a column."""
        names, places = _encoded(values)
        numbers = np.array(list(map(self.number_of, names)), dtype=np.int32)
        codes: Codes = numbers[places] if len(places) else places
        empty = np.flatnonzero(codes == NO_NAME)
        if len(empty) and not may_be_empty:
            raise TrialsError(f"{locate(int(empty[0]))}, column {column!r}: empty; expected a name")
        return codes

    def number_of(self, value: Any, task: str | None = None) -> int:
        """The number of the name in a cell, which may be a name of a task only."""
        name = label(value)
        return self.number(named_in(task, name)) if name.strip() else NO_NAME


def named_in(task: str | None, name: str) -> str:
    """A name that several tasks may have."""
    return name if task is None else f"{task}/{name}"


def _encoded(values: Any) -> tuple[list[Any], Codes]:
    """The distinct values of a column, and the place of each row in them."""
    if not isinstance(values, list):
        try:
            encoded = values if hasattr(values, "indices") else values.dictionary_encode()
            indices = encoded.indices.fill_null(len(encoded.dictionary))
            places = np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int32)
            return [*encoded.dictionary.to_pylist(), None], places
        except NotImplementedError:  # a column of lists or objects
            values = values.to_pylist()
    distinct: dict[Any, int] = {}
    keys = (str(value) if isinstance(value, (list, dict)) else value for value in values)
    places = np.array([distinct.setdefault(key, len(distinct)) for key in keys], dtype=np.int32)
    return list(distinct), places


def label(value: Any) -> str:
    """A cell as a name. A whole number becomes its digits, and a missing value becomes an empty name."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def scores_of(values: Any, column: str, locate: Locate) -> tuple[Floats, bool]:
    """The scores in a column, NaN for empty cells, and whether some of the cells are true or false."""
    if not isinstance(values, list):
        import pyarrow as pa

        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if pa.types.is_boolean(values.type):
            return np.array(values.cast(pa.int8()).cast(pa.float64()).to_numpy(zero_copy_only=False)), True
        if pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
            floats = values.cast(pa.float64(), safe=False)
            scores = np.array(floats.to_numpy(zero_copy_only=False), dtype=np.float64)
            is_missing = floats.is_null().to_numpy(zero_copy_only=False)
            _check(scores, is_missing, column, locate)
            return scores, False
        values = values.to_pylist()
    has_words = any(type(value) is bool for value in values)
    try:
        if any(isinstance(value, str) and "_" in value for value in values):
            raise ValueError
        scores = np.array(list(map(float, values)), dtype=np.float64)
        is_missing = np.zeros(len(scores), dtype=bool)
    except (ValueError, TypeError, OverflowError):
        scores = np.empty(len(values))
        is_missing = np.zeros(len(values), dtype=bool)
        for row, value in enumerate(values):
            score = score_of(value)
            if score is None:
                problem = f"{locate(row)}, column {column!r}: expected a number, not {shown_value(value)}"
                raise TrialsError(problem) from None
            scores[row], is_missing[row] = score, is_empty(value)
            has_words = has_words or (isinstance(value, str) and value.strip().lower() in _WORDS)
    _check(scores, is_missing, column, locate)
    return scores, has_words


def is_empty(value: Any) -> bool:
    """Whether a cell is empty."""
    return value is None or (isinstance(value, str) and not value.strip())


def score_of(value: Any) -> float | None:
    """A cell as a score, NaN for an empty cell; None if the cell is no number."""
    if is_empty(value):
        return math.nan
    if isinstance(value, str):
        if value.strip().lower() in _WORDS:
            return _WORDS[value.strip().lower()]
        if "_" in value:
            return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (ValueError, TypeError):
        return None


def _check(scores: Floats, is_missing: NDArray[np.bool_], column: str, locate: Locate) -> None:
    bad = np.flatnonzero(~is_missing & ~(np.abs(scores) <= MAX_NUMBER))
    if len(bad):
        row = int(bad[0])
        raise TrialsError(
            f"{locate(row)}, column {column!r}: the score is {scores[row]:g}; expected a finite number up to "
            f"{MAX_NUMBER:.0e}, or an empty cell where there is no score"
        )
