"""Rows as a model might have generated them: whole answers, parts of some, and answers to other questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pfgen_fast import Scorer, ScoreTable, Suite

WHERE = "average >= 0.4 and helpfulness > 0"
"""A filter that some generated rows pass."""


def generated_rows(suite: Suite, n: int) -> list[dict[str, Any]]:
    """Rows with the keys `id`, `question` and `text`, which have no empty text."""
    questions = list(suite)
    rows = []
    for i in range(n):
        question = questions[i % len(questions)]
        answered = questions[(i // 5) % len(questions)] if i % 5 == 0 else question
        answers = answered.answers[suite.set_names[i % 2]]
        text = answers[i % len(answers)]
        rows.append(
            {"id": f"{i:05}", "question": question.question_id, "text": text[: max(1, len(text) * (i % 7 + 1) // 7)]}
        )
    return rows


def scores_of(rows: list[dict[str, Any]], scorer: Scorer) -> ScoreTable:
    """The scores of the single process."""
    return scorer.score([row["question"] for row in rows], [row["text"] for row in rows])


def passing(rows: list[dict[str, Any]], scorer: Scorer) -> tuple[ScoreTable, NDArray[np.intp]]:
    """The scores of the single process, and the numbers of the rows that pass `WHERE`."""
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
