"""A table of existing scores as an evaluator: `table:FILE`.

A row has the columns `item`, `perturbation` (`original`, or a name such as `char_delete/30`), `metric` and `score`, and
optionally `level`, for perturbations that are not in a plan.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import DiscernmentError, TrialsError
from ...base.file_reading import file_sha1
from ...base.untrusted_text import few_names, in_one_line, unknown_name
from ...runs.items.score_columns import label
from ...tables.formats import has_encoding, table_rows
from .evaluator import Metric, on_scale, score_of, turned

ORIGINAL = "original"
"""The value of the column `perturbation` for undamaged texts."""

LEVELS = ("character", "word", "sentence", "control")
"""The possible values of the column `level`."""

_NEEDED = ("item", "perturbation", "metric", "score")


class TableScores:
    """The scores of a table.

    Args:
        path: The table, in any format that the command `score` reads.
        lower_is_better: The metrics for which lower values are better.

    Attributes:
        name: The name of the file.
        metrics: The metrics in the order of the table.
        signature: A hash of the file, and the metrics for which lower values are better.
        names: The perturbations in the order of the table, without the originals.
        levels: The levels of perturbations, where the table has them.

    Example:
        >>> import tempfile
        >>> rows = "item,perturbation,metric,score\\n1,original,rating,4\\n1,own/1,rating,3\\n2,original,rating,5\\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "scores.csv")
        ...     _ = path.write_text(rows)
        ...     table = TableScores(path)
        >>> table.names, table.scores("original", ["1", "2"]), table.scores("own/1", ["1", "2"])
        (('own/1',), {'rating': array([4., 5.])}, {'rating': array([ 3., nan])})
        >>> table.has("own/1", ["1", "2"])
        array([ True, False])
    """

    def __init__(self, path: str | Path, *, lower_is_better: Collection[str] = ()) -> None:
        self._path = Path(path)
        self.name = self._path.stem
        self.levels: dict[str, str] = {}
        self._scores: dict[str, dict[str, dict[str, float]]] = {}  # by perturbation, item and metric
        names: dict[str, None] = {}
        try:
            is_text = has_encoding(self._path)
            for location, row in table_rows(self._path):
                names[self._add(row, location, is_text=is_text)] = None
            file_hash = file_sha1(self._path)
        except TrialsError as error:
            raise DiscernmentError(str(error)) from None
        if not names:
            raise DiscernmentError(f"{path}: no rows; expected the columns {', '.join(_NEEDED)}")
        self.metrics = turned(map(Metric, names), lower_is_better, str(path))
        lower = sorted(metric.name for metric in self.metrics if not metric.higher_is_better)
        self.signature = f"table:{file_hash}" + (f"|lower_is_better:{json.dumps(lower)}" if lower else "")
        self.names = tuple(name for name in self._scores if name != ORIGINAL)
        originals = self._scores.get(ORIGINAL)
        if originals is None:
            raise DiscernmentError(
                f"{path}: no row with the perturbation {ORIGINAL!r}; expected an original for each item"
            )
        orphans = dict.fromkeys(item for rows in self._scores.values() for item in rows if item not in originals)
        self._refuse("has perturbed rows, but no original, of", list(orphans))

    def scores(self, perturbation: str, items: Sequence[str]) -> dict[str, Floats]:
        """The scores of items with a perturbation, or of their originals, by metric; NaN for missing scores."""
        rows = self._scores.get(perturbation)
        if rows is None:
            raise DiscernmentError(f"{self._path}: {unknown_name('perturbation', perturbation, self.names)}")
        if perturbation == ORIGINAL:
            self._refuse("lacks the originals of", [item for item in items if item not in rows])
        by_item = [rows.get(item, {}) for item in items]
        return {
            metric.name: on_scale(metric, np.array([row.get(metric.name, math.nan) for row in by_item], dtype=float))
            for metric in self.metrics
        }

    def has(self, perturbation: str, items: Sequence[str]) -> NDArray[np.bool_]:
        """Whether the table has a row for each item with a perturbation, even without a valid score."""
        rows = self._scores.get(perturbation, {})
        return np.array([item in rows for item in items], dtype=bool)

    def _add(self, row: Mapping[str, Any], location: str, *, is_text: bool) -> str:
        """Adds the score of a row; returns its metric."""
        for column in _NEEDED:
            if column not in row:
                columns = ", ".join(in_one_line(column) for column in row) or "no columns"
                raise DiscernmentError(f"{location}: no column {column!r}; there are {columns}")
            if column != "score" and not label(row[column]):
                raise DiscernmentError(f"{location}: the column {column!r} is empty; expected a name")
        item, perturbation, metric = (label(row[column]) for column in _NEEDED[:3])
        scores = self._scores.setdefault(perturbation, {}).setdefault(item, {})
        if metric in scores:
            which = f"item {in_one_line(item)}, {in_one_line(perturbation)}, {in_one_line(metric)}"
            raise DiscernmentError(f"{location}: a second score of {which}; expected one, such as their mean")
        scores[metric] = _text_score(row["score"]) if is_text else score_of(row["score"])
        level = label(row.get("level"))
        if level and perturbation != ORIGINAL:
            if level not in LEVELS:
                raise DiscernmentError(f"{location}: {unknown_name('level', level, LEVELS)}")
            if self.levels.setdefault(perturbation, level) != level:
                problem = f"the level {level} of {in_one_line(perturbation)}, which has another level above"
                raise DiscernmentError(f"{location}: {problem}; expected the same level in all rows")
        return metric

    def _refuse(self, problem: str, items: Sequence[str]) -> None:
        if items:
            n_items = f"{len(items):,} {'item' if len(items) == 1 else 'items'}"
            raise DiscernmentError(f"{self._path}: {problem} {n_items}: {few_names(list(map(in_one_line, items)), 5)}")


def _text_score(cell: str) -> float:
    """The score in a cell of a format without types, such as CSV."""
    try:
        number = float(cell) if "_" not in cell else math.nan
    except ValueError:
        return math.nan
    return score_of(number)
