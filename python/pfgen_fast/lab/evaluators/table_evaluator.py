"""A table of existing scores as an evaluator: `table:FILE`.

A row has the columns `item`, `perturbation` (`original`, or a name such as `char_delete/30`), `metric` and `score`.
Optional columns are `replicate` and `rating`, over which scores are averaged, and `level`, for perturbations that are
not in a plan. Scores are found by item and perturbation.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import DiscernmentError, TrialsError
from ...base.untrusted_text import in_one_line, unknown_name, utf8
from ...tables.formats import has_encoding, table_rows
from .evaluator import Metric, on_scale, score_of, turned

ORIGINAL = "original"
"""The value of the column `perturbation` for undamaged texts."""

LEVELS = ("character", "word", "sentence", "control")
"""The possible values of the column `level`."""

_NEEDED = ("item", "perturbation", "metric", "score")
_NAMED = 5


class TableScores:
    """The scores of a table.

    Args:
        path: The table, in any format that the command `score` reads.
        name: The name of the evaluator; by default that of the file.
        metrics: The metrics; by default all metrics of the table, in the order of the table.
        lower_is_better: The metrics for which lower values are better.

    Attributes:
        signature: A hash of the rows, and the metrics for which lower values are better.
        names: The perturbations in the order of the table, without the originals.
        items: The items in the order of the table.

    Example:
        >>> import tempfile
        >>> rows = "item,perturbation,metric,score\\n1,original,rating,4\\n1,own/1,rating,3\\n2,original,rating,5\\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "scores.csv")
        ...     _ = path.write_text(rows)
        ...     table = TableScores(path)
        >>> table.names, table.originals(["1", "2"]), table.perturbed("own/1", ["1", "2"])
        (('own/1',), {'rating': array([4., 5.])}, {'rating': array([ 3., nan])})
        >>> table.has("own/1", ["1", "2"])
        array([ True, False])
    """

    def __init__(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        metrics: Sequence[Metric] | None = None,
        lower_is_better: Collection[str] = (),
    ) -> None:
        self._path = Path(path)
        self.name = name or self._path.stem
        columns = _read(self._path)
        listed = [Metric(metric) for metric in columns.metrics]
        self.metrics = turned(listed if metrics is None else metrics, lower_is_better, str(path))
        known = [metric.name for metric in self.metrics]
        for metric in columns.metrics:
            if metric not in known:
                raise DiscernmentError(f"{path}: {unknown_name('metric', metric, known)}")
        lower = sorted(metric.name for metric in self.metrics if not metric.higher_is_better)
        self.signature = f"table:{columns.hash}" + (f"|lower_is_better:{json.dumps(lower)}" if lower else "")
        self.names = tuple(name for name in columns.perturbations if name != ORIGINAL)
        self.items = tuple(columns.items)
        self._levels = columns.levels
        self._places = columns.items
        self._scores, self._has = self._arranged(columns)
        if ORIGINAL not in self._has:
            raise DiscernmentError(
                f"{path}: no row with the perturbation {ORIGINAL!r}; expected an original for each item"
            )
        orphans = [item for item in self.items if not self._is_there(ORIGINAL, item)]
        _refuse(self._path, "has perturbed rows, but no original, of", orphans)

    def originals(self, items: Sequence[str]) -> dict[str, Floats]:
        """The scores of the originals of items, by metric."""
        _refuse(self._path, "lacks the originals of", [item for item in items if not self._is_there(ORIGINAL, item)])
        return self._columns(ORIGINAL, items)

    def perturbed(self, name: str, items: Sequence[str]) -> dict[str, Floats]:
        """The scores of items with a perturbation, by metric; NaN for missing and invalid scores."""
        if name not in self._scores:
            raise DiscernmentError(f"{self._path}: {unknown_name('perturbation', name, self.names)}")
        return self._columns(name, items)

    def has(self, name: str, items: Sequence[str]) -> NDArray[np.bool_]:
        """Whether the table has a row for each item with a perturbation, even without a valid score."""
        return np.array([self._is_there(name, item) for item in items], dtype=bool)

    def level_of(self, name: str) -> str | None:
        """The level of a perturbation; None if the table has no level for it."""
        return self._levels.get(name)

    def _is_there(self, perturbation: str, item: str) -> bool:
        place = self._places.get(item)
        return place is not None and perturbation in self._has and bool(self._has[perturbation][place])

    def _columns(self, perturbation: str, items: Sequence[str]) -> dict[str, Floats]:
        # The last column has NaN, for items that are not in the table.
        places = [self._places.get(item, len(self.items)) for item in items]
        scores = self._scores[perturbation]
        return {metric.name: on_scale(metric, scores[number][places]) for number, metric in enumerate(self.metrics)}

    def _arranged(self, columns: _Columns) -> tuple[dict[str, Floats], dict[str, NDArray[np.bool_]]]:
        """By perturbation, the score of each metric and item, and whether there is a row for each item."""
        scores, has = {}, {}
        n_metrics, n_items = len(self.metrics), len(self.items)
        places = {metric.name: place for place, metric in enumerate(self.metrics)}
        place_of = np.array([places[name] for name in columns.metrics], dtype=np.int64)
        perturbation, item, metric, score = columns.means()
        for number, name in enumerate(columns.perturbations):
            is_own = perturbation == number
            scores[name] = np.full((n_metrics, n_items + 1), np.nan)
            scores[name][place_of[metric[is_own]], item[is_own]] = score[is_own]
            has[name] = np.zeros(n_items, dtype=bool)
            has[name][item[is_own]] = True
        return scores, has


_Names = dict[str, int]
"""The number of each text, in the order of first occurrences."""


@dataclass
class _Columns:
    """The rows of a table: perturbation, item, metric, replicate and rating as numbers, and the score."""

    items: _Names = field(default_factory=dict)
    perturbations: _Names = field(default_factory=dict)
    metrics: _Names = field(default_factory=dict)
    replicates: _Names = field(default_factory=dict)
    ratings: _Names = field(default_factory=dict)
    rows: dict[tuple[int, ...], float] = field(default_factory=dict)
    levels: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[_Names, ...]:
        """The names in the order of the numbers in a row."""
        return self.perturbations, self.items, self.metrics, self.replicates, self.ratings

    @property
    def hash(self) -> str:
        """SHA-256 of all rows."""
        begin = json.dumps([[list(axis) for axis in self.names], self.levels], ensure_ascii=False)
        digest = hashlib.sha256(utf8(begin) + b"\n")
        digest.update(self._keys().astype("<i8").tobytes())
        digest.update(np.array(list(self.rows.values()), dtype="<f8").tobytes())
        return digest.hexdigest()

    def _keys(self) -> NDArray[np.int64]:
        return np.array(list(self.rows), dtype=np.int64).reshape(-1, 5)

    def means(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats]:
        """Perturbation, item, metric and score, averaged over the valid ratings and then over replicates."""
        keys = self._keys()
        scores = np.array(list(self.rows.values()), dtype=np.float64)
        for n_columns in (4, 3):
            keys, scores = _averaged(keys[:, :n_columns], scores)
        return keys[:, 0], keys[:, 1], keys[:, 2], scores


def _averaged(keys: NDArray[np.int64], scores: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The distinct keys, and for each the mean of the scores that are not NaN."""
    distinct, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    is_valid = ~np.isnan(scores)
    n_valid = np.bincount(group[is_valid], minlength=len(distinct))
    # Scores are added in ascending order, so that the order of the rows does not affect the sums.
    order = np.argsort(scores, kind="stable")
    order = order[is_valid[order]]
    sums = np.bincount(group[order], weights=scores[order], minlength=len(distinct))
    means = np.full(len(distinct), np.nan)
    np.divide(sums, n_valid, out=means, where=n_valid > 0)
    return distinct, means


