"""Figures of the paper that somebody has read off its pictures (`--published FILE`), to be shown beside ours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DiscernmentError
from ..files.untrusted_text import in_one_line
from ..tables.formats import column_names, table_rows
from .names import plain, unknown
from .paper import dataset_named
from .weights import cell

SCORES = ("d_average", "d_minimum", "weighted_average", "weighted_minimum")
"""The scores that the paper draws."""

COLUMNS = ("dataset", "model", "score", "value")

_MAX_ROWS = 100_000


@dataclass(frozen=True)
class Published:
    """One figure of the paper."""

    dataset: str
    task: str
    model: str
    score: str  # one of `SCORES`. It is to be compared with our `printed_d`, at 100 items
    value: float


def read_published(path: str | Path) -> tuple[Published, ...]:
    """Reads figures of the paper from a table with the columns `dataset`, `model`, `score` and `value`."""
    names = column_names(path)
    if not set(COLUMNS) <= set(names):
        listed = ", ".join(in_one_line(repr(name), 40) for name in names[:20]) or "none"
        raise DiscernmentError(f"{path}: expected the columns {', '.join(COLUMNS)}; there are {listed}")
    found: dict[tuple[str, str, str], Published] = {}
    for number, (where, row) in enumerate(table_rows(path)):
        if number >= _MAX_ROWS:
            raise DiscernmentError(f"{path}: more than {_MAX_ROWS:,} rows, which is the limit")
        dataset = dataset_named(cell(row, "dataset", where), where=where)
        model = cell(row, "model", where)
        score = plain(cell(row, "score", where)).replace(" ", "_")
        if score not in SCORES:
            raise unknown("score", row["score"], SCORES, where=where)
        key = (dataset.name, model, score)
        if key in found:
            raise DiscernmentError(f"{where}: {score} of {in_one_line(model, 60)} on {dataset.name} is there twice")
        found[key] = Published(dataset.name, dataset.task, model, score, _value(row.get("value"), where))
    if not found:
        raise DiscernmentError(f"{path}: no figures; expected one in each row")
    return tuple(found.values())


def _value(value: Any, where: str) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number < math.inf:
        shown = in_one_line(repr(value), 40)
        raise DiscernmentError(f"{where}, column 'value': expected a number of at least 0, not {shown}")
    return number
