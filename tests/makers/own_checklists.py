"""Checklist suites in our own words, and runs on them with judgements: known models, known tasks, known verdicts.

`own_suite` is small enough for a server in a test; in `some_runs`, everything that can be missing is missing somewhere;
`suite_of_essays` has references, for what needs no judge.
"""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from makers.hostile import NAMES
from pfgen_fast.lab.checklists.checklist_runs import Answer, Run, open_runs, write_run
from pfgen_fast.lab.checklists.checklist_scoring import ChecklistScores, score_judged_runs
from pfgen_fast.lab.checklists.checklist_suite import ChecklistSuite, write_suite
from pfgen_fast.lab.checklists.judgements import Judgement, write_judgements
from pfgen_fast.lab.checklists.suite_files import with_weights
from pfgen_fast.lab.checklists.tasks import LEVELS, Checklist, ChecklistTask, JudgePrompts

SYSTEM = "You judge answers by yes-or-no questions."
USER = (
    "Instruction: {instruction}\nAnswer: {response}\n(end of the answer)\nQuestions: {checklists}\n"
    'Reply with a list of {num_checklist} objects: [{{"checklist_id": 0, "reason": "...", "evaluation_score": 1}}]'
)
QUESTIONS = {
    ("letters", "thanks"): ("Does it thank somebody?", "Is it polite?", "Is it without any flaw?"),
    ("letters", "requests"): ("Does it ask for one thing?", "Is it without any flaw?"),
    ("reports", "weather"): ("Does it name a place?", "Are numbers given?", "Is it without any flaw?"),
}
WEIGHTS = {("letters", "thanks"): (50.0, 30.0, 20.0), ("letters", "requests"): (60.0, 40.0)}
TASKS = (
    ChecklistTask("letter_1", "letters", "thanks", "Write a long letter that thanks a neighbour for a ladder."),
    ChecklistTask("letter_2", "letters", "thanks", "Write a long letter that thanks a teacher."),
    ChecklistTask("letter_3", "letters", "requests", "Write a letter that asks a library for a book."),
    ChecklistTask("report_1", "reports", "weather", "Report the weather of a week in {Oslo}."),
    ChecklistTask("report_1", "reports", "weather", "Report the weather of a week in Oslo, in 90 words.", "90", 90),
    ChecklistTask("report_2", "reports", "weather", "Report a storm."),
)


def suite_of(
    name: str,
    questions: Mapping[tuple[str, str], Sequence[str]],
    weights: Mapping[tuple[str, str], tuple[float, ...]],
    tasks: Sequence[ChecklistTask],
    **others: Any,
) -> ChecklistSuite:
    """A suite in memory; questions and weights are by area and category."""
    checklists = with_weights({key: tuple(asked) for key, asked in questions.items()}, dict(weights), name)
    areas = tuple(dict.fromkeys(area for area, _ in questions))
    usual = {"language": "en", "prompts": JudgePrompts(USER), "areas": areas, "checklists": checklists}
    return ChecklistSuite(name, tasks=tuple(tasks), **{**usual, **others})


def own_suite(tasks: Sequence[ChecklistTask] = TASKS, **others: Any) -> ChecklistSuite:
    prompts = JudgePrompts(USER, SYSTEM)
    return suite_of("own", QUESTIONS, WEIGHTS, tasks, prompts=prompts, **others)


def written(suite: ChecklistSuite, folder: Path) -> Path:
    write_suite(suite, folder)
    return folder


def own_suite_in(folder: Path) -> ChecklistSuite:
    return ChecklistSuite.load(written(own_suite(), folder))


JUDGE = "judge-2025"


def answer_to(task: ChecklistTask, model: str) -> Answer:
    text = f"{model} answers {task.id}" + (" at length" if task.length else "") + ", as well as it can. It ends here."
    return Answer(task.id, text, task.length)


def verdicts(suite: ChecklistSuite, task: ChecklistTask, skill: int) -> tuple[float, ...]:
    n = len(suite.checklist(task).questions)
    number = suite.tasks.index(task)
    return tuple(suite.levels[max(0, min(4, skill - (place + number) % 3))] for place in range(n))


