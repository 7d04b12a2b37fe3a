"""Checklist suites and judged runs that tests make up: known models, known tasks, and judges with known habits."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from pfgen_fast.checklists.judgement_files import write_judgements
from pfgen_fast.checklists.judgements import AnswerKey, Judgement
from pfgen_fast.checklists.reliability.judge_selection import Side
from pfgen_fast.checklists.suite import ChecklistSuite
from pfgen_fast.checklists.suite_writing import write_suite
from pfgen_fast.checklists.tasks import LEVELS, Checklist, Prompts, Task
from pfgen_fast.judging.template import Template

AREAS = {"letters": ("complaint", "thanks"), "stories": ("fable",)}
MODELS = ("alpha", "beta", "gamma", "delta")

Change = Callable[[str, Judgement], Judgement]
"""What becomes of a model's judgement."""


def made_suite(n_tasks: int = 12, n_questions: int = 4, weights: tuple[float, ...] | None = None) -> ChecklistSuite:
    """A suite with two areas and three categories, of which each has so many tasks and questions."""
    weights = weights or (100 / n_questions,) * n_questions
    listed = [(area, category) for area, categories in AREAS.items() for category in categories]
    return ChecklistSuite(
        name="made",
        language="en",
        areas=tuple(AREAS),
        tasks=tuple(
            Task(f"{category}-{number:03d}", area, category, f"Write {category} number {number}.")
            for area, category in listed
            for number in range(n_tasks)
        ),
        checklists={
            (area, category): Checklist(
                area, category, tuple(f"Is the {category} good in way {n}?" for n in range(n_questions)), weights
            )
            for area, category in listed
        },
        prompts=Prompts(user=Template("{instruction} {response} {checklists}", ("instruction", "response"))),
    )


def judged(
    suite: ChecklistSuite, *, models: tuple[str, ...] = MODELS, seed: int = 0, judge: str = "judge"
) -> dict[str, list[Judgement]]:
    """Judgements of all answers, by model; later models are worse."""
    draw = random.Random(seed)
    found: dict[str, list[Judgement]] = {}
    for number, model in enumerate(models):
        found[model] = [
            Judgement(
                task.id,
                hashlib.sha256(f"{model} {task.key}".encode()).hexdigest(),
                tuple(_level(draw.gauss(0.85 - 0.12 * number, 0.2)) for _ in suite.checklist(task).questions),
                length=task.length,
                judge=judge,
                version=f"{judge}-1",
                words=draw.randrange(100, 900),
            )
            for task in suite.tasks
        ]
    return found


def changed(judgements: Mapping[str, list[Judgement]], change: Change) -> dict[str, list[Judgement]]:
    """The judgements after a change."""
    return {model: [change(model, one) for one in listed] for model, listed in judgements.items()}


def lowered(category: str, question: int, *, share: float = 1.0, seed: int = 1) -> Change:
    """Moves a question's verdicts down one level in a share of the answers of a category."""
    draw = random.Random(seed)

    def change(model: str, one: Judgement) -> Judgement:
        if not one.id.startswith(category) or draw.random() >= share:
            return one
        scores = list(one.scores or ())
        scores[question] = LEVELS[max(0, LEVELS.index(scores[question]) - 1)]
        return replace(one, scores=tuple(scores), version="judge-2")

    return change


def trembling(share: float, seed: int = 1) -> Change:
    """Moves verdicts by one level up or down, which is equally likely, in a share of the verdicts."""
    draw = random.Random(seed)

    def moved(score: float) -> float:
        up = draw.random() < 0.5
        if draw.random() >= share or score in (0.0, 1.0):
            return score
        return LEVELS[LEVELS.index(score) + (1 if up else -1)]

    return lambda _, one: replace(one, scores=tuple(map(moved, one.scores or ())), version="judge-2")


def side(judgements: Mapping[str, list[Judgement]], name: str = "side") -> Side:
    """The judgements as a side."""
    models: dict[str, dict[AnswerKey, tuple[Judgement, ...]]] = {}
    for model, listed in judgements.items():
        answers = models.setdefault(model, {})
        for one in listed:
            answers[one.key] = (*answers.get(one.key, ()), one)
    first = next(iter(judgements.values()))[0]
    return Side(name, first.judge, first.version, models)


def written(folder: Path, judgements: Mapping[str, list[Judgement]]) -> Path:
    """A folder of runs with these judgements."""
    for model, listed in judgements.items():
        (folder / model).mkdir(parents=True, exist_ok=True)
        write_judgements(folder / model / "judgements.jsonl", listed)
    return folder


def written_suite(folder: Path, suite: ChecklistSuite | None = None) -> Path:
    """A folder with the files of a suite."""
    write_suite(suite or made_suite(), folder)
    return folder


def _level(value: float) -> float:
    return min(LEVELS, key=lambda level: abs(level - value))
