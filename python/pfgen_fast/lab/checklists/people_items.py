"""The items that annotators get about the answers of runs: marks, pairs of answers, and verdicts of judges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
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


def mark_items(suite: ChecklistSuite, runs: Iterable[Run], tasks: Collection[TaskKey]) -> list[SheetItem]:
    """An item for each answer; answers with the same text to the same task are one item."""
    items: dict[str, SheetItem] = {}
    for run in runs:
        for task, answer in _answers(suite, run, tasks):
            content = {**_about("mark", task, answer), "questions": list(suite.checklist(task).questions)}
            item = SheetItem("mark", _key("mark", task, answer.sha256), content, (*task.place, run.key), (run.key,))
            before = items.get(item.key)
            items[item.key] = item if before is None else replace(before, source=(*before.source, run.key))
    return list(items.values())


def pair_items(
    suite: ChecklistSuite, runs: Sequence[Run], tasks: Collection[TaskKey], *, reference: str | None = None
) -> list[SheetItem]:
    """An item for each two models that answered a task, or for each model and the reference; equal answers are none."""
    if len(runs) < 2:
        raise AnnotationError("--ask pairs: expected at least two runs, whose answers are compared")
    keys = [run.key for run in runs]
    if reference is not None and reference not in keys:
        raise AnnotationError(f"--reference: {unknown_name('run', reference, keys)}")
    answers: dict[str, dict[TaskKey, tuple[ChecklistTask, Answer]]] = {run.key: {} for run in runs}
    for run in runs:
        for task, answer in _answers(suite, run, tasks):
            answers[run.key].setdefault(task.key, (task, answer))
    items: dict[str, SheetItem] = {}
    for model, other in combinations(keys, 2):
        if reference in (None, model, other):
            for key, (task, first) in answers[model].items():
                second = answers[other][key][1] if key in answers[other] else first
                if first.sha256 != second.sha256:
                    item = _pair(task, first, second, (model, other))
                    items.setdefault(item.key, item)
    return list(items.values())


def judgement_items(suite: ChecklistSuite, runs: Iterable[Run], tasks: Collection[TaskKey]) -> list[SheetItem]:
    """An item for each judgement of a stored answer: the judge's verdicts with their reasons."""
    items: dict[str, SheetItem] = {}
    for run in runs:
        answers = run.answers(suite)
        for judgement in run.judgements(suite):
            answer, task = answers.get(judgement.key), suite.by_key[judgement.key[:2]]
            if answer is None or answer.sha256 != judgement.response_sha256 or task.key not in tasks:
                continue
            checklist = suite.checklist(task)
            if judgement.method != "checklist" or judgement.verdicts is None:
                continue
            if judgement.checklist_sha256 not in (None, checklist.sha256):
                continue
            key, questions = judgement_key(judgement), checklist.questions
            reasons = judgement.reasons or (None,) * len(questions)
            verdicts = zip(questions, judgement.verdicts, reasons, strict=True)
            content = {
                **_about("judgement", task, answer),
                "judgement": key,
                "verdicts": [
                    {"question": number, "text": text, "verdict": verdict, "reason": reason}
                    for number, (text, verdict, reason) in enumerate(verdicts, start=1)
                ],
            }
            stratum = (*task.place, run.key, judgement.judge)
            items.setdefault(
                key, SheetItem("judgement", f"judgement {key}", content, stratum, (run.key, judgement.judge))
            )
    if not items:
        raise AnnotationError("--ask judgements: no run has judgements of its answers; run 'checklists judge' first")
    return list(items.values())


def _answers(suite: ChecklistSuite, run: Run, tasks: Collection[TaskKey]) -> Iterator[tuple[ChecklistTask, Answer]]:
    """The answers of a run to some tasks, with their tasks."""
    answers = run.answers(suite)
    if not answers:
        raise AnnotationError(f"{run.folder}: no answers: expected a run with answers.jsonl")
    for answer in answers.values():
        if answer.key[:2] in tasks:
            yield suite.by_key[answer.key[:2]], answer


def _pair(task: ChecklistTask, first: Answer, second: Answer, models: tuple[str, str]) -> SheetItem:
    low, high = sorted((first.sha256, second.sha256))
    content = {
        "kind": "pair",
        "id": task.id,
        "length": task.length,
        "first_sha256": first.sha256,
        "second_sha256": second.sha256,
        "instruction": task.instruction,
        "reference": task.reference,
        "first": first.response,
        "second": second.response,
    }
    return SheetItem("pair", _key("pair", task, low, high), content, (*task.place, *models), models)


def _about(kind: Kind, task: ChecklistTask, answer: Answer) -> dict[str, Any]:
    return {
        "kind": kind,
        "id": task.id,
        "length": task.length,
        "response_sha256": answer.sha256,
        "instruction": task.instruction,
        "reference": task.reference,
        "response": answer.response,
    }


def _key(kind: Kind, task: ChecklistTask, *hashes: str) -> str:
    return "\0".join([kind, task.id, task.length or "", *hashes])


_LEVELS: Mapping[str, Mapping[float, str]] = {
    "en": {0: "fails", 0.25: "in part", 0.5: "about half", 0.75: "mostly", 1: "nothing to improve"},
    "ja": {0: "満たさない", 0.25: "一部のみ", 0.5: "およそ半分", 0.75: "おおむね", 1: "直すところなし"},
}
"""The texts of the usual levels; other levels have only their number."""


def asked_of(suite: ChecklistSuite, *, language: str | None = None, guideline: Path | None = None) -> Asked:
    """What annotators are asked, with the given guideline, that of the suite, or the packaged one."""
    chosen = language or (suite.language if suite.language in _LEVELS else "en")
    path = guideline
    if path is None and suite.folder is not None and (suite.folder / GUIDELINE_FILE).exists():
        path = suite.folder / GUIDELINE_FILE
    return Asked(
        suite.name,
        questions_sha256(suite),
        chosen,
        guideline_text(chosen, path),
        [{"value": level, "text": _LEVELS[chosen].get(level, "")} for level in suite.levels],
        suite.language,
    )