def judgement_of(suite: ChecklistSuite, answer: Answer, skill: int, reason: str) -> Judgement:
    task = suite.by_key[answer.id, answer.length]
    scores = verdicts(suite, task, skill)
    reasons = tuple(f"{reason} {number} about {task.id}." for number in range(len(scores)))
    judgement = Judgement(answer.id, answer.sha256, scores, answer.length, judge=JUDGE)
    judgement = replace(judgement, version="judge-2025-01-01 fp_7", reasons=reasons, profile="plain")
    return replace(judgement, checklist_sha256=suite.checklist(task).sha256)


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
) -> Run:
    """A run that is named after its folder, with judgements as good as `skill`, which is up to 4."""
    answers = [answer_to(task, folder.name) for task in suite.tasks if task.id not in leave_out]
    answers = [Answer(answer.id, (texts or {}).get(answer.id, answer.response), answer.length) for answer in answers]
    rows = [judgement_of(suite, answer, skill, reason) for answer in answers]
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


def hostile_runs(folder: Path) -> tuple[ChecklistScores, list[Run]]:
    """Runs whose tasks, areas, categories, questions, models, answers, reasons and notes attack their report."""
    names = [name for name in NAMES if not any("\ud800" <= character <= "\udfff" for character in name)]
    tasks = tuple(
        ChecklistTask(f"{name} {n}", name, name, f"Say this: {name}", *((name, 5) if n % 2 else ()))
        for n, name in enumerate(names)
    )
    checklists = {(name, name): Checklist(name, name, (name, f"{name}?"), (60.0, 40.0)) for name in names}
    areas = tuple(dict.fromkeys(names))
    suite = replace(own_suite(), name=names[0], areas=areas, tasks=tasks, checklists=checklists)
    runs = [
        judged_run(folder / f"m{n}", suite, name=name, texts={task.id: f"{name} {name}" for task in tasks}, reason=name)
        for n, name in enumerate(names[:12])
    ]
    return replace(score_judged_runs(suite, runs), notes=tuple(names)), runs


CATEGORIES = (("letters", "complaint"), ("letters", "thanks"), ("stories", "fable"))
N_OF_CATEGORY = 12
MODELS = ("alpha", "beta", "gamma", "delta")


def suite_of_36(weights: tuple[float, ...] = (25.0,) * 4) -> ChecklistSuite:
    """A suite with two areas and three categories, each with four questions and twelve tasks."""
    questions = {key: [f"Is the {key[1]} good in way {n}?" for n in range(len(weights))] for key in CATEGORIES}
    tasks = [
        ChecklistTask(f"{category}-{number:03d}", area, category, f"Write {category} number {number}.")
        for area, category in CATEGORIES
        for number in range(N_OF_CATEGORY)
    ]
    return suite_of("made", questions, dict.fromkeys(CATEGORIES, weights), tasks)


def judged_models(suite: ChecklistSuite) -> dict[str, list[Judgement]]:
    """Judgements of all answers, by model; later models are worse."""
    draw = random.Random(0)
    by_name: dict[str, list[Judgement]] = {}
    for number, model in enumerate(MODELS):
        by_name[model] = [
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
    return by_name


def write_judged(folder: Path, judgements: Mapping[str, list[Judgement]]) -> Path:
    """A folder of runs with these judgements."""
    for model, listed in judgements.items():
        (folder / model).mkdir(parents=True, exist_ok=True)
        write_judgements(folder / model / "judgements.jsonl", listed)
    return folder


def _level(value: float) -> float:
    return min(LEVELS, key=lambda level: abs(level - value))


ESSAYS = (
    ChecklistTask("sea", "essays", "water", "Write about the sea.", reference="The sea is wide and the sea is deep."),
    ChecklistTask("ice", "essays", "water", "Write about ice.", reference="Ice floats on water because it is lighter."),
    ChecklistTask("fog", "letters", "weather", "Write to a friend about fog."),
    ChecklistTask("fog", "letters", "weather", "Write to a friend about fog, in 20 words.", "short", 20),
    ChecklistTask("sea", "essays", "water", "Write about the sea, in 20 words.", "short", 20),
)


def suite_of_essays(language: str = "en", *, has_references: bool = True) -> ChecklistSuite:
    questions = {task.place: ("Does it name a place?", "Is it without any flaw?") for task in ESSAYS}
    tasks = ESSAYS if has_references else [replace(task, reference=None) for task in ESSAYS]
    counter = "characters" if language == "ja" else "regex"
    return suite_of("essays", questions, {}, tasks, language=language, words=counter)


def run_of(folder: Path, *answers: Answer, judgements: Iterable[Judgement] = ()) -> Run:
    write_run(folder, answers, judgements, {"model": folder.name})
    return open_runs([folder])[0]
