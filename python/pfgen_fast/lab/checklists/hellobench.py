"""Imports HelloBench (arXiv 2409.16191) from a checkout of its repository: the suite, answers and judgements.

A checkout has these files. Its scripts are parsed, never executed.

    data/main_data/AREA.jsonl                    the tasks, with their checklists
    data/length_constrained_data/AREA_2k.jsonl   the tasks with a wanted length
    checklists/AREA_checklist.json               the checklists of tasks that have none in their line
    results/scripts/compute.py                   the weights: a dictionary
    llm_judge.py                                 the prompts: strings
    results/{generations,judgements}/EXPERIMENT/MODEL/AREA[_LENGTH]_results.jsonl

The suite may also be in a compact form, with checklists.json, weights.json, tasks.jsonl and prompts/. Invalid lines of
results, and lines that contradict each other, are reported and left out.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ...base.errors import ChecklistError
from ...base.file_reading import read_text
from ...base.untrusted_json import Fault, any_object, checked, entries, items, member, number, unexpected
from ...base.untrusted_text import in_one_line
from .checklist_runs import REPLIES_FILE, Answer, shown_key, write_run
from .checklist_suite import ChecklistSuite, keys_in_order
from .judgements import Judgement
from .line_files import (
    check_is_folder,
    checked_objects,
    data_file,
    is_data_file,
    json_file,
    stem,
    whole_text,
    whole_text_or_none,
)
from .suite_files import (
    CHECKLISTS_FILE,
    Categories,
    checked_tasks,
    prompt_of,
    questions_of,
    read_checklists,
    read_prompt,
    task_of,
    weights_of,
    with_weights,
)
from .tasks import AnswerKey, Checklist, ChecklistTask, JudgePrompts

AREAS = ("open_ended_qa", "summarization", "chat", "text_completion", "heuristic_text_generation")
"""The areas in the order of the published tables."""

_MAIN = "data/main_data"
_LENGTHS = "data/length_constrained_data"
_CHECKLISTS = "checklists"
_WEIGHTS = "results/scripts/compute.py"
_PROMPTS = "llm_judge.py"
_PROMPT_NAMES = {
    "user": ("USER_PROMPT", "checklist.user"),
    "system": ("SYS_PROMPT", "checklist.system"),
    "overall_system": ("LLM_EVAL_SYS_PROMPT", "overall.system"),
    "overall_user": ("LLM_EVAL_USER_PROMPT", "overall.user"),
    "overall_with_checklist_user": ("LLM_EVAL_WITH_CHECKLIST_USER_PROMPT", "overall_with_checklist.user"),
}
"""The names of the prompts in the script of a checkout, and of their files in the compact form."""
_DOCUMENTS = {
    "academic article": "academic_article",
    "following report": "report",
    "following dialog": "long_dialogue",
    "following news": "news",
    "blog article": "blogs",
}
"""Phrases in the first line of an instruction of `summarization`, with the category that each means."""

_SUMMARIES = "summarization"
_MAX_SCRIPT_BYTES = 1 << 20
_LENGTH = re.compile(r"([1-9][0-9]{0,3})k")

Row = tuple[str, tuple[ChecklistTask, "tuple[str, ...] | None"]]
"""The place of a task for error messages, the task, and the checklist in its line."""


def import_suite(folder: str | Path) -> ChecklistSuite:
    """Reads the suite from a checkout of HelloBench's repository, or from a directory in compact form."""
    check_is_folder(folder := Path(folder))
    is_compact = (folder / CHECKLISTS_FILE).is_file()
    tasks, checklists, prompts = _compact(folder) if is_compact else _checkout(folder)
    there = dict.fromkeys(area for area, _ in checklists)
    return ChecklistSuite(
        name="hellobench",
        language="en",
        areas=tuple(sorted(there, key=lambda area: AREAS.index(area) if area in AREAS else len(AREAS))),
        tasks=checked_tasks(tasks, checklists),
        checklists=checklists,
        prompts=prompts,
        words="nltk",
    )


Parts = tuple[Iterable[tuple[str, ChecklistTask]], Categories[Checklist], JudgePrompts]
"""The tasks of a suite with their places, the checklists, and the prompts."""


def _compact(folder: Path) -> Parts:
    path = data_file(folder, "tasks")
    if path is None:
        raise ChecklistError(f"{folder}: expected tasks.jsonl, which may be compressed, next to {CHECKLISTS_FILE}")
    rows = checked_objects(path, partial(task_of, area="task"))
    tasks = [(where, replace(task, wanted_words=_wanted_words(task.length))) for where, task in rows]
    files = {name: folder / "prompts" / f"{file}.txt" for name, (_, file) in _PROMPT_NAMES.items()}
    return (
        tasks,
        read_checklists(folder, None),
        JudgePrompts(**{name: read_prompt(path, name) for name, path in files.items()}),
    )


