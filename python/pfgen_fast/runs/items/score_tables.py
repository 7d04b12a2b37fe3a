"""Reads scores by item and model from tables and from the samples of lm-evaluation-harness.

A long table has a row for each item and model, a wide one has a column for each model.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ...base.arrays import Floats
from ...base.compression import compression
from ...base.errors import PfgenError, TrialsError
from ...base.untrusted_text import few_names, in_one_line
from ...rewards.references.metrics import lower_is_better
from ...tables.formats import column_names, format_of, is_table, reader_of
from ...tables.table_rows import STANDARD_STREAM, ChosenColumns, RowBatch
from ...tables.text_rows import text_batches
from ..trials import expand
from . import lm_eval_logs, score_columns
from .item_table import ItemScores
from .score_rows import ScoreRows

_DEEPEST = 5
"""Logs are looked for in this many levels of directories."""
_RUNS = ("trials.jsonl", "trial_001.jsonl", "trials.jsonl.xz", "trials.jsonl.gz", "trials.jsonl.zst")
_N_ROWS = 1 << 13
_N_CELLS = 1 << 20
"""Maximum numbers of rows and cells that are read at a time."""


def read_item_scores(
    paths: Sequence[str | Path], columns: score_columns.ColumnNames | None = None, *, encoding: str | None = None
) -> ItemScores:
    """Reads the scores of models on items from tables and from the samples of lm-evaluation-harness.

    A table without models is one model with the name of its file. If several paths have scores of the same items for
    the same model, each of these paths is a model.
    """
    rows, columns = ScoreRows(), columns or score_columns.ColumnNames()
    places = [place for path in paths for place in _matches(os.fspath(path))]
    for place, label in zip(places, _labels(places), strict=True):
        rows.sources.append(label)
        logs = _logs_at(place)
        if logs:
            lm_eval_logs.add_logs(rows, logs, columns)
        elif os.path.isdir(place):
            raise TrialsError(f"{place}: no samples of lm-evaluation-harness; name the tables in it, or use a glob")
        elif place.endswith(".eval"):
            raise TrialsError(f"{place}: a log of Inspect; samples_df of inspect_ai.analysis makes a table of it")
        else:
            _add_file(rows, place, columns, encoding)
    return rows.item_scores()


def item_scores_of_table(table: Any) -> ItemScores:
    """Reads the scores of models on items from a table in memory.

    Args:
        table: A data frame or other Arrow data, a list of rows as dicts, or a dict of columns, with usual names.

    Raises:
        TrialsError: The table has no scores, or invalid ones.

    Example:
        >>> scores = item_scores_of_table({"item": ["q1", "q2"], "old": [0, 0.5], "new": [1, 0.5]})
        >>> scores.models, scores.metrics, scores.values["score"].tolist()
        (('old', 'new'), ('score',), [[0.0, 0.5], [1.0, 0.5]])
    """
    rows = ScoreRows(sources=["table"])
    parts = _parts_of(table)
    first = next(parts)
    layout = _Layout.of(first, score_columns.ColumnNames(), rows, "the table")
    layout.add(chain((first,), parts), rows, lambda row: f"the table, row {row + 1}")
    return rows.item_scores()


def is_score_table(path: str | Path) -> bool:
    """Whether a path is a table of scores or a log, instead of a run, a file of trials or a result."""
    path = os.fspath(path)
    if path == STANDARD_STREAM:
        return True
    place = path if os.path.lexists(path) else next(iter(sorted(glob.glob(path, recursive=True))), None)
    if place is None:
        return is_table(path) and ".json" not in Path(path).name
    if place.endswith(".eval"):  # of Inspect; its reader says what to do
        return True
    try:
        if _logs_at(place):
            return True
        if os.path.isdir(place) or not is_table(place):
            return False
        names = set(column_names(place))
    except PfgenError:  # the reader of the file names the error
        return ".json" not in Path(place).name
    return (
        ".json" not in Path(place).name
        or not {"question", "answer"} <= names
        or not names.isdisjoint(("item", "model", "score", "average"))
    )


def _logs_at(place: str) -> list[Path]:
    """The files of lm-evaluation-harness at a place."""
    path = Path(place)
    if path.is_dir():
        return [file for file in _files_below(path) if lm_eval_logs.NAMES.fullmatch(file.name)]
    return [path] if path.is_file() and lm_eval_logs.is_log(path) else []


def _files_below(folder: Path) -> list[Path]:
    """The files in a directory and in directories below it, sorted; empty if there are runs."""
    paths: list[Path] = []
    for at, folders, files in os.walk(folder):
        if not set(files).isdisjoint(_RUNS):
            return []
        paths += [Path(at, name) for name in files]
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        if len(Path(at).relative_to(folder).parts) >= _DEEPEST:
            folders.clear()
    return sorted(paths)


def _matches(path: str) -> list[str]:
    """The places that a path or glob stands for, spelt as the user did; raises TrialsError if there are none."""
    return [path] if path == STANDARD_STREAM or os.path.lexists(path) else list(map(str, expand(path)))


def _labels(paths: list[str]) -> list[str]:
    """Short and distinct names of inputs: the name of the file without extensions, after directories if needed."""
    real = [path if path == STANDARD_STREAM else os.path.realpath(path) for path in paths]
    for path, times in zip(paths, map(real.count, real), strict=True):
        if times > 1:
            raise TrialsError(f"{path}: given twice; expected each table once")

    def stem(path: Path) -> str:
        return path.with_suffix("").stem if compression(path) else path.stem

    places = [Path("stdin") if path == STANDARD_STREAM else Path(os.path.abspath(path)) for path in paths]
    parts = [(*place.parent.parts, place.name if place.is_dir() else stem(place)) for place in places]
    labels = [names[-1] for names in parts]
    for length in range(2, max(map(len, parts), default=0) + 1):
        known = Counter(labels)
        if len(known) == len(labels):
            break
        labels = [
            "/".join(names[-length:]) if known[label] > 1 else label for names, label in zip(parts, labels, strict=True)
        ]
    return labels


def _add_file(rows: ScoreRows, path: str, columns: score_columns.ColumnNames, encoding: str | None) -> None:
    read = reader_of(path, encoding)
    name = "stdin" if path == STANDARD_STREAM else path
    n_columns = 1 if path == STANDARD_STREAM else len(column_names(path, encoding))
    n_rows = max(1, min(_N_ROWS, _N_CELLS // max(n_columns, 1)))
    locate = partial(score_columns.location_of_row, path, encoding)
    with contextlib.closing(read(ChosenColumns(), n_rows)) as parts:
        first = next(parts)
        layout = _Layout.of(first, columns, rows, name)
        if format_of(path) != ".parquet":
            layout.add(chain((first,), parts), rows, locate)
            return
    with contextlib.closing(read(ChosenColumns(layout.used), n_rows)) as parts:
        layout.add(parts, rows, locate)


def _parts_of(table: Any) -> Iterator[RowBatch]:
    """The rows of a table in memory: Arrow data, a list of rows as dicts, or a dict of columns."""
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        from ...tables.arrow_columns import rows_in_memory
        from ...tables.batches import record_batches

        n_rows = 0
        for batch in record_batches(table):
            yield rows_in_memory(batch, n_rows)
            n_rows += batch.num_rows
        if not n_rows:
            raise TrialsError("the table has no rows; expected a row for each item")
        return
    if isinstance(table, Mapping):
        lists = [column.tolist() if hasattr(column, "tolist") else list(column) for column in table.values()]
        if len(set(map(len, lists))) > 1:
            raise TrialsError(f"the table has columns of {few_names([str(len(column)) for column in lists])} rows")
        table = [dict(zip(table, row, strict=True)) for row in zip(*lists, strict=True)]
    is_list = isinstance(table, Sequence) and not isinstance(table, str | bytes)
    if not is_list or not all(isinstance(row, Mapping) for row in table):
        raise TrialsError(
            "expected a table (a data frame, Arrow data, a list of dicts or a dict of lists), "
            f"not {type(table).__name__}"
        )
    yield from text_batches("the table", enumerate(table, start=1), (), None, unit="row")


class _Layout:
    """How the columns of a table are used."""

    def __init__(self, columns: score_columns.ColumnNames, models: Sequence[str], name: str) -> None:
        self.columns = columns
        self.models = models  # columns of models in a wide table
        # Tables that `score` wrote have no column of trials, and may have several answers to a question.
        self.has_repeats = not columns.trial and not set(columns.score).isdisjoint(score_columns.OUR_SCORES)
        self._n_seen: Counter[tuple[int, int]] = Counter()  # number of rows of each model and item
        self.name = name  # for messages

    @classmethod
    def of(cls, part: RowBatch, named: score_columns.ColumnNames, rows: ScoreRows, name: str) -> _Layout:
        """The layout of a table from its first rows; guesses become remarks."""
        columns, guesses = score_columns.used_columns(named, part.names, name)
        models: list[str] = []
        remarks = [guesses] if guesses else []
        if not columns.score:
            free = [column for column in part.names if column and column not in columns.labels]
            numbers = [column for column in free if _has_numbers(part, column)]
            if len(numbers) == 1 or (columns.model and len(numbers) > 1):
                columns = score_columns.ColumnNames(**{**vars(columns), "score": tuple(numbers)})
                remarks.append(f"read scores from {few_names(list(map(repr, numbers)))}, columns with numbers")
            elif numbers:
                models = numbers
                remarks.append(f"each of the columns {few_names(numbers, 4)} is a model")
            left = [column for column in free if column not in numbers]
            if models and left:
                remarks.append(f"not used, because the first rows have no numbers there: {few_names(left, 4)}")
        if not len(part):
            raise TrialsError(f"{name}: no rows; expected a row for each item")
        for kind, is_missing in (("item", not columns.item), ("score", not columns.score and not models)):
            if is_missing:
                there = few_names([in_one_line(column) for column in part.names if column], 12) or "no columns"
                hint = "score answers first (pfgen-fast score); " if kind == "score" and "answer" in part.names else ""
                raise TrialsError(
                    f"{name}: no column of {kind}s; {hint}name it with --{kind}-column; there are {there}"
                )
        for remark in remarks:
            rows.remark(remark, name)
        for metric in () if columns.metric else columns.score:
            if lower_is_better(metric):
                rows.direction(metric, name, higher_is_better=False)
        return cls(columns, models, name)

    @property
    def used(self) -> tuple[str, ...]:
        """The columns to read."""
        return tuple(dict.fromkeys([*self.columns.labels, *self.columns.score, *self.models]))

    def add(self, parts: Iterator[RowBatch], rows: ScoreRows, locate: score_columns.Locate) -> None:
        """Adds all rows."""
        n_rows = 0
        for part in parts:
            if len(part):
                self._add(part, rows, locate, n_rows)
            n_rows += len(part)

    def _add(self, part: RowBatch, rows: ScoreRows, locate: score_columns.Locate, n_rows_before: int) -> None:
        columns, n_models = self.columns, len(self.models) or 1  # scores in each row

        def codes(kind: str, *, may_be_empty: bool = False) -> score_columns.Codes:
            column = getattr(columns, kind)
            if not column:
                return np.full(len(part), score_columns.NO_NAME, dtype=np.int32)
            names = getattr(rows, f"{kind}s")
            numbers: score_columns.Codes = names.numbers(
                part.values(column), column, part.location, may_be_empty=may_be_empty
            )
            return numbers

        item, trial, metric = codes("item"), codes("trial"), codes("metric")
        subject, cluster = codes("subject", may_be_empty=True), codes("cluster", may_be_empty=True)
        scores = [self._scores(part, column, rows) for column in columns.score or self.models]
        names: Sequence[str] = columns.score
        if self.models:
            scores, names = [np.stack(scores, axis=1).reshape(-1)], ("score",)
            model = np.tile(np.array([rows.models.number(name) for name in self.models], dtype=np.int32), len(part))
        elif columns.model:
            model = codes("model")
        else:
            model = np.full(len(part), rows.models.number(rows.sources[-1]), dtype=np.int32)
        if self.has_repeats:
            trial = self._repeats(model, item, rows)
        for score, name in zip(scores, names, strict=True):
            rows.add(
                score,
                metric=np.repeat(metric, n_models) if columns.metric else rows.metrics.number(name),
                model=model,
                item=np.repeat(item, n_models),
                trial=np.repeat(trial, n_models),
                subject=np.repeat(subject, n_models),
                cluster=np.repeat(cluster, n_models),
                locate=lambda row: locate(n_rows_before + row // n_models),
            )

    def _repeats(self, model: score_columns.Codes, item: score_columns.Codes, rows: ScoreRows) -> score_columns.Codes:
        """The trial of each row: an item that a model has answered before has another trial."""
        trial = np.full(len(item), score_columns.NO_NAME, dtype=np.int32)
        for row, pair in enumerate(zip(model.tolist(), item.tolist(), strict=True)):
            self._n_seen[pair] += 1
            if self._n_seen[pair] > 1:
                trial[row] = rows.trials.number(str(self._n_seen[pair]))
        return trial

    def _scores(self, part: RowBatch, column: str, rows: ScoreRows) -> Floats:
        score, has_words = score_columns.scores_of(part.values(column), column, part.location)
        if has_words:
            rows.remark("true and false count as 1 and 0", self.name)
        n_empty = 0 if self.models else int(np.isnan(score).sum())
        if n_empty:
            rows.n_empty[self.name] = rows.n_empty.get(self.name, 0) + n_empty
        return score


def _has_numbers(part: RowBatch, column: str) -> bool:
    """Whether most of the first cells of a column that are not empty are numbers."""
    values = part.values(column)
    values = values if isinstance(values, list) else values.slice(0, 1000).to_pylist()
    present = [cell for cell in values[:1000] if not score_columns.is_empty(cell)]
    return sum(score_columns.score_of(cell) is not None for cell in present) * 2 > len(present)
