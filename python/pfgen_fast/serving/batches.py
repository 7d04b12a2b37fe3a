"""A batch of answers as a request brings it, in JSON or as an Arrow stream, checked against the limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .arrow_bodies import texts_of_stream
from .json_bodies import decoded, in_list
from .limits import Limits, checked_answers

JSON, ARROW = "application/json", "application/vnd.apache.arrow.stream"


@dataclass(frozen=True)
class Batch:
    """Questions and answers, as `Scorer.score` takes them."""

    questions: Any
    answers: Any


def read_batch(body: bytes, kind: str, limits: Limits) -> Batch:
    """The batch in a body."""
    if kind == ARROW:
        return Batch(*texts_of_stream(body, limits))
    questions, answers = decoded(body, ("questions", "answers"))
    return Batch(questions, checked_answers(in_list(answers, "answers"), limits))
