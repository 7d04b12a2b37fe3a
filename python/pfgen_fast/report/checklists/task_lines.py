"""The answers of all models to one task, as the page unpacks them: a line of compressed JSON for each task.

What many answers share (the text of a request, the names of a judge) is in the line once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...checklists.judgements import Judgement
from ...checklists.tasks import Task
from ..answers import packed
from .asked import Asked
from .evidence import AnswerEvidence, ModelEvidence


class Extent(NamedTuple):
    """The part of the texts that a page holds."""

    answer: int | None = None  # maximum number of code points of an answer or instruction; None for no limit
    reason: int | None = None  # maximum number of code points of a reason; None for no limit
    has_requests: bool = True  # whether it holds the requests to judges and their replies


def task_line(task: Task, models: Sequence[ModelEvidence], extent: Extent) -> str:
    """The line of a task."""
    line = _Line(task, extent)
    entries = [
        line.entry(number, evidence)
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
            "texts": list(line.texts),
        }
    )


class _Line:
    """A line while it is made."""

    def __init__(self, task: Task, extent: Extent) -> None:
        self.texts: dict[str, int] = {}
        self._task, self._extent = task, extent

    def entry(self, model: int, evidence: AnswerEvidence) -> dict[str, Any]:
        answer, score = evidence.answer, evidence.score
        entry: dict[str, Any] = {"model": model, "state": evidence.state}
        if evidence.trial != 1:
            entry["trial"] = evidence.trial
        if answer is not None:
            entry |= {"answer": answer.response[: self._extent.answer], "length": len(answer.response)}
            if answer.finish_reason is not None:
                entry["finish"] = answer.finish_reason
        if score is not None:
            entry |= {"score": round(score.score, 4), "words": score.words, "verdicts": _rounded(score.verdicts)}
        if evidence.marks:
            entry["marks"] = list(evidence.marks)
        entry["judgements"] = [
            self._judgement(*one) for one in zip(evidence.judgements, evidence.are_stale, strict=True)
        ]
        if evidence.asked and self._extent.has_requests:
            entry["asked"] = [self._asked(one) for one in evidence.asked]
        return entry

    def _judgement(self, judgement: Judgement, is_stale: bool) -> dict[str, Any]:
        """A judgement without what is usual."""
        reasons = [None if text is None else text[: self._extent.reason] for text in judgement.reasons]
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

    def _asked(self, asked: Asked) -> dict[str, Any]:
        messages = [[role, list(map(self._number, pieces))] for role, pieces in asked["messages"]]
        return {**asked, "messages": messages}

    def _number(self, piece: str | int) -> int:
        """A piece of a message as a number, which is that of a shared text if the piece is a text."""
        return piece if isinstance(piece, int) else self.texts.setdefault(piece, len(self.texts))


def _rounded(verdicts: Sequence[float]) -> list[float]:
    return [round(verdict, 4) for verdict in verdicts]
