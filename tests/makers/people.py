"""Marks of people who follow a known rule, for tests of weights."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite
from pfgen_fast.lab.checklists.people.marks import Mark
from pfgen_fast.lab.checklists.people.people_reading import People
from pfgen_fast.lab.checklists.tasks import Task, sha256_of

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)


def people(
    suite: ChecklistSuite,
    coefficients: Mapping[tuple[str, str], Sequence[float]],
    *,
    n_answers: int = 12,
    annotators: Sequence[str] = ("a", "b"),
    noise: float = 0.0,
) -> People:
    """Marks of answers to the first task of each category: the coefficients times verdicts, and noise."""
    chance = random.Random(0)
    tasks = {(task.area, task.category): task for task in reversed(suite.tasks) if task.length is None}
    found = []
    for key, raw in coefficients.items():
        task = tasks[key]
        for number in range(n_answers):
            answer = sha256_of(f"{task.id} {number}")
            for annotator in annotators:
                verdicts = tuple(chance.choice(LEVELS) for _ in raw)
                exact = sum(w * v for w, v in zip(raw, verdicts, strict=True))
                overall = min(10.0, max(0.0, exact + chance.gauss(0, noise)))
                found.append(marked(task, answer, annotator, verdicts, overall))
    return People(tuple(found))


def marked(task: Task, answer: str, annotator: str, verdicts: Sequence[float], overall: float) -> Mark:
    """A mark of an answer, which its hash names."""
    return Mark(
        id=task.id,
        length=task.length,
        annotator=annotator,
        area=task.area,
        category=task.category,
        response_sha256=answer,
        verdicts=tuple(verdicts),
        overall=overall,
    )


def row_of(mark: Mark, **others: Any) -> dict[str, Any]:
    """A mark as a row of a file."""
    return {**asdict(mark), **others}


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Writes rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
