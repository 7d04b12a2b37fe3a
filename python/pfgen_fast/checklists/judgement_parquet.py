"""Judgements as a Parquet table; only the columns that are needed are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import IO, Any

from ..errors import ChecklistError
from ..files.reading import read_stored
from ..tables.arrow_columns import MISFITS, pyarrow
from .judgements import Judgement

_COUNTS = ("trial", "rating", "tries", "words", "most_repeated_sentence")


def write_parquet(file: IO[bytes], judgements: Sequence[Judgement]) -> None:
    """Writes judgements as a table, with null for None."""
    pa = pyarrow()
    names = [field.name for field in fields(Judgement)]
    columns = [pa.array([getattr(one, name) for one in judgements], _type(name)) for name in names]
    pa.parquet.write_table(pa.Table.from_arrays(columns, names), file)


def parquet_rows(path: Path, names: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a table with these of its columns, each with its place for error messages."""
    pa, content = pyarrow(), read_stored(path)
    at, n_rows = f"{path}: damaged or no table of judgements", 0
    try:
        with pa.parquet.ParquetFile(pa.BufferReader(content)) as table:
            for batch in table.iter_batches(columns=[name for name in names if name in table.schema_arrow.names]):
                columns = []
                for name in batch.schema.names:
                    at = f"{path}, column {name!r}"
                    columns.append(batch.column(name).cast(_type(name)))
                for row in pa.RecordBatch.from_arrays(columns, batch.schema.names).to_pylist():
                    n_rows += 1
                    yield f"{path}, row {n_rows}", row
    except (pa.ArrowException, *MISFITS) as error:
        raise ChecklistError(f"{at}: {error}") from None


def _type(name: str) -> Any:
    pa = pyarrow()
    if name in _COUNTS:
        return pa.int64()
    others = {
        "scores": pa.list_(pa.float64()),
        "reasons": pa.list_(pa.string()),
        "cut": pa.bool_(),
        "temperature": pa.float64(),
    }
    return others.get(name, pa.string())
