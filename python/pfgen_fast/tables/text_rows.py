"""Rows read from text files: dictionaries with their line numbers, and their values as JSON or Arrow arrays."""

from __future__ import annotations

import bisect
import contextlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal, DecimalException
from itertools import chain, compress, islice
from typing import TYPE_CHECKING, Any

from ..base.errors import TrialsError
from ..base.untrusted_json import Fault, parse_json
from ..base.untrusted_text import in_one_line
from .arrow_columns import MISFITS, pyarrow
from .table_rows import AnyColumns, Columns, RowBatch, RowBatches, Scores, TextForm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH_ROWS = 8192
"""Smaller than for Parquet, because each row is a dictionary."""

_SAFE_DIGITS = 16
_TINY = 1e-300
"""Shorter numbers between these sizes keep their digits as floats."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True)
class _TextRows:
    """Rows of a text file, and for each row its number, or the number of its first line (see `unit`)."""

    source: str
    names: Sequence[str]
    contents: list[dict[str, Any]]
    numbers: list[int]
    unit: str = "line"
    form: TextForm | None = None

    def __len__(self) -> int:
        return len(self.contents)

    def location(self, row: int | None) -> str:
        return self.source if row is None else f"{self.source}, {self.unit} {self.numbers[row]}"

    def values(self, column: str) -> list[Any]:
        return [row.get(column) for row in self.contents]

    def lists(self, column: str) -> list[Any]:
        values = self.values(column)
        return values if self.form is None else [self._listed(text, column, row) for row, text in enumerate(values)]

    def _listed(self, text: str, column: str, row: int) -> list[Any]:
        """The texts in a cell of a CSV file: a JSON list, or a single text."""
        if not text.startswith("["):
            return [text] if text else []
        values = parse_json(text, f"{self.location(row)}, column {column!r}: the JSON list in the cell")
        return list(values)

    def rows(self) -> list[dict[str, Any]]:
        return self.contents

    def schema(self) -> Any:
        pa = pyarrow()
        if not self.contents:
            return pa.schema([(name, pa.string()) for name in self.names])
        try:
            return pa.schema([(name, self._array(name, None).type) for name in self.names])
        except UnicodeEncodeError:
            raise TrialsError(f"{self.location(None)}: a lone surrogate in the name of a column") from None

    def arrays(self, schema: Any) -> list[Any]:
        known = dict.fromkeys(schema.names)
        for i, row in enumerate(self.contents):
            check_keys(row, known, self.location(i))
        return [self._array(field.name, field.type) for field in schema]

    def only(self, passing: NDArray[np.bool_]) -> _TextRows:
        wanted = passing.tolist()
        return replace(
            self, contents=list(compress(self.contents, wanted)), numbers=list(compress(self.numbers, wanted))
        )

    def _array(self, column: str, kind: Any) -> Any:
        values = [row.get(column) for row in self.contents]
        try:
            return _array(values, kind)
        except MISFITS as error:
            # The error of pyarrow does not name the invalid value, but every prefix that contains the value fails.
            row = bisect.bisect_left(range(len(values)), True, key=lambda n: not _is_array(values[: n + 1], kind))
            raise TrialsError(f"{self.location(row)}, column {column!r}: {str(error)[:200]}") from None


def _array(values: list[Any], kind: Any) -> Any:
    """An Arrow array of type `kind`, which must fit all values; None selects the type of the values."""
    array = pyarrow().array(values)
    if kind is None or array.type == kind:
        return array
    if not _fits(array.type, kind):
        raise TypeError(f"{array.type}, but the first rows have {kind}")
    return pyarrow().array(values, kind)


def _is_array(values: list[Any], kind: Any) -> bool:
    try:
        _array(values, kind)
    except MISFITS:
        return False
    return True


def _fits(actual: Any, kind: Any) -> bool:
    """Whether values of one Arrow type fit another type; pyarrow would silently drop unknown struct fields."""
    types = pyarrow().types
    if actual == kind or types.is_null(actual):
        return True
    if types.is_list(actual) and types.is_list(kind):
        return _fits(actual.value_type, kind.value_type)
    if types.is_struct(actual) and types.is_struct(kind):
        parts = {part.name: part.type for part in kind}
        return all(part.name in parts and _fits(part.type, parts[part.name]) for part in actual)
    return bool(types.is_integer(actual) and types.is_floating(kind))


def check_keys(row: dict[str, Any], known: dict[str, None], location: str) -> None:
    """Raises TrialsError for a new key, because the first rows determine the columns of the output."""
    if not row.keys() <= known.keys():
        late = next(key for key in row if key not in known)
        raise TrialsError(f"{location}: the key {late!r} is new; the first rows have {', '.join(map(repr, known))}")


def text_batches(
    source: str,
    rows: Iterator[tuple[int, dict[str, Any]]],
    names_of_none: Sequence[str],
    batch_size: int | None,
    *,
    unit: str = "line",
    form: TextForm | None = None,
) -> RowBatches:
    """Groups numbered rows into batches; `names_of_none` are the columns of a table without rows."""
    n_rows = batch_size or _BATCH_ROWS
    some = list(islice(rows, n_rows))
    if not some:
        yield _TextRows(source, names_of_none, [], [], unit, form)
    while some:
        contents = [row for _, row in some]
        names = list(dict.fromkeys(chain.from_iterable(contents)))
        yield _TextRows(source, names, contents, [number for number, _ in some], unit, form)
        some = list(islice(rows, n_rows))


def json_batches(
    source: str, texts: Iterator[tuple[int, str]], columns: Columns, batch_size: int | None, *, unit: str = "line"
) -> RowBatches:
    """Groups numbered JSON objects into batches, and checks each object."""
    rows = _json_rows(texts, columns, source, unit)
    return text_batches(source, rows, columns.inputs, batch_size, unit=unit)


def _json_rows(
    texts: Iterator[tuple[int, str]], columns: Columns, where: str, unit: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects with their numbers. If an optional key is missing in all rows, it is misspelt."""
    row: Any = {}
    unseen = set(columns.optional)
    for number, text in texts:
        location = f"{where}, {unit} {number}"
        row = parse_json(text, location, parse_float=None if isinstance(columns, AnyColumns) else _number)
        if not isinstance(row, dict):
            raise TrialsError(f"{location}: expected a JSON object, not {type(row).__name__}")
        columns.check_row(row, location)
        unseen.difference_update(row)
        yield number, row
    if row and unseen:
        columns.check(list(row), where)


