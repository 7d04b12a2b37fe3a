"""Imports the suite of HelloBench (arXiv 2409.16191) from a checkout of its repository, or from its compact form.

A checkout has these files. Its scripts are parsed, never executed.

    data/main_data/AREA.jsonl                    the tasks, with their checklists
    data/length_constrained_data/AREA_2k.jsonl   the tasks with a wanted length
    checklists/AREA_checklist.json               the checklists of tasks that have none in their line
    results/scripts/compute.py                   the weights: a dictionary
    llm_judge.py                                 the prompts: strings

The compact form has checklists.json, weights.json, tasks.jsonl and prompts/.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ....base.errors import ChecklistError, TrialsError
from ....base.file_reading import read_stored
from ....base.untrusted_json import Fault, checked, entries, member
from ..checklist_files import (
    CHECKLISTS_FILE,
    Categories,
    questions_of,
    read_checklists,
    shown_key,
    weights_of,
    with_weights,
)
from ..checklist_suite import ChecklistSuite
from ..line_files import check_is_folder, checked_objects, data_file, json_file, stem, whole_text, whole_text_or_none
from ..suite_files import checked_tasks, packaged_prompts, prompt_of, read_prompt, task_of
from ..tasks import Checklist, Prompts, Task

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

Row = tuple[str, tuple[Task, "tuple[str, ...] | None"]]
"""The place of a task for error messages, the task, and the checklist in its line."""


def import_suite(folder: str | Path) -> ChecklistSuite:
    """Reads the suite from a checkout of HelloBench's repository, or from a directory in compact form."""
    folder = Path(folder)
    check_is_folder(folder)
    if (folder / CHECKLISTS_FILE).is_file():
        checklists, notes = read_checklists(folder, None)
        tasks, prompts = list(_compact_tasks(folder)), packaged_prompts("en")
        if (inside := folder / "prompts").is_dir():
            files = {name: inside / f"{file}.txt" for name, (_, file) in _PROMPT_NAMES.items()}
            prompts = Prompts(**{name: read_prompt(path, name) for name, path in files.items()})
    else:
        tasks, checklists, prompts, notes = _read_checkout(folder)
    there = dict.fromkeys(area for area, _ in checklists)
    return ChecklistSuite(
        name="hellobench",
        language="en",
        areas=tuple(sorted(there, key=lambda area: AREAS.index(area) if area in AREAS else len(AREAS))),
        tasks=checked_tasks(tasks, checklists),
        checklists=checklists,
        prompts=prompts,
        words="nltk",
        notes=tuple(notes),
    )


def _compact_tasks(folder: Path) -> Iterator[tuple[str, Task]]:
    path = data_file(folder, "tasks")
    if path is None:
        raise ChecklistError(f"{folder}: expected tasks.jsonl, which may be compressed, next to {CHECKLISTS_FILE}")
    for where, task in checked_objects(path, partial(task_of, area="task")):
        yield where, replace(task, wanted_words=_wanted_words(task.length))


def _read_checkout(folder: Path) -> tuple[list[tuple[str, Task]], Categories[Checklist], Prompts, list[str]]:
    """Reads the tasks, the checklists and the prompts in a checkout, and notes on what the checkout lacks."""
    main = [row for area in AREAS for row in _rows_of_area(folder, area)]
    long = [row for area in AREAS for row in _rows_in(folder / _LENGTHS, area)]
    questions = _questions(folder, [*main, *long])
    constants, prompts = _constants(folder / _WEIGHTS), _constants(folder / _PROMPTS)
    lacking = {
        f"{_LENGTHS}, so the suite has no tasks with a wanted length": not long,
        f"{_WEIGHTS}, so all questions have equal weights": constants is None,
        f"{_PROMPTS}, so the suite has the packaged prompts": prompts is None,
    }
    weights, where = {}, f"{folder / _WEIGHTS}, WEIGHT_DICT"
    if constants is not None:
        weight_lists = constants.get("WEIGHT_DICT")
        by_name = checked(weight_lists, lambda value: entries(value, weights_of), where, error=ChecklistError)
        area_of = {category: area for area, category in questions}
        weights = {(area_of.get(name, "unknown area"), name): listed for name, listed in by_name.items()}
    checklists, notes = with_weights(questions, weights, where)
    return (
        [(where, task) for where, (task, _) in (*main, *long)],
        checklists,
        packaged_prompts("en") if prompts is None else _prompts(folder / _PROMPTS, prompts),
        [*(f"the checkout has no {what}" for what, is_lacking in lacking.items() if is_lacking), *notes],
    )


def summary_category(instruction: str) -> str | None:
    """The category of a task of `summarization`, by its first line; None unless the line names exactly one."""
    first = instruction.partition("\n")[0]
    categories = [category for phrase, category in _DOCUMENTS.items() if phrase in first]
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
    def check(value: Any) -> tuple[Task, tuple[str, ...] | None]:
        instruction = member(value, "instruction", whole_text)
        category = member(value, "category", whole_text_or_none, None)
        if category is None and area == _SUMMARIES:
            category = summary_category(instruction)
        if not category:
            raise Fault("has no 'category', and the first line of its instruction names no kind of document")
        task = Task(member(value, "id", whole_text), area, category, instruction, length, _wanted_words(length))
        return task, member(value, "checklists", lambda listed: questions_of(listed) if listed else None, None)

    return checked_objects(path, check)


def _questions(folder: Path, rows: Sequence[Row]) -> Categories[tuple[str, ...]]:
    """The checklists in the lines of tasks, which the judge saw; where these have none, those of the files."""
    questions: Categories[tuple[str, ...]] = {}
    for area in AREAS:
        path = folder / _CHECKLISTS / f"{area}_checklist.json"
        listed = json_file(path, lambda value: entries(value, questions_of)) if path.is_file() else {}
        questions |= {(area, name): asked for name, asked in listed.items()}
    line_questions: Categories[tuple[str, ...]] = {}
    for where, (task, asked) in rows:
        if asked is not None and line_questions.setdefault(task.place, asked) != asked:
            others = shown_key(task.place)
            raise ChecklistError(f"{where}: its checklist differs from that of the other tasks of {others}")
    questions |= line_questions
    for where, (task, _) in rows:
        if task.place not in questions:
            raise ChecklistError(f"{where}: no checklist of {shown_key(task.place)}; expected a file in {_CHECKLISTS}/")
    return {key: questions[key] for key in sorted(questions, key=lambda key: AREAS.index(key[0]))}


def _prompts(path: Path, constants: dict[str, Any]) -> Prompts:
    prompts = {}
    for name, (constant, _) in _PROMPT_NAMES.items():
        text = constants.get(constant)
        if isinstance(text, str):
            prompts[name] = prompt_of(text, name, f"{path}, {constant}")
        elif name == "user":
            raise ChecklistError(f"{path}: expected a text with the name {constant}")
    return Prompts(**prompts)


def _constants(path: Path) -> dict[str, Any] | None:
    """The constants of a script by name; None without the script."""
    if not path.is_file():
        return None
    constants: dict[str, Any] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the script's escapes
            for line in ast.parse(read_stored(path, limit=_MAX_SCRIPT_BYTES)).body:
                if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                    with suppress(ValueError):  # it is computed
                        constants[line.targets[0].id] = ast.literal_eval(line.value)
    except TrialsError as error:
        raise ChecklistError(str(error)) from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ChecklistError(f"{path}: cannot be read as a Python script: {type(error).__name__}") from None
    return constants
