"""Rows for the filters of data pipelines, their scores in a single process, and which of them pass a filter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pfgen_fast import Scorer, ScoreTable

from .frames import rows as columns_of_rows


def generated_rows(n: int) -> list[dict[str, Any]]:
    """Rows with the keys `id`, `question` and `text`, which have no empty text."""
    columns = columns_of_rows(n).values()
    return [{"id": f"{i:05}", "question": key, "text": text or "."} for i, key, text in zip(*columns, strict=True)]


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


def column(found: list[dict[str, Any]], name: str) -> bytes:
    """The bytes of a column of scores, so that they can be compared bit for bit."""
    return np.array([row[name] for row in found], dtype=np.float64).tobytes()
