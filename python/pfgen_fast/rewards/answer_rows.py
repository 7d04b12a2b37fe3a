"""Rows of answers before they are scored: the reasoning in them, and the rows that cannot be scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from ..base.arrays import Floats
from ..base.errors import TrialsError
from ..base.native import _core, worded
from ..base.untrusted_text import shown_value
from ..scoring.reply_text import CHANNEL, FIRST_OF_TAGS, divided_text

Reasoning = Literal["strip", "keep", "refuse"]
OnError = Literal["raise", "zero", "nan"]
REASONING, ON_ERROR = ("strip", "keep", "refuse"), ("raise", "zero", "nan")


def read_reasoning(choice: Reasoning, answers: Any, finished: Any) -> tuple[Any, Any]:
    """The answers without their reasoning, and whether each one is finished; an unfinished reasoning has no answer."""
    if choice == "keep" or not _may_reason(answers):
        return answers, finished
    with worded():
        texts = _core.TextColumn(answers, "answers", True).tolist()
    replies = {row: divided_text(text) for row, text in enumerate(texts) if text and _may_reason([text])}
    reasoned = {row: reply for row, reply in replies.items() if reply.state != "none" or CHANNEL in texts[row]}
    if choice == "refuse" and reasoned:
        problem = f"expected an answer without reasoning, got {shown_value(texts[min(reasoned)])}"
        raise TrialsError(problem, column="answers", row=min(reasoned))
    for row, reply in reasoned.items():
        texts[row] = reply.answer
    unfinished = [row for row, reply in reasoned.items() if reply.state == "unfinished"]
    if unfinished and (finished is None or len(finished) == len(texts)):
        finished = np.full(len(texts), True) if finished is None else np.array(finished)
        finished[unfinished] = False
    return texts, finished


def _may_reason(answers: Any) -> bool:
    """Whether an answer may have a mark of reasoning; quick, because most answers have none."""
    if isinstance(answers, (list, tuple)):
        try:
            joined = "".join(answers)
            return any(mark in joined for mark in FIRST_OF_TAGS)
        except TypeError:
            answers = [answer for answer in answers if isinstance(answer, str)]
    with worded():
        return _core.TextColumn(answers, "answers", True).n_with_any(FIRST_OF_TAGS) > 0


def without_faults(
    score: Callable[..., dict[str, Floats]], questions: Any, answers: Any, known: Mapping[str, Any]
) -> dict[str, Floats]:
    """The columns of a batch, in which rows that cannot be scored have NaN; `score` raises TrialsError with a row.

    Rows with faults do not belong to the batch in which the other rows are scored.
    """
    columns, n = {"answers": answers, "questions": questions, **known}, len(answers)
    for name, values in columns.items():
        if values is None or isinstance(values, str):
            continue
        read = getattr(values, "to_pylist", None) or getattr(values, "tolist", None)
        columns[name] = read() if read else list(values)
        if len(columns[name]) != n:
            raise TrialsError(f"{len(columns[name])} {name} for {n} answers; expected one for each answer")
    rows = [row for row, answer in enumerate(columns["answers"]) if isinstance(answer, str)]
    while True:
        part = {
            name: [values[row] for row in rows] if isinstance(values, list) else values
            for name, values in columns.items()
        }
        try:
            scored = score(part.pop("questions"), part.pop("answers"), **part)
            break
        except TrialsError as error:
            if error.row is None:
                raise
            faulty = {rows[error.row]}
            if error.column == "questions":
                unknown = columns["questions"][rows[error.row]]
                faulty = {row for row in rows if columns["questions"][row] == unknown}
            rows = [row for row in rows if row not in faulty]
    filled = {name: np.full(n, np.nan) for name in scored}
    for name, values in scored.items():
        filled[name][rows] = values
    return filled
