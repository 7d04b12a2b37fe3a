"""Checklist suites and judged runs that tests make up: known models, known tasks, and judges with known habits."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from pathlib import Path

from makers.own_checklists import suite_of
from pfgen_fast.checklists.judgement_files import write_judgements
from pfgen_fast.checklists.judgements import Judgement
from pfgen_fast.checklists.suite import ChecklistSuite
from pfgen_fast.checklists.tasks import LEVELS, Task

CATEGORIES = (("letters", "complaint"), ("letters", "thanks"), ("stories", "fable"))
N_TASKS = 12
MODELS = ("alpha", "beta", "gamma", "delta")

Change = Callable[[str, Judgement], Judgement]
"""What becomes of a model's judgement."""


def made_suite(weights: tuple[float, ...] = (25.0,) * 4) -> ChecklistSuite:
    """A suite with two areas and three categories, each with four questions and twelve tasks."""
    questions = {key: [f"Is the {key[1]} good in way {n}?" for n in range(len(weights))] for key in CATEGORIES}
    tasks = [
        Task(f"{category}-{number:03d}", area, category, f"Write {category} number {number}.")
        for area, category in CATEGORIES
        for number in range(N_TASKS)
    ]
    return suite_of("made", questions, dict.fromkeys(CATEGORIES, weights), tasks)


def judged(suite: ChecklistSuite) -> dict[str, list[Judgement]]:
    """Judgements of all answers, by model; later models are worse."""
    draw = random.Random(0)
    found: dict[str, list[Judgement]] = {}
    for number, model in enumerate(MODELS):
        found[model] = [
            Judgement(
                task.id,
                hashlib.sha256(f"{model} {task.key}".encode()).hexdigest(),
                tuple(_level(draw.gauss(0.85 - 0.12 * number, 0.2)) for _ in suite.checklist(task).questions),
                judge="judge",
                version="judge-1",
                words=draw.randrange(100, 900),
            )
            for task in suite.tasks
        ]
    return found


def changed(judgements: Mapping[str, list[Judgement]], change: Change) -> dict[str, list[Judgement]]:
    """The judgements after a change."""
    return {model: [change(model, one) for one in listed] for model, listed in judgements.items()}


def written(folder: Path, judgements: Mapping[str, list[Judgement]]) -> Path:
    """A folder of runs with these judgements."""
    for model, listed in judgements.items():
        (folder / model).mkdir(parents=True, exist_ok=True)
        write_judgements(folder / model / "judgements.jsonl", listed)
    return folder


def _level(value: float) -> float:
    return min(LEVELS, key=lambda level: abs(level - value))
