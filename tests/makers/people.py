"""Marks of people: of a known rule, or as annotators set them who have a strictness and errors of their own."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite
from pfgen_fast.lab.checklists.marks import Mark, People
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


def simulated_marks(
    suite: ChecklistSuite,
    *,
    annotators: Sequence[str],
    n_answers: int = 6,
    noise: float = 0.2,
    strictness: Mapping[str, float] | None = None,
    careless: Sequence[str] = (),
    unclear: Sequence[tuple[str, str, int]] = (),
    seed: int = 0,
) -> list[Mark]:
    """Marks of all annotators for `n_answers` answers to each task.

    An answer has a quality, from which verdicts and mark follow; careless annotators see another quality. An unclear
    question (area, category, number from 0) is answered at random.
    """
    generator = np.random.default_rng(seed)
    levels = np.asarray(suite.levels)
    found = []
    for task in suite.tasks:
        for number in range(n_answers):
            quality = generator.beta(3, 2)
            for name in annotators:
                seen = generator.beta(3, 2) if name in careless else quality
                shift = (strictness or {}).get(name, 0.0)
                n_questions = suite.n_questions[task.key]
                exact = seen - shift + generator.normal(0, noise, n_questions)
                for question in range(n_questions):
                    if (*task.place, question) in unclear:
                        exact[question] = generator.random()
                verdicts = levels[np.abs(exact[:, np.newaxis] - levels).argmin(axis=1)]
                overall = float(np.clip(np.rint(10 * (seen - shift) + generator.normal(0, 10 * noise / 2)), 0, 10))
                answer = sha256_of(f"{task.id} {task.length} {number}")
                found.append(marked(task, answer, name, verdicts.tolist(), overall))
    return found
