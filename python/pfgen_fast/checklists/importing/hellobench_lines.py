"""Lines of HelloBench's results: an answer, and what the judge said of it if it was judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import ChecklistError
from ...files.untrusted_json import Fault, checked, items, member, unexpected
from ..judgements import Judgement
from ..line_files import whole_text
from ..runs import Answer
from ..suite import ChecklistSuite

_CLOSE = 1e-9


@dataclass(frozen=True)
class UpstreamLine:
    """A line of results."""

    where: str
    area: str
    answer: Answer
    judgement: Judgement | None


def upstream_line(value: Any, suite: ChecklistSuite, length: str | None, where: str) -> UpstreamLine:
    """Reads a line."""

    def answer_of(line: Any) -> Answer:
        return Answer(member(line, "id", whole_text), member(line, "response", whole_text), length)

    answer = checked(value, answer_of, where, error=ChecklistError)
    task = suite.task(answer.id, length, where)
    n_questions = len(suite.checklist(task).questions)

    def judgement_of(verdicts: Any) -> Judgement:
        scores, reasons = _verdicts(items(verdicts, lambda one: one), n_questions, suite.levels)
        fault = "number" if scores is None else None
        return Judgement(answer.id, answer.sha256, scores, length, reasons=reasons, fault=fault)

    def check(line: Any) -> Judgement | None:
        return member(line, "checklist_wise_evaluation", judgement_of, None)

    return UpstreamLine(where, task.area, answer, checked(value, check, where, error=ChecklistError))


def _verdicts(
    listed: tuple[Any, ...], n_questions: int, levels: tuple[float, ...]
) -> tuple[tuple[float, ...] | None, tuple[str | None, ...]]:
    """Verdicts and reasons in the order of the questions; none where the list is empty, as after three failed tries."""
    if not listed:
        return None, ()
    if len(listed) != n_questions:
        raise Fault(f"expected {n_questions} verdicts, one for each question, not {len(listed)}")
    found: dict[int, tuple[float, str | None]] = {}
    for place, entry in enumerate(listed):
        try:
            number = member(entry, "checklist_id", _whole)
            if number in found or not 0 <= number < n_questions:
                raise Fault(f"expected each question from 0 to {n_questions - 1} once, not {number}").inside(
                    ".checklist_id"
                )
            score = member(entry, "evaluation_score", lambda verdict: level_of(verdict, levels))
            found[number] = score, member(entry, "reason", _reason, None)
        except Fault as fault:
            raise fault.inside(f"[{place}]") from None
    in_order = [found[number] for number in range(n_questions)]
    return tuple(score for score, _ in in_order), tuple(reason for _, reason in in_order)


def level_of(value: Any, levels: tuple[float, ...]) -> float:
    """A check of a verdict, which is a level up to rounding."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        for level in levels:
            if abs(value - level) <= _CLOSE:
                return level
    raise unexpected(f"a level ({', '.join(f'{level:g}' for level in levels)})", value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise unexpected("a whole number", value)
    return int(value)


def _reason(value: Any) -> str | None:
    return value if isinstance(value, str) else None
