"""Reads scores by item and model from tables and from the logs of evaluation programs."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.compression import compression
from ...base.errors import PfgenError, TrialsError
from ...tables.formats import column_names, is_table
from ...tables.table_rows import STANDARD_STREAM
from .item_columns import ColumnNames
from .item_table import ItemScores
from .score_rows import ScoreRows
from .score_tables import add_file, add_table

if TYPE_CHECKING:
    from .logs import Program

_DEEPEST = 5
"""Logs are looked for in this many levels of directories."""
_RUNS = ("trials.jsonl", "trial_001.jsonl", "trials.jsonl.xz", "trials.jsonl.gz", "trials.jsonl.zst")


def read_item_scores(
    paths: Sequence[str | Path], columns: ColumnNames | None = None, *, encoding: str | None = None
) -> ItemScores:
    """Reads the scores of models on items from tables and from the logs of evaluation programs.

    A table without models is one model with the name of its file. If several paths have scores of the same items for
    the same model, each of these paths is a model.
    """
    rows, columns = ScoreRows(), columns or ColumnNames()
    places = [place for path in paths for place in _matches(os.fspath(path))]
    for place, label in zip(places, _labels(places), strict=True):
        rows.sources.append(label)
        program, logs = _logs_at(place)
        if program is not None:
            program.add_logs(rows, logs, columns)
        elif os.path.isdir(place):
            raise TrialsError(f"{place}: no logs of an evaluation program here; name the tables in it, or use a glob")
        else:
            add_file(rows, place, columns, encoding)
    return rows.item_scores()


def item_scores_of_table(table: Any, columns: ColumnNames | None = None) -> ItemScores:
    """Reads the scores of models on items from a table in memory.

    Args:
        table: A data frame or other Arrow data, a list of rows as dicts, or a dict of columns.
        columns: The columns of the table; a column that is not named is found by its usual names.

    Raises:
        TrialsError: The table has no scores, or invalid ones.

    Example:
        >>> scores = item_scores_of_table({"item": ["q1", "q2"], "old": [0, 0.5], "new": [1, 0.5]})
        >>> scores.models, scores.metrics, scores.values["score"].tolist()
        (('old', 'new'), ('score',), [[0.0, 0.5], [1.0, 0.5]])
    """
    rows = ScoreRows(sources=["table"])
    add_table(rows, table, columns or ColumnNames())
    return rows.item_scores()


def is_score_table(path: str | Path) -> bool:
    """Whether a path is a table of scores or a log, instead of a run, a file of trials or a result."""
    path = os.fspath(path)
    if path == STANDARD_STREAM:
        return True
    place = path if os.path.lexists(path) else next(iter(sorted(glob.glob(path, recursive=True))), None)
    if place is None:
        return path.endswith(".eval") or (is_table(path) and ".json" not in Path(path).name)
    try:
        if _logs_at(place)[0] is not None:
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


def _logs_at(place: str) -> tuple[Program | None, list[Path]]:
    """The program whose logs are at a place, and these logs."""
    from .logs import PROGRAMS

    path = Path(place)
    if path.is_dir():
        files = _files_below(path)
        for program in PROGRAMS:
            logs = [file for file in files if program.names.fullmatch(file.name)]
            if logs:
                return program, logs
    elif path.is_file():
        for program in PROGRAMS:
            if program.is_log(path):
                return program, [path]
    return None, []


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
    """The places that a path or glob stands for; raises TrialsError if there are none."""
    if path == STANDARD_STREAM or os.path.lexists(path):
        return [path]
    matches = sorted(glob.glob(path, recursive=True))
    if not matches:
        raise TrialsError(f"{path}: no such file or folder")
    return matches


def _labels(paths: list[str]) -> list[str]:
    """Short and distinct names of inputs: the name of the file without extensions, after directories if needed."""
    seen: set[str] = set()
    for path in paths:
        place = path if path == STANDARD_STREAM else os.path.realpath(path)
        if place in seen:
            raise TrialsError(f"{path}: given twice; expected each table once")
        seen.add(place)
    places = [Path("stdin") if path == STANDARD_STREAM else Path(os.path.abspath(path)) for path in paths]
    stems = [place.name if place.is_dir() else _stem(place) for place in places]
    parts = [(*place.parent.parts, stem) for place, stem in zip(places, stems, strict=True)]
    labels = [names[-1] for names in parts]
    for length in range(2, max(map(len, parts), default=0) + 1):
        known = Counter(labels)
        if len(known) == len(labels):
            break
        labels = [
            "/".join(names[-length:]) if known[label] > 1 else label for names, label in zip(parts, labels, strict=True)
        ]
    return labels


def _stem(path: Path) -> str:
    return path.with_suffix("").stem if compression(path) else path.stem
