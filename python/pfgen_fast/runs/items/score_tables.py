"""Tables of scores: long tables with a row for each item and model, and wide tables with a column for each model."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Protocol

import numpy as np

from ...base.errors import TrialsError
from ...base.untrusted_text import few_names, in_one_line
from ...rewards.references.metrics import lower_is_better
from ...tables.formats import column_names, format_of, reader_of
from ...tables.table_rows import STANDARD_STREAM, ChosenColumns
from ...tables.text_rows import text_batches
from .item_columns import OUR_SCORES, ColumnNames, found_columns
from .item_table import Floats
from .score_cells import NO_NAME, Codes, Locate, is_empty, score_of, scores_of
from .score_rows import ScoreRows

_N_ROWS = 1 << 13
_N_CELLS = 1 << 20
"""Maximum numbers of rows and cells that are read at a time."""
_WORDS = "true and false count as 1 and 0"


class Part(Protocol):
    """Some rows of a table; `RowBatch` is one."""

    def __len__(self) -> int: ...

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""

    def location(self, row: int | None) -> str:
        """The location of a row for messages."""

    def values(self, column: str) -> Any:
        """A column, as a list or as an Arrow array."""


def add_file(rows: ScoreRows, path: str, columns: ColumnNames, encoding: str | None) -> None:
    """Adds the rows of a file."""
    read = partial(_parts, path, encoding=encoding)
    n_columns = 1 if path == STANDARD_STREAM else len(column_names(path, encoding))
    n_rows = max(1, min(_N_ROWS, _N_CELLS // max(n_columns, 1)))
    with contextlib.closing(read(n_rows=n_rows)) as parts:
        first = next(parts)
        layout = _Layout.of(first, columns, rows, "stdin" if path == STANDARD_STREAM else path)
        locate = partial(location_of_row, path, encoding)
        if format_of(path) != ".parquet":
            layout.add(chain((first,), parts), rows, locate)
            return
    with contextlib.closing(read(layout.used, n_rows=n_rows)) as parts:
        layout.add(parts, rows, locate)


def add_table(rows: ScoreRows, table: Any, columns: ColumnNames) -> None:
    """Adds the rows of a table in memory: Arrow data, a list of rows as dicts, or a dict of columns."""
    parts = _parts_of(table)
    first = next(parts)
    _Layout.of(first, columns, rows, "the table").add(
        chain((first,), parts), rows, lambda row: f"the table, row {row + 1}"
    )


def _parts(
    path: str, used: tuple[str, ...] = (), *, n_rows: int | None = None, encoding: str | None = None
) -> Generator[Part, None, None]:
    return reader_of(path, encoding)(ChosenColumns(used, "", ()), n_rows)


def location_of_row(path: str, encoding: str | None, row: int) -> str:
    """The location of a row that was read before, for the rare message that needs it: the file is read again."""
    if path == STANDARD_STREAM:
        return f"stdin, row {row + 1}"
    with contextlib.closing(_parts(path, encoding=encoding)) as parts:
        for part in parts:
            if row < len(part):
                return part.location(row)
            row -= len(part)
    return path


class _ArrowPart:
    """A batch of Arrow data in memory."""

    def __init__(self, batch: Any, n_rows_before: int) -> None:
        self._batch, self._n_rows_before = batch, n_rows_before
        self.names: Sequence[str] = batch.schema.names

    def __len__(self) -> int:
        return int(self._batch.num_rows)

    def location(self, row: int | None) -> str:
        return "the table" if row is None else f"the table, row {self._n_rows_before + row + 1}"

    def values(self, column: str) -> Any:
        return self._batch.column(self.names.index(column))


def _parts_of(table: Any) -> Iterator[Part]:
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        from ...tables.batches import record_batches

        n_rows = 0
        for batch in record_batches(table):
            yield _ArrowPart(batch, n_rows)
            n_rows += batch.num_rows
        if not n_rows:
            raise TrialsError("the table has no rows; expected a row for each item")
        return
    if isinstance(table, Mapping):
        lists = [column.tolist() if hasattr(column, "tolist") else list(column) for column in table.values()]
        if len(set(map(len, lists))) > 1:
            raise TrialsError(f"the table has columns of {few_names([str(len(column)) for column in lists])} rows")
        table = [dict(zip(table, row, strict=True)) for row in zip(*lists, strict=True)]
    if (
        not isinstance(table, Sequence)
        or isinstance(table, str | bytes)
        or not all(isinstance(row, Mapping) for row in table)
    ):
        raise TrialsError(
            "expected a table (a data frame, Arrow data, a list of dicts or a dict of lists), "
            f"not {type(table).__name__}"
        )
    yield from text_batches("the table", enumerate(table, start=1), (), None, unit="row")


class _Layout:
    """How the columns of a table are used."""

    def __init__(self, columns: ColumnNames, models: Sequence[str], name: str) -> None:
        self.columns = columns
        self.models = models  # columns of models in a wide table
        # Tables that `score` wrote have no column of trials, and may have several answers to a question.
        self.has_repeats = not columns.trial and not set(columns.score).isdisjoint(OUR_SCORES)
        self._n_seen: dict[tuple[int, int], int] = {}  # number of rows of each model and item
        self.name = name  # for messages

    @classmethod
    def of(cls, part: Part, named: ColumnNames, rows: ScoreRows, name: str) -> _Layout:
        """The layout of a table from its first rows; guesses become remarks."""
        columns, guesses = found_columns(named, part.names, name)
        models: list[str] = []
        remarks = [guesses] if guesses else []
        if not columns.score:
            labels = (columns.item, columns.model, columns.trial, columns.metric, columns.subject, columns.cluster)
            free = [column for column in part.names if column and column not in labels]
            numbers = [column for column in free if _has_numbers(part, column)]
            if len(numbers) == 1 or (columns.model and len(numbers) > 1):
                columns = ColumnNames(**{**vars(columns), "score": tuple(numbers)})
                remarks.append(f"read scores from {few_names(list(map(repr, numbers)))}, columns with numbers")
            elif numbers:
                models = numbers
                remarks.append(f"each of the columns {few_names(numbers, 4)} is a model")
            left = [column for column in free if column not in numbers]
            if models and left:
                remarks.append(f"not used, because the first rows have no numbers there: {few_names(left, 4)}")
        layout = cls(columns, models, name)
        if not len(part):
            raise TrialsError(f"{name}: no rows; expected a row for each item")
        if not columns.item:
            there = few_names([in_one_line(column) for column in part.names if column], 12) or "no columns"
            raise TrialsError(f"{name}: no column of items; name it with --item-column; there are {there}")
        if not columns.score and not models:
            there = few_names([in_one_line(column) for column in part.names if column], 12)
            raise TrialsError(f"{name}: no column of scores; name it with --score-column; there are {there}")
        for remark in remarks:
            rows.remark(remark, name)
        for metric in () if columns.metric else columns.score:
            if lower_is_better(metric):
                rows.direction(metric, name, higher_is_better=False)
        return layout

    @property
    def used(self) -> tuple[str, ...]:
        """The columns to read."""
        columns = self.columns
        labels = [columns.item, columns.model, columns.trial, columns.metric, columns.subject, columns.cluster]
        return tuple(dict.fromkeys([*(label for label in labels if label), *columns.score, *self.models]))

    def add(self, parts: Iterator[Part], rows: ScoreRows, locate: Locate) -> None:
        """Adds all rows."""
        n_rows = 0
        for part in parts:
            if len(part):
                self._add(part, rows, locate, n_rows)
            n_rows += len(part)

    def _add(self, part: Part, rows: ScoreRows, locate: Locate, n_rows_before: int) -> None:
        columns = self.columns

        def codes(kind: str, *, may_be_empty: bool = False) -> Codes | int:
            column = getattr(columns, kind)
            if not column:
                return NO_NAME
            names = getattr(rows, f"{kind}s")
            numbers: Codes = names.numbers(part.values(column), column, part.location, may_be_empty=may_be_empty)
            return numbers

        item = codes("item")
        assert not isinstance(item, int)
        trial, metric = codes("trial"), codes("metric")
        subject, cluster = codes("subject", may_be_empty=True), codes("cluster", may_be_empty=True)
        n_models = len(self.models) or 1  # scores in each row
        scores = [self._scores(part, column, rows) for column in columns.score or self.models]
        model = codes("model") if columns.model else rows.models.number(rows.sources[-1]) if columns.score else NO_NAME
        if self.has_repeats:
            trial = self._repeats(np.broadcast_to(np.asarray(model), item.shape), item, rows)
        names: Sequence[str] = columns.score
        if self.models:
            scores, names = [np.stack(scores, axis=1).reshape(-1)], ("score",)
            model = np.tile(np.array([rows.models.number(name) for name in self.models], dtype=np.int32), len(part))
        for score, name in zip(scores, names, strict=True):
            rows.add(
                score,
                metric=_repeated(metric, n_models) if columns.metric else rows.metrics.number(name),
                model=model,
                item=np.repeat(item, n_models),
                trial=_repeated(trial, n_models),
                subject=_repeated(subject, n_models),
                cluster=_repeated(cluster, n_models),
                locate=lambda row: locate(n_rows_before + row // n_models),
            )

    def _repeats(self, model: Codes, item: Codes, rows: ScoreRows) -> Codes:
        """The trial of each row: an item that a model has answered before has another trial."""
        trial = np.full(len(item), NO_NAME, dtype=np.int32)
        for row, pair in enumerate(zip(model.tolist(), item.tolist(), strict=True)):
            number = self._n_seen[pair] = self._n_seen.get(pair, 0) + 1
            if number > 1:
                trial[row] = rows.trials.number(str(number))
                rows.remark("several rows of a model and an item are its trials", self.name)
        return trial

    def _scores(self, part: Part, column: str, rows: ScoreRows) -> Floats:
        score, has_words = scores_of(part.values(column), column, part.location)
        if has_words:
            rows.remark(_WORDS, self.name)
        n_empty = 0 if self.models else int(np.isnan(score).sum())
        if n_empty:
            rows.n_empty[self.name] = rows.n_empty.get(self.name, 0) + n_empty
        return score


def _repeated(codes: Codes | int, n: int) -> Codes | int:
    return codes if isinstance(codes, int) else np.repeat(codes, n)


def _has_numbers(part: Part, column: str) -> bool:
    """Whether most of the first cells of a column that are not empty are numbers."""
    values = part.values(column)
    values = values if isinstance(values, list) else values.slice(0, 1000).to_pylist()
    cells = [cell for cell in values[:1000] if not is_empty(cell)]
    return sum(score_of(cell) is not None for cell in cells) * 2 > len(cells)
