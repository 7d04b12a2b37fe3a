"""Raw answers from files of any size, and tables of answers: chunked Arrow strings, stored in Parquet files.

Raw answers are JSON lines or Parquet; those to a question are in the order of the files and of their lines. A table of
answers has the columns `row` (the raw answer's number, from 0) and `answer`; a table of removed answers also has a
`reason`. The same rows produce the same bytes with any number of threads.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import BuildError, TrialsError, optional
from ..base.file_reading import numbered_lines, opened, reading
from ..base.file_writing import writing_whole
from ..base.native import _core
from ..base.untrusted_json import Fault, text, unique
from ..runs.trials import bad_line, expand, find_runs, single_trials

_CHUNK_ROWS = 1 << 16
_ROW_GROUP_ROWS = 1 << 17


def arrow(module: str = "pyarrow") -> Any:
    """Imports pyarrow or one of its modules."""
    return optional(module, extra="tables", needed_for="building a suite")


def mapped(column: Any, function: Callable[[Any], Any], threads: int) -> list[Any]:
    """Applies a function to each part of a column, in threads, because pyarrow releases the GIL; keeps the order."""
    parts = [column.slice(start, _CHUNK_ROWS).chunks for start in range(0, len(column), _CHUNK_ROWS)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda part: function(arrow().concat_arrays(part)), parts))


def matches(answers: Any, pattern: str) -> Any:
    """Which of the answers (an Arrow array) contain a match of the pattern."""
    return arrow("pyarrow.compute").match_substring_regex(answers, pattern)


def re2_pattern(value: Any) -> str:
    """A regular expression that RE2 accepts."""
    pattern = text(value)
    if not pattern:
        raise Fault("the pattern is empty and would match everything")
    try:
        matches(arrow().array([""], "string"), pattern)
    except UnicodeEncodeError:
        raise Fault(f"the pattern {pattern!r} does not compile: it has a lone surrogate") from None
    except arrow().ArrowInvalid as error:
        problem = str(error).removeprefix("Invalid regular expression: ")
        raise Fault(f"the pattern {pattern!r} does not compile: {problem}") from None
    return pattern


def write_table(path: Path, table: Any) -> None:
    """Writes a table as Parquet, atomically."""
    with writing_tables(path, table.schema) as writer:
        writer.write_table(table, _ROW_GROUP_ROWS)


@contextlib.contextmanager
def writing_tables(path: Path, schema: Any) -> Iterator[Any]:
    """Yields a writer of tables with one schema to a Parquet file, which appears when it is complete."""
    # Answers rarely repeat, so a dictionary would be built only to be discarded.
    options: dict[str, Any] = {"use_dictionary": ["reason"], "compression": "zstd"}
    with writing_whole(path) as file, arrow("pyarrow.parquet").ParquetWriter(file, schema, **options) as writer:
        yield writer


def read_table(path: Path) -> Any:
    """Reads a table written by `write_table`."""
    try:
        with opened(path) as file:
            return arrow("pyarrow.parquet").read_table(file)
    except (TrialsError, arrow().ArrowException) as error:
        raise BuildError(
            f"{path}: cannot be read ({error}); delete it and run the same command again to rebuild it"
        ) from None


_BATCH_ROWS = 1 << 14
_ROW_GROUP_BYTES = 1 << 23
_ENDINGS = (".jsonl", ".jsonl.xz", ".jsonl.gz", ".jsonl.zst", ".parquet")


def input_files(patterns: Sequence[str], folder: Path) -> list[Path]:
    """The files that match patterns, each once. A pattern is a file, a glob, or a folder with runs at any depth."""
    files: dict[Path, None] = {}
    for pattern in patterns:
        for path in expand(folder / pattern):
            files.update(dict.fromkeys(_files_at(path)))
    return list(files)


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
    """Writes the answers in files to one table per question; returns the counts, and the number of other answers."""
    n_rows, n_unknown = 0, 0
    sources = [(path, None) for path in shared] + [(path, code) for code, paths in own.items() for path in paths]
    with contextlib.ExitStack() as stack:
        schema = arrow().schema([("row", "int64"), ("answer", "string")])
        parts = {code: _Part(stack.enter_context(writing_tables(path, schema))) for code, path in targets.items()}
        for path, only in sources:
            read = _read_parquet if path.suffix == ".parquet" else _read_json_lines
            for asked, answers, place in read(path, codes, only):
                if only is not None and (asked != only).any():
                    where = f"{path}, {place(int(np.argmax(asked != only)))}"
                    raise TrialsError(f"{where}: an answer to another question; this file may answer only one question")
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


_Batches = Iterator[tuple[NDArray[np.int32], Any, Callable[[int], str]]]
"""Batches of question indices (-1: unknown) and answers, with a function that says where a row of the batch is."""


def _read_json_lines(path: Path, codes: Mapping[str, int], only: int | None) -> _Batches:
    usual = next((question for question, code in codes.items() if code == only), None)
    head = b"" if usual is None else json.dumps({"question": usual}).encode()[:-1] + b", "
    with reading(path) as file:
        numbered = numbered_lines(file, str(path))
        while some := list(islice(numbered, _BATCH_ROWS)):
            first = some[0][0]
            whole = b"".join(_with_question(line, head) if head else line for _, line in some)
            lines = _core.TrialLines(whole, partial(_parse, path, first, usual, head))
            asked = np.array([codes.get(question, -1) for question in lines.questions.tolist()], np.int32)
            yield asked, arrow().array(lines.answers.tolist(), "string"), partial(_line, lines, first)


def _with_question(line: bytes, head: bytes) -> bytes:
    """Adds the question to a line without one, because the core reads only lines with a question."""
    return head + line[1:] if line[:1] == b"{" and b'"question"' not in line else line


def _line(lines: _core.TrialLines, first: int, row: int) -> str:
    return f"line {first + lines.number(row)}"


def _parse(path: Path, first: int, usual: str | None, head: bytes, index: int, line: bytes) -> tuple[str, str]:
    """The question (by default `usual`) and the answer of a line that the core does not read."""
    row: Any = None
    if head and line.startswith(head):
        line = b"{" + line.removeprefix(head)
    try:
        row = json.loads(line, object_pairs_hook=unique)
        question, answer = row.get("question", usual), row["answer"]
        if isinstance(question, str) and isinstance(answer, str):
            answer.encode()
            return question, answer
    except UnicodeEncodeError:
        raise TrialsError(f"{path}, line {first + index}: a lone surrogate, which is not valid text") from None
    except (Fault, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass  # `bad_line` describes the fault
    if usual is not None and isinstance(row, dict):
        line = json.dumps({"question": usual, **row}).encode()
    raise bad_line(path, first + index, line)


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
                    places = compute.fill_null(compute.index_in(texts["question"], keys), len(keys))
                    asked = numbers[np.asarray(places)]
                yield asked, texts["answer"], partial(_row, n_rows)
                n_rows += some.num_rows
    except pa.ArrowException as error:
        raise TrialsError(f"{path}: damaged or no Parquet file: {error}") from None


def _row(n_before: int, row: int) -> str:
    return f"row {n_before + row + 1}"


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
