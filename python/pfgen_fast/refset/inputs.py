"""Reads raw answers from files of any size: JSON lines or Parquet, split by question and stored as Arrow columns.

The answers to a question are in the order of the files and, within a file, in the order of its lines.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from ..errors import BuildError, TrialsError
from ..files.reading import numbered_lines, opened, reading
from ..files.untrusted_json import parse_json
from ..runs.trials import bad_line, expand, find_runs, single_trials
from .answer_tables import arrow, writing_tables

_BATCH_ROWS = 1 << 14
_ROW_GROUP_BYTES = 1 << 23
_ENDINGS = (".jsonl", ".jsonl.xz", ".jsonl.gz", ".jsonl.zst", ".parquet")


def input_files(patterns: Sequence[str], folder: Path) -> list[Path]:
    """The files that patterns match, without duplicates: files, globs, or folders with runs at any depth."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        for path in expand(folder / pattern):
            found.update(dict.fromkeys(_files_at(path)))
    return list(found)


def _files_at(path: Path) -> list[Path]:
    if path.is_dir():
        runs = find_runs([path])
        return [file for run in runs for file in ([run.trials_path] if run.trials_path else single_trials(run.folder))]
    if not path.name.endswith(_ENDINGS):
        raise BuildError(f"{path}: expected answers in a file that ends in {', '.join(_ENDINGS)}, or a folder of runs")
    return [path]


def gather(
    shared: Sequence[Path],
    own: Mapping[int, Sequence[Path]],
    targets: Mapping[int, Path],
    codes: Mapping[str, int],
    *,
    on_rows: Callable[[int], None] | None = None,
) -> tuple[dict[int, int], int]:
    """Writes the answers in files to one table per question."""
    n_rows, n_unknown = 0, 0
    sources = [(path, None) for path in shared] + [(path, code) for code, paths in own.items() for path in paths]
    with contextlib.ExitStack() as stack:
        schema = arrow().schema([("row", "int64"), ("answer", "string")])
        parts = {code: _Part(stack.enter_context(writing_tables(path, schema))) for code, path in targets.items()}
        for path, only in sources:
            read = _read_parquet if path.suffix == ".parquet" else _read_json_lines
            for asked, answers in read(path, codes, only):
                for code in np.unique(asked).tolist():
                    if code in parts:
                        parts[code].add(answers.filter(arrow().array(asked == code)))
                n_rows += len(asked)
                n_unknown += int((asked < 0).sum())
                if on_rows is not None:
                    on_rows(n_rows)
        return {code: part.finish() for code, part in parts.items()}, n_unknown


