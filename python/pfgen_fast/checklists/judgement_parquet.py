"""Judgements as a Parquet table, read column by column for speed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, fields
from itertools import islice, repeat
from pathlib import Path
from typing import IO, Any

from ..errors import ChecklistError, TrialsError
from ..files.reading import read_stored
from ..files.untrusted_text import in_one_line
from ..tables.arrow_columns import MISFITS, pyarrow
from .judgements import METHODS, Judgement

_HASHES = ("response_sha256", "prompt_sha256", "checklist_sha256", "instruction_sha256")
_TEXTS = ("id", "length", "judge", "version", "method", "fault", "profile", *_HASHES)
_COUNTS = ("trial", "rating", "tries", "words", "most_repeated_sentence")
_FROM_ONE = ("trial", "rating")
_DEFAULTS = {field.name: field.default for field in fields(Judgement)}
_MAX_COUNT = 10**15


def write_parquet(file: IO[bytes], judgements: Sequence[Judgement]) -> None:
    """Writes judgements as a table, with null for None."""
    pa = pyarrow()
    types = _types(pa)
    schema = pa.schema([(field.name, types[field.name]) for field in fields(Judgement)])
    columns = [pa.array([getattr(one, name) for one in judgements], type=types[name]) for name in schema.names]
    pa.parquet.write_table(pa.Table.from_arrays(columns, schema=schema), file)


def read_parquet(path: Path, *, with_reasons: bool) -> Iterator[tuple[str, Judgement]]:
    """The judgements of a table, each with its place for error messages."""
    pa = pyarrow()
    try:
        with pa.parquet.ParquetFile(pa.BufferReader(read_stored(path))) as table:
            names = _columns(table.schema_arrow.names, path)
            if not with_reasons and "reasons" in names:
                names.remove("reasons")
            n_rows = 0
            for batch in table.iter_batches(columns=names):
                yield from _judgements(batch, path, n_rows)
                n_rows += batch.num_rows
    except (TrialsError, pa.ArrowException, *MISFITS) as error:
        if isinstance(error, ChecklistError):
            raise
        reason = str(error) if isinstance(error, TrialsError) else f"{path}: damaged or no table of judgements: {error}"
        raise ChecklistError(reason) from None


def _columns(names: Sequence[str], path: Path) -> list[str]:
    needed = [name for name, default in _DEFAULTS.items() if default is MISSING]
    without = [name for name in needed if name not in names]
    if without:
        raise ChecklistError(f"{path}: the column {without[0]!r} is missing; expected {', '.join(needed)}")
    return [name for name in _DEFAULTS if name in names]


def _judgements(batch: Any, path: Path, n_before: int) -> Iterator[tuple[str, Judgement]]:
    pa = pyarrow()
    types = _types(pa)
    columns: list[Iterable[Any]] = []
    for name, default in _DEFAULTS.items():
        if name not in batch.schema.names:
            columns.append(repeat(default))
            continue
        try:
            column = batch.column(name).cast(types[name])
            _check(column, name, path, n_before)
            columns.append(_values(column, name))
        except (pa.ArrowException, *MISFITS) as error:
            if isinstance(error, ChecklistError):
                raise
            raise ChecklistError(f"{path}, column {name!r}: {error}") from None
    for number, judgement in enumerate(map(Judgement, *columns), start=n_before + 1):
        yield f"{path}, row {number}", judgement


def _check(column: Any, name: str, path: Path, n_before: int) -> None:
    """Checks the values of a column beyond their type; an error names the first invalid row."""
    values: list[Any] = []
    if name in _COUNTS:
        least = 1 if name in _FROM_ONE else 0
        ends = pyarrow().compute.min_max(column)
        if None in (ends["min"].as_py(), least) or least <= ends["min"].as_py() <= ends["max"].as_py() <= _MAX_COUNT:
            return
        values = [value is None or least <= value <= _MAX_COUNT for value in column.to_pylist()]
        expected = f"a whole number from {least}"
    elif name == "method":
        values = [value is None or value in METHODS for value in _texts(column)]
        expected = ", ".join(METHODS)
    elif _DEFAULTS[name] is MISSING and name != "scores":
        if not column.null_count:
            return
        values = [value is not None for value in column.to_pylist()]
        expected = "a string"
    if False in values:
        row = values.index(False)
        found = column[row].as_py()
        shown = "null" if found is None else repr(found)
        raise ChecklistError(f"{path}, row {n_before + row + 1}: {name}: expected {expected}, not {in_one_line(shown)}")


def _types(pa: Any) -> dict[str, Any]:
    return {
        **dict.fromkeys(_TEXTS, pa.string()),
        **dict.fromkeys(_COUNTS, pa.int64()),
        "scores": pa.list_(pa.float64()),
        "reasons": pa.list_(pa.string()),
        "cut": pa.bool_(),
        "temperature": pa.float64(),
    }


def _values(column: Any, name: str) -> list[Any]:
    """The values of a column of a batch; null becomes the default where None is invalid."""
    if name == "scores":
        return _lists(column)
    if name == "reasons":
        return [tuple(reasons or ()) for reasons in column.to_pylist()]
    values = _texts(column) if name in _TEXTS else column.to_pylist()
    default = _DEFAULTS[name]
    if default is None or default is MISSING or not column.null_count:
        return values
    return [default if value is None else value for value in values]


def _texts(column: Any) -> list[str | None]:
    """Strings, often repeated; only different ones become new Python objects."""
    encoded = column.dictionary_encode()
    words = [*encoded.dictionary.to_pylist(), None]  # None is at index -1
    return [words[place] for place in encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).tolist()]


def _lists(column: Any) -> list[tuple[float, ...] | None]:
    """Lists of numbers; null is None, and a null inside a list is NaN."""
    numbers = iter(column.flatten().to_numpy(zero_copy_only=False).tolist())
    lengths = column.value_lengths().to_pylist()
    return [None if length is None else tuple(islice(numbers, length)) for length in lengths]
