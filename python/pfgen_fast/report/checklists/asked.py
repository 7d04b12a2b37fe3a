"""What judges were asked and replied, as the files of replies hold it, found for each answer.

A request belongs to the answer whose text stands in it. Two models may give the same answer, and two tasks may get the
same one; so a request is looked for by the texts of answer and instruction together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...checklists.judgements import AnswerKey
from ...checklists.runs import Answer
from ...checklists.suite import ChecklistSuite
from ...files.journal import Journal


@dataclass(frozen=True)
class Asked:
    """A request to a judge and its reply.

    Attributes:
        model: The model as it was asked for.
        parameters: The sampling parameters.
        messages: Role and content of each message.
        reply: What the judge replied.
        version: What the server said the model was.
        fingerprint: The fingerprint of the server's system.
        finish_reason: Why the judge stopped.
        time: When the reply came.
    """

    model: str
    parameters: Mapping[str, Any]
    messages: tuple[tuple[str, str], ...]
    reply: str
    version: str | None = None
    fingerprint: str | None = None
    finish_reason: str | None = None
    time: str | None = None