def _checkout(folder: Path) -> Parts:
    main = [row for area in AREAS for row in _rows_of_area(folder, area)]
    rows = [*main, *(row for area in AREAS for row in _rows_in(folder / _LENGTHS, area))]
    questions: Categories[tuple[str, ...]] = {}
    for area in AREAS:
        path = folder / _CHECKLISTS / f"{area}_checklist.json"
        listed = json_file(path, lambda value: entries(value, questions_of)) if path.is_file() else {}
        questions |= {(area, name): asked for name, asked in listed.items()}
    questions |= {task.place: asked for _, (task, asked) in rows if asked is not None}  # the judge saw these
    questions = {key: questions[key] for key in sorted(questions, key=lambda key: AREAS.index(key[0]))}
    weights, where = _constants(folder / _WEIGHTS).get("WEIGHT_DICT"), f"{folder / _WEIGHTS}, WEIGHT_DICT"
    by_name = checked(weights, lambda value: entries(value, weights_of), where, error=ChecklistError)
    area_of = {category: area for area, category in questions}
    by_category = {(area_of.get(name, "unknown area"), name): listed for name, listed in by_name.items()}
    script = folder / _PROMPTS
    texts, prompts = _constants(script), {}
    for field, (name, _) in _PROMPT_NAMES.items():
        if not isinstance(texts.get(name), str):
            raise ChecklistError(f"{script}: expected a text with the name {name}")
        prompts[field] = prompt_of(texts[name], field, f"{script}, {name}")
    tasks = [(where, task) for where, (task, _) in rows]
    return tasks, with_weights(questions, by_category, where), JudgePrompts(**prompts)


def summary_category(instruction: str) -> str | None:
    """The category of a task of `summarization`, by its first line; None unless the line names exactly one."""
    categories = [category for phrase, category in _DOCUMENTS.items() if phrase in instruction.partition("\n")[0]]
    return categories[0] if len(categories) == 1 else None


def _wanted_words(length: str | None) -> int | None:
    """The number of words that the name of a length stands for."""
    match = _LENGTH.fullmatch(length or "")
    return 1000 * int(match[1]) if match else None


def _rows_of_area(folder: Path, area: str) -> list[Row]:
    rows = _rows_in(folder / _MAIN, area)
    if not rows and area == _SUMMARIES:  # the answers of models hold the instructions, too
        answers = sorted(folder.glob(f"results/*/main_exp/*/{area}_results.jsonl*"))
        by_id = {row[1][0].id: row for path in reversed(answers) for row in _rows(path, area)}
        rows = [by_id[id] for id in sorted(by_id)]
    if not rows:
        instead = f" or results/generations/main_exp/MODEL/{area}_results.jsonl" if area == _SUMMARIES else ""
        raise ChecklistError(
            f"{folder}: no data of HelloBench in {_MAIN}/{area}.jsonl{instead}; expected a checkout of its "
            "repository, or its compact form, with checklists.json and tasks.jsonl"
        )
    return rows


def _rows_in(folder: Path, area: str) -> list[Row]:
    """The rows of the files AREA.jsonl, or AREA_LENGTH.jsonl in the order of lengths."""
    matches = ((path, re.fullmatch(rf"{area}(?:_([0-9]+k))?", stem(path))) for path in folder.glob(f"{area}*.jsonl*"))
    by_length = sorted((_wanted_words(match[1]) or 0, path, match[1]) for path, match in matches if match)
    return [row for _, path, length in by_length for row in _rows(path, area, length)]


def _rows(path: Path, area: str, length: str | None = None) -> Iterator[Row]:
    def check(value: Any) -> tuple[ChecklistTask, tuple[str, ...] | None]:
        instruction = member(value, "instruction", whole_text)
        category = member(value, "category", whole_text_or_none, None)
        if category is None and area == _SUMMARIES:
            category = summary_category(instruction)
        if not category:
            raise Fault("has no 'category', and the first line of its instruction names no kind of document")
        wanted = _wanted_words(length)
        task = ChecklistTask(member(value, "id", whole_text), area, category, instruction, length, wanted)
        return task, member(value, "checklists", lambda listed: questions_of(listed) if listed else None, None)

    return checked_objects(path, check)


def _constants(path: Path) -> dict[str, Any]:
    """The constants of a script by name."""
    constants: dict[str, Any] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the script's escapes
            for line in ast.parse(read_text(path, error=ChecklistError, limit=_MAX_SCRIPT_BYTES)).body:
                if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                    with suppress(ValueError):  # it is computed
                        constants[line.targets[0].id] = ast.literal_eval(line.value)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ChecklistError(f"{path}: cannot be read as a Python script: {type(error).__name__}") from None
    return constants


PUBLISHED_JUDGE = "gpt-4o"
"""The judge of the published judgements, which give no date."""

_RESULTS = "_results.jsonl"


@dataclass(frozen=True)
class ImportedModel:
    """The outcome for one model; without answers and judgements, nothing was written."""

    key: str
    n_answers: int = 0
    n_judgements: int = 0
    problems: tuple[str, ...] = ()


