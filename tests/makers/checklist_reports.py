"""Runs of models on the suite `own_checklists`, judged by nobody, for reports: a verdict follows from the model and the
place of the question alone, and everything that can be missing is missing somewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from makers.hostile import NAMES
from makers.own_checklists import own_suite
from pfgen_fast.checklists.judgements import Judgement
from pfgen_fast.checklists.runs import Answer, Run, open_runs, write_run
from pfgen_fast.checklists.scoring.scores import Scores
from pfgen_fast.checklists.scoring.scoring import score_runs
from pfgen_fast.checklists.suite import ChecklistSuite
from pfgen_fast.checklists.tasks import Checklist, Task

JUDGE = "judge-2025"


def answer_to(task: Task, model: str) -> Answer:
    text = f"{model} answers {task.id}" + (" at length" if task.length else "") + ", as well as it can. It ends here."
    return Answer(task.id, text, task.length)


def verdicts(suite: ChecklistSuite, task: Task, skill: int) -> tuple[float, ...]:
    n = len(suite.checklist(task).questions)
    number = suite.tasks.index(task)
    return tuple(suite.levels[max(0, min(4, skill - (place + number) % 3))] for place in range(n))


def judgement_of(suite: ChecklistSuite, answer: Answer, skill: int, reason: str, **changes: object) -> Judgement:
    task = suite.by_key[answer.id, answer.length]
    scores = verdicts(suite, task, skill)
    reasons = tuple(f"{reason} {number} about {task.id}." for number in range(len(scores)))
    judgement = Judgement(answer.id, answer.sha256, scores, answer.length, judge=JUDGE)
    judgement = replace(judgement, version="judge-2025-01-01 fp_7", reasons=reasons, profile="plain")
    return replace(judgement, checklist_sha256=suite.checklist(task).sha256, **changes)  # type: ignore[arg-type]


def judged_run(
    folder: Path,
    suite: ChecklistSuite,
    *,
    skill: int = 4,
    name: str | None = None,
    texts: Mapping[str, str] | None = None,
    has_answers: bool = True,
    leave_out: Sequence[str] = (),
    reason: str = "A reason for question",
    ratings: int = 1,
) -> Run:
    """A run that is named after its folder, with judgements as good as `skill`, which is up to 4."""
    answers = [answer_to(task, folder.name) for task in suite.tasks if task.id not in leave_out]
    answers = [Answer(one.id, (texts or {}).get(one.id, one.response), one.length) for one in answers]
    rows = [
        judgement_of(suite, answer, skill - rating, reason, rating=rating + 1)
        for answer in answers
        for rating in range(ratings)
    ]
    write_run(folder, answers if has_answers else (), rows, {"model": name or folder.name})
    return open_runs([folder])[0]


def some_runs(folder: Path, suite: ChecklistSuite) -> list[Run]:
    """Three models: one with everything, one with a missing answer, and one with judgements alone."""
    best = judged_run(
        folder / "alpha", suite, name="Alpha 7B", texts={"letter_1": "Thank you for the long ladder. " * 40}
    )
    middle = judged_run(folder / "beta", suite, skill=3, leave_out=("letter_2",))
    worst = judged_run(folder / "gamma", suite, skill=2, has_answers=False, leave_out=("report_2",))
    return [best, middle, worst]


def hostile_runs(folder: Path) -> tuple[Scores, list[Run]]:
    """Runs whose tasks, areas, categories, questions, models, answers, reasons and notes attack their report."""
    names = [name for name in NAMES if not any("\ud800" <= character <= "\udfff" for character in name)]
    tasks = tuple(
        Task(f"{name} {n}", name, name, f"Say this: {name}", *((name, 5) if n % 2 else ()))
        for n, name in enumerate(names)
    )
    checklists = {(name, name): Checklist(name, name, (name, f"{name}?"), (60.0, 40.0)) for name in names}
    areas = tuple(dict.fromkeys(names))
    suite = replace(own_suite(), name=names[0], areas=areas, tasks=tasks, checklists=checklists)
    runs = [
        judged_run(folder / f"m{n}", suite, name=name, texts={task.id: f"{name} {name}" for task in tasks}, reason=name)
        for n, name in enumerate(names[:12])
    ]
    return replace(score_runs(suite, runs), notes=tuple(names)), runs
