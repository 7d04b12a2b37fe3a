"""Reads a checkout of HelloBench's repository; its first version had other names, on the right.

    data/main_data/AREA.jsonl                    HelloBench/AREA.jsonl
    data/length_constrained_data/AREA_2k.jsonl   HelloBench/length_constrained_experiments_data/AREA_2k.jsonl
    checklists/AREA_checklist.json               Checklists/AREA_checklist.json
    results/scripts/compute.py                   the weights, a dictionary
    llm_judge.py                                 the prompts, strings

Its scripts are parsed, never executed.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...errors import ChecklistError, TrialsError
from ...files.reading import read_stored
from ...files.untrusted_json import Fault, checked, entries, items, member, read_json
from ..checklist_files import check_weights, checklist_of, notes_on, questions_of, shown_key, weight_of
from ..line_files import checked_objects, data_file, whole_text, whole_text_or_none
from ..prompt_files import packaged_prompts, prompt_of
from ..tasks import Checklist, Prompts, Task

_MAIN = ("data/main_data", "HelloBench")
_LENGTHS = ("data/length_constrained_data", "HelloBench/length_constrained_experiments_data")
_CHECKLISTS = ("checklists", "Checklists")
_WEIGHTS = "results/scripts/compute.py"
_PROMPTS = "llm_judge.py"
_PROMPT_NAMES = {
    "system": "SYS_PROMPT",
    "user": "USER_PROMPT",
    "overall_system": "LLM_EVAL_SYS_PROMPT",
    "overall_user": "LLM_EVAL_USER_PROMPT",
    "overall_with_checklist_user": "LLM_EVAL_WITH_CHECKLIST_USER_PROMPT",
}
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

Questions = dict[tuple[str, str], tuple[str, ...]]
Row = tuple[str, Task, "tuple[str, ...] | None"]
"""A task with its place for error messages, and the checklist in its line."""


def read_checkout(
    folder: Path, areas: Sequence[str]
) -> tuple[list[tuple[str, Task]], dict[tuple[str, str], Checklist], Prompts, list[str]]:
    """Reads the tasks, the checklists and the prompts in a checkout, and notes on what the checkout lacks."""
    data = _directory(folder, _MAIN)
    if data is None:
        raise ChecklistError(
            f"{folder}: no data of HelloBench; expected a checkout of its repository, with {_MAIN[0]}/AREA.jsonl, or "
            "its compact form, with checklists.json and tasks.jsonl"
        )
    rows = [row for area in areas for row in _rows_of_area(folder, data, area)]
    with_lengths = [row for area in areas for row in _rows_with_lengths(folder, area)]
    questions = _questions(folder, [*rows, *with_lengths], areas)
    weights = _weights(folder / _WEIGHTS, questions)
    prompts = _prompts(folder / _PROMPTS)
    lacking = {
        f"{_LENGTHS[0]}, so the suite has no tasks with a wanted length": not with_lengths,
        f"{_WEIGHTS}, so all questions have equal weights": not weights,
        f"{_PROMPTS}, so the suite has the packaged prompts": prompts is None,
    }
    notes = [f"the checkout has no {what}" for what, is_lacking in lacking.items() if is_lacking]
    checklists = {key: checklist_of(key, asked, weights.get(key)) for key, asked in questions.items()}
    tasks = [(where, task) for where, task, _ in (*rows, *with_lengths)]
    return tasks, checklists, prompts or packaged_prompts("en"), [*notes, *notes_on(weights)]


def summary_category(instruction: str) -> str | None:
    """The category of a task of `summarization`, by its first line; None if the line names none or several."""
    first = instruction.partition("\n")[0]
    found = [category for phrase, category in _DOCUMENTS.items() if phrase in first]
    return found[0] if len(found) == 1 else None


def wanted_words(length: str | None) -> int | None:
    """The number of words that the name of a length stands for."""
    found = _LENGTH.fullmatch(length or "")
    return 1000 * int(found[1]) if found else None


def _directory(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_dir()), None)


def _rows_of_area(folder: Path, data: Path, area: str) -> list[Row]:
    path = data_file(data, area)
    if path is not None:
        return list(_rows(path, area, None))
    if area != _SUMMARIES:
        raise ChecklistError(f"{data}: expected {area}.jsonl")
    found: dict[str, Row] = {}  # from the answers of models, which hold the instructions
    for kind in ("generations", "judgements"):
        for path in sorted((folder / "results" / kind / "main_exp").glob(f"*/{area}_results.jsonl*")):
            for row in _rows(path, area, None):
                found.setdefault(row[1].id, row)
    if not found:
        raise ChecklistError(
            f"{data}: expected {area}.jsonl, or answers to its tasks in results/generations/main_exp/MODEL/"
            f"{area}_results.jsonl"
        )
    return [found[id] for id in sorted(found)]


def _rows_with_lengths(folder: Path, area: str) -> Iterator[Row]:
    inner = _directory(folder, _LENGTHS)
    if inner is None:
        return
    names = (re.match(rf"{area}_([0-9]+k)\.jsonl", path.name) for path in inner.iterdir())
    for length in sorted({name[1] for name in names if name}, key=lambda length: int(length[:-1])):
        path = data_file(inner, f"{area}_{length}")
        if path is not None:
            yield from _rows(path, area, length)


def _rows(path: Path, area: str, length: str | None) -> Iterator[Row]:
    def check(value: Any) -> tuple[Task, tuple[str, ...] | None]:
        is_named_so = member(value, "instruction", lambda text: text is not None, False)
        instruction = member(value, "instruction" if is_named_so else "chat_prompt", whole_text)
        category = member(value, "category", whole_text_or_none, None)
        if category is None and area == _SUMMARIES:
            category = summary_category(instruction)
        if not category:
            raise Fault("has no 'category', and the first line of its instruction names no kind of document")
        task = Task(member(value, "id", whole_text), area, category, instruction, length, wanted_words(length))
        return task, member(value, "checklists", lambda listed: questions_of(listed) if listed else None, None)

    return ((where, *row) for where, row in checked_objects(path, check))


def _questions(folder: Path, rows: Sequence[Row], areas: Sequence[str]) -> Questions:
    """The checklists in the lines of tasks, which the judge saw; where these have none, those of the files."""
    found: Questions = {}
    for area in areas:
        paths = (folder / name / f"{area}_checklist.json" for name in _CHECKLISTS)
        path = next((path for path in paths if path.is_file()), None)
        if path is not None:
            content = read_json(path, error=ChecklistError)
            listed = checked(content, lambda value: entries(value, questions_of), str(path), error=ChecklistError)
            found |= {(area, category): asked for category, asked in listed.items()}
    of_lines: Questions = {}
    for where, task, asked in rows:
        key = (task.area, task.category)
        if asked is not None and of_lines.setdefault(key, asked) != asked:
            raise ChecklistError(f"{where}: another checklist than the other tasks of {shown_key(key)} have")
    found |= of_lines
    for where, task, _ in rows:
        if (key := (task.area, task.category)) not in found:
            raise ChecklistError(f"{where}: no checklist of {shown_key(key)}; expected one in {_CHECKLISTS[0]}/")
    return {key: found[key] for key in sorted(found, key=lambda key: areas.index(key[0]))}


def _weights(path: Path, questions: Questions) -> dict[tuple[str, str], tuple[float, ...]]:
    if not path.is_file():
        return {}

    def check(value: Any) -> dict[str, tuple[float, ...]]:
        return entries(value, lambda listed: items(listed, weight_of))

    where = f"{path}, WEIGHT_DICT"
    given = checked(_literals(path).get("WEIGHT_DICT"), check, where, error=ChecklistError)
    areas = {category: area for area, category in questions}
    weights = {(areas.get(category, "unknown area"), category): listed for category, listed in given.items()}
    check_weights(weights, questions, where)
    return weights


def _prompts(path: Path) -> Prompts | None:
    if not path.is_file():
        return None
    texts = {name: _literals(path).get(constant) for name, constant in _PROMPT_NAMES.items()}
    if not isinstance(texts["user"], str):
        raise ChecklistError(f"{path}: expected a text with the name {_PROMPT_NAMES['user']}")
    given = {name: text for name, text in texts.items() if isinstance(text, str)}
    return Prompts(**{name: prompt_of(text, name, f"{path}, {_PROMPT_NAMES[name]}") for name, text in given.items()})


def _literals(path: Path) -> dict[str, Any]:
    """The constants of a script by name; it is not executed."""
    found: dict[str, Any] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the script's escapes
            for line in ast.parse(read_stored(path, limit=_MAX_SCRIPT_BYTES)).body:
                if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                    with suppress(ValueError):  # it is computed
                        found[line.targets[0].id] = ast.literal_eval(line.value)
    except TrialsError as error:
        raise ChecklistError(str(error)) from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ChecklistError(f"{path}: cannot be read as a Python script: {type(error).__name__}") from None
    return found
