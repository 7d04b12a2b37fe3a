"""Rows for the filters of data pipelines, their scores in a single process, and which of them pass a filter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pfgen_fast import Scorer, ScoreTable


def scores_of(rows: list[dict[str, Any]], scorer: Scorer) -> ScoreTable:
    """The scores of the single process."""
    return scorer.score([row["question"] for row in rows], [row["text"] for row in rows])


def passing(rows: list[dict[str, Any]], scorer: Scorer) -> tuple[ScoreTable, NDArray[np.intp]]:
    """The scores of the single process, and the numbers of the rows that pass the filter of the documented examples."""
    table = scores_of(rows, scorer)
    found = np.flatnonzero((table.average >= 0.4) & (table.helpfulness > 0))
    assert len(rows) / 10 < len(found) < len(rows) * 9 / 10
    return table, found


def write_parts(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Writes four files of JSON lines."""
    folder.mkdir()
    for part in range(4):
        lines = "".join(json.dumps(row) + "\n" for row in rows[part::4])
        (folder / f"{part}.jsonl").write_text(lines, encoding="utf-8")
