"""The answers of all models to one task, as the page unpacks them: a line of compressed JSON for each task.

Texts that many answers share, such as parts of requests, are in the line only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...checklists.judgements import Judgement
from ...checklists.tasks import Task
from ..answers import packed
from .evidence import AnswerEvidence, ModelEvidence


class Extent(NamedTuple):
    """The part of the texts that a page holds."""

    answer: int | None = None  # maximum number of code points of an answer or instruction; None for no limit
    reason: int | None = None  # maximum number of code points of a reason; None for no limit
    has_requests: bool = True  # whether it holds the requests to judges and their replies


def task_line(task: Task, models: Sequence[ModelEvidence], extent: Extent) -> str:
    """The line of a task."""
    texts: dict[str, int] = {}
    entries = [
        _entry(number, evidence, extent, texts)
        for number, model in enumerate(models)
        for evidence in model.by_task.get(task.key, ())
    ]
    instruction = task.instruction or ""
    return packed(
        {
            "instruction": instruction[: extent.answer],
            "n_instruction": len(instruction),
            "is_whole": task.is_whole,
            "wanted": task.wanted_words,
            "reference": None if task.reference is None else task.reference[: extent.answer],
            "entries": entries,
            "texts": list(texts),
        }
    )


def _entry(model: int, evidence: AnswerEvidence, extent: Extent, texts: dict[str, int]) -> dict[str, Any]:
    """An answer; new texts of the requests about it get the next numbers in `texts`."""
    answer, score = evidence.answer, evidence.score
    entry: dict[str, Any] = {"model": model, "state": evidence.state}
    if evidence.trial != 1:
        entry["trial"] = evidence.trial
    if answer is not None:
        entry |= {"answer": answer.response[: extent.answer], "length": len(answer.response)}
        if answer.finish_reason is not None:
            entry["finish"] = answer.finish_reason
    if score is not None:
        entry |= {"score": round(score.score, 4), "words": score.words, "verdicts": _rounded(score.verdicts)}
    if evidence.marks:
        entry["marks"] = list(evidence.marks)
    entry["judgements"] = [_judgement(*one, extent) for one in evidence.judgements]
    if evidence.asked and extent.has_requests:
        # A message is made of numbers: those of shared texts, and those of the answer and the instruction.
        entry["asked"] = [
            {
                **asked,
                "messages": [
                    [role, [one if isinstance(one, int) else texts.setdefault(one, len(texts)) for one in pieces]]
                    for role, pieces in asked["messages"]
                ],
            }
            for asked in evidence.asked
        ]
    return entry


def _judgement(judgement: Judgement, is_stale: bool, extent: Extent) -> dict[str, Any]:
    """A judgement without its default values."""
    reasons = [None if text is None else text[: extent.reason] for text in judgement.reasons]
    found: dict[str, Any] = {
        "judge": judgement.judge,
        "version": judgement.version,
        "rating": None if judgement.rating == 1 else judgement.rating,
        "scores": None if judgement.scores is None else _rounded(judgement.scores),
        "reasons": reasons if any(reasons) else None,
        "tries": None if judgement.tries == 1 else judgement.tries,
        "fault": judgement.fault,
        "cut": judgement.cut or None,
        "stale": is_stale or None,
    }
    return {name: value for name, value in found.items() if value not in (None, "")}


def _rounded(verdicts: Sequence[float]) -> list[float]:
    return [round(verdict, 4) for verdict in verdicts]