class _Part:
    """Collects the answers to one question and writes them in batches."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._pending: list[Any] = []
        self._n_bytes = self._n_rows = 0

    def add(self, answers: Any) -> None:
        self._pending.append(answers)
        self._n_bytes += answers.nbytes
        if self._n_bytes >= _ROW_GROUP_BYTES:
            self._flush()

    def finish(self) -> int:
        self._flush()
        return self._n_rows

    def _flush(self) -> None:
        if self._pending:
            answers = arrow().concat_arrays(self._pending)
            rows = np.arange(self._n_rows, self._n_rows + len(answers), dtype=np.int64)
            self._writer.write_table(arrow().table({"row": rows, "answer": answers}))
            self._n_rows += len(answers)
            self._pending, self._n_bytes = [], 0


_Batches = Iterator[tuple[Any, Any]]
"""Batches of question indices (-1: unknown) and answers."""


def _read_json_lines(path: Path, codes: Mapping[str, int], only: int | None) -> _Batches:
    pa = arrow()
    asked: list[int] = []
    answers: list[str] = []

    def batch() -> tuple[Any, Any]:
        return np.array(asked, np.int32), pa.array(answers, pa.string())

    with reading(path) as file:
        for number, line in numbered_lines(file, str(path)):
            try:
                row = orjson.loads(line)
                answer = row["answer"]
                asked.append(codes.get(row["question"], -1) if only is None else _is_about(row, codes, only))
                if type(answer) is not str:
                    raise TypeError
                if line.count(b'"answer"') > 1 or line.count(b'"question"') > 1 or b"\\u00" in line:
                    parse_json(line, f"{path}, line {number}")  # raises for a key that appears twice
                answers.append(answer)
            except (ValueError, KeyError, TypeError):
                if not line or line.isspace():
                    continue
                raise _bad_line(path, number, line, only) from None
            if len(answers) == _BATCH_ROWS:
                yield batch()
                asked.clear()
                answers.clear()
    if answers:
        yield batch()


def _is_about(row: Any, codes: Mapping[str, int], only: int) -> int:
    """The question index of a row in a file about one question; the row may omit the question, but not name another."""
    if "question" in row and codes.get(row["question"]) != only:
        raise ValueError
    return only


def _bad_line(path: Path, number: int, line: bytes, only: int | None) -> TrialsError:
    """The error that explains why a line is not an answer."""
    where = f"{path}, line {number}"
    try:
        row = parse_json(line, where)
    except TrialsError as error:
        return error
    if not isinstance(row, dict) or not isinstance(row.get("answer"), str):
        if isinstance(row, dict) and "answer" in row:
            return TrialsError(f"{where}: 'answer' is a text, not {type(row['answer']).__name__}")
        return TrialsError(f"{where}: expected an object with 'question' and 'answer'")
    if only is not None and "question" in row:
        return TrialsError(f"{where}: an answer to another question, in a file of answers to one")
    if not isinstance(row.get("question", ""), str) or "question" not in row:
        return bad_line(path, number, line)
    return TrialsError(f"{where}: a lone surrogate, which is not valid text")


def _read_parquet(path: Path, codes: Mapping[str, int], only: int | None) -> _Batches:
    pa, compute = arrow(), arrow("pyarrow.compute")
    keys = pa.array(list(codes), pa.string())
    numbers = np.array([*codes.values(), -1], np.int32)
    n_rows = 0
    try:
        with opened(path) as file, arrow("pyarrow.parquet").ParquetFile(file) as table:
            names = _column_names(path, table.schema_arrow, with_question=only is None)
            for some in table.iter_batches(_BATCH_ROWS, columns=names):
                texts = {name: _texts(some.column(name), name, path, n_rows) for name in names}
                asked = np.full(some.num_rows, -1 if only is None else only, np.int32)
                if "question" in texts:
                    found = compute.fill_null(compute.index_in(texts["question"], keys), len(keys))
                    asked = numbers[np.asarray(found)]
                if only is not None and (asked != only).any():
                    row = n_rows + int(np.argmax(asked != only)) + 1
                    raise TrialsError(f"{path}, row {row}: an answer to another question, in a file of answers to one")
                n_rows += some.num_rows
                yield asked, texts["answer"]
    except pa.ArrowException as error:
        raise TrialsError(f"{path}: damaged or no Parquet file: {error}") from None


def _column_names(path: Path, schema: Any, *, with_question: bool) -> list[str]:
    for name in ("answer", *(["question"] if with_question else [])):
        if schema.names.count(name) != 1:
            there = ", ".join(map(repr, schema.names[:20])) or "none"
            raise TrialsError(f"{path}: expected one column {name!r}; there are {there}")
    return [name for name in ("question", "answer") if name in schema.names]


def _texts(column: Any, name: str, path: Path, n_rows_before: int) -> Any:
    """A checked column of texts, as Arrow strings."""
    pa, types = arrow(), arrow().types
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if not (types.is_string(kind) or types.is_large_string(kind) or getattr(types, "is_string_view", bool)(kind)):
        raise TrialsError(f"{path}, column {name!r}: expected texts, not {column.type}")
    if column.null_count:
        row = n_rows_before + int(np.argmax(np.asarray(column.is_null()))) + 1
        raise TrialsError(f"{path}, row {row}, column {name!r}: expected a text, not null")
    texts = column.cast(pa.string())
    texts.validate(full=True)
    return texts
