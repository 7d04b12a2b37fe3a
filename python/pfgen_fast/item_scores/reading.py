"""Reads scores by item and model from tables and from the logs of evaluation programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import TrialsError
from ..tables.formats import column_names, is_table
from ..tables.rows import STANDARD_STREAM
from .columns import ColumnNames
from .rows import ScoreRows
from .table import ItemScores
from .tables import add_file, add_table


def read_item_scores(paths: Sequence[str | Path], columns: ColumnNames | None = None) -> ItemScores:
    """Reads the scores of models on items from tables.

    Args:
        paths: The files, or `-` for JSON lines on stdin.
        columns: The columns of tables; a column that is not named is found by its usual names.

    Raises:
        TrialsError: A file has no scores, or invalid ones; the message names the file and the line.
    """
    rows = ScoreRows()
    _check_paths([os.fspath(path) for path in paths])
    labels = _labels([os.fspath(path) for path in paths])
    for path, label in zip(map(os.fspath, paths), labels, strict=True):
        rows.sources.append(label)
        add_file(rows, path, columns or ColumnNames())
    return rows.item_scores()


def item_scores_of_table(table: Any, columns: ColumnNames | None = None) -> ItemScores:
    """The scores in a table in memory: Arrow data, a data frame, a list of rows as dicts, or a dict of columns."""
    rows = ScoreRows(sources=["table"])
    add_table(rows, table, columns or ColumnNames())
    return rows.item_scores()


def is_score_table(path: str | Path) -> bool:
    """Whether a path is a table of scores, instead of a run or of a file of trials."""
    path = os.fspath(path)
    if path == STANDARD_STREAM:
        return True
    if not is_table(path) or os.path.isdir(path):
        return False
    if not os.path.exists(path):
        return ".json" not in path  # trials can have such a name; the reader of trials says that the file is missing
    try:
        names = set(column_names(path))
    except TrialsError:
        return ".jsonl" not in path
    return not {"question", "answer"} <= names or not names.isdisjoint(("item", "model", "score"))


def _check_paths(paths: list[str]) -> None:
    seen: set[str] = set()
    for path in paths:
        place = path if path == STANDARD_STREAM else os.path.realpath(path)
        if place in seen:
            raise TrialsError(f"{path}: given twice; expected each table once")
        seen.add(place)


def _labels(paths: list[str]) -> list[str]:
    """Short and distinct names of inputs: the name of the file without extensions, and its directory if needed."""
    places = [Path(os.path.abspath(path)) for path in paths]
    parts = [[*place.parent.parts, place.name.split(".")[0] or place.name] for place in places]
    labels = [of[-1] for of in parts]
    for length in range(2, max(map(len, parts), default=0) + 1):
        if len(set(labels)) == len(labels):
            break
        old = labels
        labels = [
            "/".join(of[-length:]) if old.count(label) > 1 else label for of, label in zip(parts, old, strict=True)
        ]
    return labels