def _number(text: str) -> float:
    """Converts a number to a float, and raises a Fault if digits are lost; exact digits of the float are accepted."""
    value = float(text)
    if len(text) < _SAFE_DIGITS and _TINY < abs(value) < math.inf:
        return value
    if text == repr(value):  # the usual form; the check below takes ten times as long
        return value
    with contextlib.suppress(DecimalException):  # an infinity, or an exponent beyond all bounds
        exact = Decimal(text)
        rounded = Context(prec=max(len(exact.as_tuple().digits), 1)).create_decimal_from_float(value)
        if exact in (Decimal(repr(value)), rounded):
            return value
    raise Fault(f"the number {in_one_line(text, 60)} loses digits as a float; write it as a string", number=text)


def finite_json(value: Any) -> str:
    """Encodes a value as JSON, with null for NaN and infinities."""
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return _ENCODER.encode(_finite(value))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):  # a map of Arrow has pairs
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_lines(batch: RowBatch, scores: Scores) -> Iterator[str]:
    """The rows of a batch with their scores as JSON, each in one line."""
    for i, (row, scored) in enumerate(zip(batch.rows(), score_rows(scores), strict=True)):
        try:
            yield finite_json({**row, **scored})
        except RecursionError:
            raise TrialsError(f"{batch.location(i)}: JSON nested too deeply") from None


def score_rows(scores: Scores) -> Iterator[dict[str, float | None]]:
    """Yields the scores of each row by column, with None for missing scores."""
    columns = ([None if math.isnan(score) else score for score in column.tolist()] for column in scores.values())
    return (dict(zip(scores, row, strict=True)) for row in zip(*columns, strict=True))
