"""The items that annotators get about a suite and its runs: instructions, marks, pairs of answers, verdicts of judges.

Items are about tasks without a wanted length whose whole instruction the suite has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from ...base.errors import AnnotationError
from ...base.untrusted_text import unknown_name
from ..annotations.annotation_plan import SheetItem
from ..annotations.annotation_rows import Asked, Kind, guideline_text
from .checklist_runs import Answer, Run
from .checklist_suite import ChecklistSuite
from .marks import judgement_key, questions_sha256
from .suite_files import GUIDELINE_FILE
from .tasks import ChecklistTask, TaskKey

_QUESTIONS: Mapping[str, str] = {
    "en": "Should a good answer have more than 1,000 words?",
    "ja": "よい回答は2,000字を超えるべきですか。",
}
"""What is asked about instructions by default, by the language of the suite."""


def instruction_items(suite: ChecklistSuite, question: str | None = None) -> list[SheetItem]:
    """An item for each task: a question about its instruction, which is shown alone."""
    alone = {"reference": None, "question": question or _QUESTIONS.get(suite.language, _QUESTIONS["en"])}
    return [
        SheetItem("instruction", f"instruction {task.id}", {**_content("instruction", task), **alone}, task.place, ())
        for task in suite.tasks
        if task.length is None and task.is_whole
    ]


def mark_items(suite: ChecklistSuite, runs: Iterable[Run]) -> list[SheetItem]:
    """An item for each answer; answers with the same text to the same task are one item."""
    items: dict[str, SheetItem] = {}
    for run in runs:
        for task, answer in _answers(suite, run):
            questions = list(suite.checklist(task).questions)
            content = {**_content("mark", task, answer), "questions": questions}
            item = SheetItem("mark", _key("mark", task, answer.sha256), content, (*task.place, run.key), (run.key,))
            before = items.get(item.key)
            items[item.key] = item if before is None else replace(before, source=(*before.source, run.key))
    return list(items.values())


def pair_items(suite: ChecklistSuite, runs: Sequence[Run], *, reference: str | None = None) -> list[SheetItem]:
    """An item for each two models that answered a task, or for each model and the reference; equal answers are none."""
    if len(runs) < 2:
        raise AnnotationError("--ask pairs: expected at least two runs, whose answers are compared")
    keys = [run.key for run in runs]
    if reference is not None and reference not in keys:
        raise AnnotationError(f"--reference: {unknown_name('run', reference, keys)}")
    answers: dict[str, dict[TaskKey, tuple[ChecklistTask, Answer]]] = {key: {} for key in keys}
    for run in runs:
        for task, answer in _answers(suite, run):
            answers[run.key].setdefault(task.key, (task, answer))
    items: dict[str, SheetItem] = {}
    for models in combinations(keys, 2):
        others = answers[models[1]] if reference in (None, *models) else {}
        for task_key, (task, first) in answers[models[0]].items():
            second = others[task_key][1] if task_key in others else first
            if first.sha256 != second.sha256:
                hashes = {"first_sha256": first.sha256, "second_sha256": second.sha256}
                texts = {"first": first.response, "second": second.response}
                content = {**_content("pair", task), **hashes, **texts, "questions": suite.checklist(task).questions}
                key = _key("pair", task, *sorted(hashes.values()))
                items.setdefault(key, SheetItem("pair", key, content, (*task.place, *models), models))
    return list(items.values())


def judgement_items(suite: ChecklistSuite, runs: Iterable[Run]) -> list[SheetItem]:
    """An item for each judgement of a stored answer: the judge's verdicts with their reasons."""
    items: dict[str, SheetItem] = {}
    for run in runs:
        answers = {answer.key: (task, answer) for task, answer in _answers(suite, run)}
        for judgement in run.judgements(suite):
            task, answer = answers.get(judgement.key, (None, None))
            if task is None or answer is None or answer.sha256 != judgement.response_sha256:
                continue
            checklist = suite.checklist(task)
            is_of_checklist = judgement.checklist_sha256 in (None, checklist.sha256)
            if judgement.method != "checklist" or judgement.verdicts is None or not is_of_checklist:
                continue
            reasons = judgement.reasons or (None,) * len(checklist.questions)
            verdicts = [
                {"question": number, "text": text, "verdict": verdict, "reason": reason}
                for number, (text, verdict, reason) in enumerate(
                    zip(checklist.questions, judgement.verdicts, reasons, strict=True), start=1
                )
            ]
            key, source = judgement_key(judgement), (run.key, judgement.judge)
            content = {**_content("judgement", task, answer), "judgement": key, "verdicts": verdicts}
            item = SheetItem("judgement", f"judgement {key}", content, (*task.place, *source), source)
            items.setdefault(key, item)
    if not items:
        raise AnnotationError("--ask judgements: no run has judgements of its answers; run 'checklists judge' first")
    return list(items.values())


def _answers(suite: ChecklistSuite, run: Run) -> Iterator[tuple[ChecklistTask, Answer]]:
    """The answers of a run with their tasks."""
    answers = run.answers(suite)
    if not answers:
        raise AnnotationError(f"{run.folder}: no answers: expected a run with answers.jsonl")
    for answer in answers.values():
        task = suite.by_key[answer.key[:2]]
        if task.length is None and task.is_whole:
            yield task, answer


def _content(kind: Kind, task: ChecklistTask, answer: Answer | None = None) -> dict[str, Any]:
    about = {"kind": kind, "id": task.id, "length": task.length}
    shown = {} if answer is None else {"response_sha256": answer.sha256, "response": answer.response}
    return {**about, "instruction": task.instruction, "reference": task.reference, **shown}


def _key(kind: Kind, task: ChecklistTask, *hashes: str) -> str:
    return "\0".join([kind, task.id, task.length or "", *hashes])


_LEVELS: Mapping[str, Mapping[float, str]] = {
    "en": {0: "fails", 0.25: "in part", 0.5: "about half", 0.75: "mostly", 1: "nothing to improve"},
    "ja": {0: "満たさない", 0.25: "一部のみ", 0.5: "およそ半分", 0.75: "おおむね", 1: "直すところなし"},
}
"""The texts of the usual levels; other levels have only their number."""


def asked_of(suite: ChecklistSuite, asks: Sequence[str]) -> Asked:
    """What annotators are asked, with the guideline of the suite or our own, without the sections `{of other asks}`."""
    language = suite.language if suite.language in _LEVELS else "en"
    own = suite.folder and suite.folder / GUIDELINE_FILE
    return Asked(
        suite.name,
        questions_sha256(suite),
        language,
        re.sub(
            r"(?ms)^(# [^\n]*) \{([\w ]+)\}(\n.*?)(?=^# |\Z)",
            lambda section: section[1] + section[3] if set(section[2].split()) & set(asks) else "",
            guideline_text(language, own if own is not None and own.exists() else None),
        ),
        [{"value": level, "text": _LEVELS[language].get(level, "")} for level in suite.levels],
        suite.language,
    )