def _read(path: Path) -> _Columns:
    columns = _Columns()
    try:
        is_text = has_encoding(path)
        for location, row in table_rows(path):
            _add(columns, row, location, is_text=is_text)
    except TrialsError as error:
        raise DiscernmentError(str(error)) from None
    if not columns.rows:
        raise DiscernmentError(f"{path}: no rows; expected the columns {', '.join(_NEEDED)}")
    return columns


def _add(columns: _Columns, row: Mapping[str, Any], location: str, *, is_text: bool) -> None:
    for name in _NEEDED:
        if name not in row:
            there = ", ".join(in_one_line(name) for name in row)
            raise DiscernmentError(f"{location}: no column {name!r}; there are {there or 'no columns'}")
    item, perturbation, metric = (_name(row, column, location) for column in _NEEDED[:3])
    replicate, rating, level = (_label(row.get(column)) for column in ("replicate", "rating", "level"))
    named = zip(columns.names, (perturbation, item, metric, replicate, rating), strict=True)
    key = tuple(names.setdefault(name, len(names)) for names, name in named)
    if key in columns.rows:
        which = f"item {in_one_line(item)}, {in_one_line(perturbation)}, {in_one_line(metric)}"
        raise DiscernmentError(f"{location}: a second score of {which}; expected one, or a column replicate or rating")
    columns.rows[key] = _text_score(row["score"]) if is_text else score_of(row["score"])
    _add_level(columns, perturbation, level, location)


def _add_level(columns: _Columns, perturbation: str, level: str, location: str) -> None:
    if not level or perturbation == ORIGINAL:
        return
    if level not in LEVELS:
        raise DiscernmentError(f"{location}: {unknown_name('level', level, LEVELS)}")
    known = columns.levels.setdefault(perturbation, level)
    if level != known:
        problem = f"the level {level} of {in_one_line(perturbation)}, which has the level {known} above"
        raise DiscernmentError(f"{location}: {problem}; expected the same level in all rows")


def _name(row: Mapping[str, Any], column: str, location: str) -> str:
    label = _label(row[column])
    if not label:
        raise DiscernmentError(f"{location}: the column {column!r} is empty; expected a name")
    return label


def _label(value: Any) -> str:
    """A cell as a name. A whole number becomes its digits, and a null becomes an empty name."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text_score(cell: str) -> float:
    """The score in a cell of a format without types, such as CSV."""
    try:
        number = float(cell) if "_" not in cell else math.nan
    except ValueError:
        return math.nan
    return score_of(number)


def _refuse(path: Path, problem: str, items: Sequence[str]) -> None:
    if items:
        raise DiscernmentError(_sentence(f"{path}: {problem}", items))


def _sentence(begin: str, items: Sequence[str]) -> str:
    """A sentence that ends with the number of items and the first of them."""
    named = ", ".join(in_one_line(item) for item in items[:_NAMED])
    rest = f" and {len(items) - _NAMED:,} more" if len(items) > _NAMED else ""
    return f"{begin} {len(items):,} {'item' if len(items) == 1 else 'items'}: {named}{rest}"
