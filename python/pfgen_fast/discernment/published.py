"""Figures of the paper that somebody has read off its pictures (`--published FILE`), to be shown beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..errors import DiscernmentError
from ..files.untrusted_text import in_one_line
from .names import plain, unknown
from .paper import dataset_named
from .weights import cell, number_of, rows_of

SCORES = ("d_average", "d_minimum", "weighted_average", "weighted_minimum")
"""The scores that the paper draws."""

COLUMNS = ("dataset", "model", "score", "value")


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
    found: dict[tuple[str, str, str], Published] = {}
    for where, row in rows_of(path, COLUMNS):
        dataset = dataset_named(cell(row, "dataset", where), where=where)
        model = cell(row, "model", where)
        score = plain(cell(row, "score", where)).replace(" ", "_")
        if score not in SCORES:
            raise unknown("score", row["score"], SCORES, where=where)
        key = (dataset.name, model, score)
        if key in found:
            raise DiscernmentError(f"{where}: {score} of {in_one_line(model, 60)} on {dataset.name} is there twice")
        found[key] = Published(dataset.name, dataset.task, model, score, number_of(row.get("value"), "value", where))
    if not found:
        raise DiscernmentError(f"{path}: no figures; expected one in each row")
    return tuple(found.values())
