"""Reads a checkout of HelloBench's repository, whose folders had other names in its first version.

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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import ChecklistError, TrialsError
from ...files.reading import read_stored
from ...files.untrusted_json import checked, entries, items, member, read_json
from ..checklist_files import check_weights, checklist_of, notes_on, questions_of, shown_key, weight_of
from ..line_files import data_file, numbered_objects, whole_text, whole_text_or_none
from ..prompt_files import packaged_prompts, prompt_of
from ..tasks import Checklist, Prompts

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
"""What the first line of an instruction of `summarization` holds, and the category that it means."""

_SUMMARIES = "summarization"
_MAX_SCRIPT_BYTES = 1 << 20

Questions = dict[tuple[str, str], tuple[str, ...]]


@dataclass(frozen=True)
class Row:
    """A line of the data."""

    id: str
    area: str
    category: str
    instruction: str
    length: str | None = None
    questions: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Checkout:
    """What a checkout holds."""

    rows: Sequence[tuple[str, Row]]
    checklists: Mapping[tuple[str, str], Checklist]
    prompts: Prompts
    notes: Sequence[str]


def read_checkout(folder: Path, areas: Sequence[str]) -> Checkout:
    """Reads the suite in a checkout."""
    data = _folder(folder, _MAIN)
    if data is None:
        raise ChecklistError(
            f"{folder}: no data of HelloBench; expected a checkout of its repository, with {_MAIN[0]}/AREA.jsonl, or "
            "its compact form, with checklists.json and tasks.jsonl"
        )
    rows = [row for area in areas for row in _rows_of_area(folder, data, area)]
    notes = []
    with_lengths = [(where, row) for area in areas for where, row in _rows_with_lengths(folder, area)]
    if not with_lengths:
        notes.append(f"the checkout has no {_LENGTHS[0]}, so the suite has no tasks with a wanted length")
    rows += with_lengths
    questions = _questions(folder, rows, areas)
    weights = _weights(folder / _WEIGHTS, questions)
    if not weights:
        notes.append(f"the checkout has no {_WEIGHTS}, so all questions have equal weights")
    prompts = _prompts(folder / _PROMPTS)
    if prompts is None:
        notes.append(f"the checkout has no {_PROMPTS}, so the suite has the packaged prompts")
    checklists = {key: checklist_of(key, asked, weights.get(key)) for key, asked in questions.items()}
    return Checkout(rows, checklists, prompts or packaged_prompts("en"), (*notes, *notes_on(weights)))


def summary_category(instruction: str) -> str | None:
    """The category of a task of `summarization`, by its first line; None if it does not say."""
    first = instruction.partition("\n")[0]
    found = [category for phrase, category in _DOCUMENTS.items() if phrase in first]
    return found[0] if len(found) == 1 else None


def _folder(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_dir()), None)


def _rows_of_area(folder: Path, data: Path, area: str) -> Iterator[tuple[str, Row]]:
    path = data_file(data, area)
    if path is not None:
        yield from _rows(path, area, None)
    elif area == _SUMMARIES:
        yield from _rows_of_results(folder, area, data)
    else:
        raise ChecklistError(f"{data}: expected {area}.jsonl")


def _rows_with_lengths(folder: Path, area: str) -> Iterator[tuple[str, Row]]:
    inner = _folder(folder, _LENGTHS)
    names = [] if inner is None else [path.name for path in inner.iterdir()]
    found = {match[1] for name in names if (match := re.match(rf"{area}_([0-9]+k)\.jsonl", name))}
    for length in sorted(found, key=lambda length: int(length[:-1])):
        path = None if inner is None else data_file(inner, f"{area}_{length}")
        if path is not None:
            yield from _rows(path, area, length)


def _rows(path: Path, area: str, length: str | None) -> Iterator[tuple[str, Row]]:
    def check(value: Any) -> Row:
        instruction = member(value, "instruction", whole_text_or_none, None)
        if instruction is None:
            instruction = member(value, "chat_prompt", whole_text)
        category = member(value, "category", whole_text_or_none, None)
        if category is None and area == _SUMMARIES:
            category = summary_category(instruction)
        return Row(
            id=member(value, "id", whole_text),
            area=area,
            category=category or member(value, "category", whole_text),
            instruction=instruction,
            length=length,
            questions=member(value, "checklists", lambda listed: questions_of(listed) if listed else None, None),
        )

    for where, value in numbered_objects(path):
        yield where, checked(value, check, where, error=ChecklistError)


def _rows_of_results(folder: Path, area: str, data: Path) -> Iterator[tuple[str, Row]]:
    """Tasks from the answers of models, which hold their instructions, where the file of tasks is missing."""
    found: dict[str, tuple[str, str]] = {}
    for kind in ("generations", "judgements"):
        for path in sorted((folder / "results" / kind / "main_exp").glob(f"*/{area}_results.jsonl*")):
            for where, value in numbered_objects(path):
                id, instruction = checked(value, _id_and_instruction, where, error=ChecklistError)
                found.setdefault(id, (where, instruction))
    if not found:
        raise ChecklistError(
            f"{data}: expected {area}.jsonl, or answers to its tasks in results/generations/main_exp/MODEL/"
            f"{area}_results.jsonl"
        )
    for id, (where, instruction) in sorted(found.items()):
        category = summary_category(instruction)
        if category is None:
            raise ChecklistError(
                f"{where}: the first line of the instruction says no kind of document; expected one of "
                f"{', '.join(map(repr, _DOCUMENTS))}"
            )
        yield where, Row(id, area, category, instruction)


def _id_and_instruction(value: Any) -> tuple[str, str]:
    return member(value, "id", whole_text), member(value, "instruction", whole_text)


def _questions(folder: Path, rows: Sequence[tuple[str, Row]], areas: Sequence[str]) -> Questions:
    """The checklists: those that the lines of tasks hold, which the judge saw, and else those of the files."""
    found: Questions = {}
    for area in areas:
        path = next(
            (path for name in _CHECKLISTS if (path := folder / name / f"{area}_checklist.json").is_file()), None
        )
        if path is not None:
            listed = checked(
                read_json(path, error=ChecklistError),
                lambda value: entries(value, questions_of),
                str(path),
                error=ChecklistError,
            )
            found.update({(area, category): asked for category, asked in listed.items()})
    of_lines: Questions = {}
    for where, row in rows:
        key = (row.area, row.category)
        if row.questions is not None and of_lines.setdefault(key, row.questions) != row.questions:
            raise ChecklistError(f"{where}: another checklist than the other tasks of {shown_key(key)} have")
    found.update(of_lines)
    asked_for = {(row.area, row.category): where for where, row in rows}
    for key, where in asked_for.items():
        if key not in found:
            raise ChecklistError(
                f"{where}: there is no checklist of {shown_key(key)}; expected one in {_CHECKLISTS[0]}/"
            )
    return {key: found[key] for key in sorted(found, key=lambda key: areas.index(key[0]))}


def _weights(path: Path, questions: Questions) -> dict[tuple[str, str], tuple[float, ...]]:
    if not path.is_file():
        return {}

    def check(value: Any) -> dict[str, tuple[float, ...]]:
        return entries(value, lambda listed: items(listed, weight_of))

    given = checked(_literals(path).get("WEIGHT_DICT"), check, f"{path}, WEIGHT_DICT", error=ChecklistError)
    areas = {category: area for area, category in questions}
    weights = {(areas.get(category, "unknown area"), category): listed for category, listed in given.items()}
    check_weights(weights, questions, f"{path}, WEIGHT_DICT")
    return weights


def _prompts(path: Path) -> Prompts | None:
    if not path.is_file():
        return None
    literals = _literals(path)
    found = {}
    for name, constant in _PROMPT_NAMES.items():
        content = literals.get(constant)
        if isinstance(content, str):
            found[name] = prompt_of(content, name, f"{path}, {constant}")
    if "user" not in found:
        raise ChecklistError(f"{path}: expected a text with the name {_PROMPT_NAMES['user']}")
    return Prompts(**found)


def _literals(path: Path) -> dict[str, Any]:
    """The constants of a script by name; it is not executed."""
    try:
        content = read_stored(path, limit=_MAX_SCRIPT_BYTES)
    except TrialsError as error:
        raise ChecklistError(str(error)) from None
    found: dict[str, Any] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the script's escapes
            for line in ast.parse(content).body:
                if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                    found[line.targets[0].id] = _literal(line.value)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ChecklistError(f"{path}: no Python script that can be read: {type(error).__name__}") from None
    return found


def _literal(value: ast.expr) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError:
        return None  # it is computed
