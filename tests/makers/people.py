"""Marks of people who follow a known rule, for tests of weights."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pfgen_fast.lab.checklists.marks import Mark, place_of
from pfgen_fast.lab.checklists.tasks import ChecklistTask


def marked(task: ChecklistTask, answer: str, annotator: str, verdicts: Sequence[float], overall: float) -> Mark:
    """A mark of an answer, which its hash names."""
    place = place_of(task, {"annotator": annotator})
    return Mark(**place, response_sha256=answer, verdicts=tuple(verdicts), overall=overall)


def row_of(mark: Mark, **others: Any) -> dict[str, Any]:
    """A mark as a row of a file."""
    return {**asdict(mark), **others}


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Writes rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