def import_runs(folder: str | Path, suite: ChecklistSuite, output: Path) -> Iterator[ImportedModel]:
    """Writes a run for each model in a directory; yields the outcome for each."""
    check_is_folder(Path(folder))
    root = Path(folder, "results") if Path(folder, "results").is_dir() else Path(folder)
    models: dict[str, list[Path]] = {}
    for path in sorted(root.rglob(f"*{_RESULTS}*")):
        if is_data_file(path) and path.is_file():
            models.setdefault(path.resolve().parent.name, []).append(path)
    if not models:
        raise ChecklistError(
            f"{folder}: no answers or judgements of HelloBench; expected results/judgements/EXPERIMENT/MODEL/"
            f"AREA{_RESULTS}"
        )
    for key, paths in sorted(models.items()):
        problems: list[str] = []
        try:
            n_answers, n_judgements = _import_run(output / key, paths, suite, problems)
        except ChecklistError as error:
            yield ImportedModel(key, problems=(*problems, str(error)))
        else:
            yield ImportedModel(key, n_answers, n_judgements, tuple(problems))


def _import_run(folder: Path, paths: Sequence[Path], suite: ChecklistSuite, problems: list[str]) -> tuple[int, int]:
    """Writes the run of a model; a judged answer takes the place of one without a judgement."""
    if (folder / REPLIES_FILE).exists():
        raise ChecklistError(f"{folder}: holds replies of a judge; expected a folder without judge-replies.jsonl")
    generated: dict[AnswerKey, Answer] = {}
    judged: dict[AnswerKey, Answer] = {}
    judgements: dict[AnswerKey, Judgement] = {}
    for where, answer, judgement in (line for path in paths for line in _result_lines(path, suite, problems)):
        answers = generated if judgement is None else judged
        is_other = answers.setdefault(answer.key, answer).response != answer.response
        if judgement is not None and not is_other:
            is_other = judgements.setdefault(answer.key, judgement).verdicts != judgement.verdicts
        if is_other:
            problems.append(f"{where}: another line about {shown_key(answer.key)} came before; only that line counts")
    answers = generated | judged
    if not answers:
        raise ChecklistError(f"{folder.name}: its files contain no usable answer or judgement")
    rows = [
        replace(judgements[key], judge=PUBLISHED_JUDGE, checklist_sha256=suite.checklist(task).sha256)
        for task, key in keys_in_order(suite, judgements)
    ]
    write_run(folder, [answers[key] for _, key in keys_in_order(suite, answers)], rows, {"model": folder.name})
    return len(answers), len(rows)


def _result_lines(
    path: Path, suite: ChecklistSuite, problems: list[str]
) -> Iterator[tuple[str, Answer, Judgement | None]]:
    places = {
        area if length is None else f"{area}_{length}": (area, length)
        for area in suite.areas
        for length in (None, *suite.lengths)
    }
    name = stem(path).removesuffix("_results")
    if name not in places:
        areas = ", ".join(suite.areas)
        problems.append(f"{path}: expected the name of an area of the suite ({areas}), with or without a length")
        return
    area, length = places[name]
    try:
        for where, value in checked_objects(path, any_object, on_fault=problems.append):
            try:
                yield where, *_result_line(value, suite, area, length, where)
            except ChecklistError as fault:
                problems.append(str(fault))
    except ChecklistError as error:
        problems.append(str(error))


def _result_line(
    value: Any, suite: ChecklistSuite, area: str, length: str | None, where: str
) -> tuple[Answer, Judgement | None]:
    def check(line: Any) -> tuple[Answer, Judgement | None]:
        answer = Answer(member(line, "id", whole_text), member(line, "response", whole_text), length)
        task = suite.task(answer.id, length, where)
        if task.area != area:
            raise ChecklistError(f"{where}: the task {in_one_line(answer.id)} is of the area {task.area}")
        n_questions, levels = suite.n_questions[task.key], suite.levels
        judged = member(line, "checklist_wise_evaluation", lambda listed: _judgement(listed, n_questions, levels), None)
        return answer, judged and replace(judged, id=answer.id, length=length, response_sha256=answer.sha256)

    return checked(value, check, where, error=ChecklistError)


def _judgement(listed: Any, n_questions: int, levels: Sequence[float]) -> Judgement:
    """Verdicts and reasons in the order of the questions. Without verdicts, as after three tries, it is unjudged."""

    def level(value: Any) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool):
            for known in levels:
                if abs(number(value) - known) <= 1e-9:
                    return known
        raise unexpected(f"a level ({', '.join(f'{level:g}' for level in levels)})", value)

    def verdict(value: Any) -> tuple[float, float, str | None]:
        reason = member(value, "reason", lambda text: text if isinstance(text, str) else None, None)
        return member(value, "checklist_id", number), member(value, "evaluation_score", level), reason

    verdicts = sorted(items(listed, verdict), key=lambda row: row[0])
    if not verdicts:
        return Judgement("", "", None, fault="number")
    numbers, scores, reasons = zip(*verdicts, strict=True)
    if list(numbers) != list(range(n_questions)):
        shown = in_one_line(", ".join(f"{number:g}" for number in numbers), 60)
        raise Fault(f"expected each question from 0 to {n_questions - 1} once, not {shown}")
    return Judgement("", "", scores, reasons=reasons)
