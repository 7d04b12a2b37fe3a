"""What judges were asked and replied, as the file of replies holds it, found for each answer.

A reply is kept with its whole request, and a request belongs to the answers that would be asked about in its words. In
it, answer and instruction are not repeated: a page has them already.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from ...checklists.judgements import PROFILES, AnswerKey, Judgement, Method, Profile
from ...checklists.judging.requests import Wording
from ...checklists.runs import Answer
from ...checklists.suite import ChecklistSuite
from ...errors import ChecklistError
from ...files.journal import Journal
from ...judging.requests import Judge


class Place(Enum):
    """What stands in a message in place of a text that the page has already."""

    ANSWER = "answer"
    INSTRUCTION = "instruction"


Pieces = tuple[str | Place, ...]
"""A message, taken apart."""


@dataclass(frozen=True)
class Asked:
    """A request to a judge and its reply."""

    model: str  # model as it was asked for
    parameters: Mapping[str, Any]
    messages: tuple[tuple[str, Pieces], ...]  # role and content of each message
    reply: str  # what the judge replied
    version: str | None = None  # what the server said the model was, with the fingerprint of its system if it has one
    finish_reason: str | None = None  # why the judge stopped
    time: str | None = None  # when the reply came


def asked_of(
    path: Path,
    suite: ChecklistSuite,
    answers: Mapping[AnswerKey, Answer],
    judgements: Iterable[Judgement],
    method: Method,
) -> dict[AnswerKey, list[Asked]]:
    """The requests and replies of each answer, in the order of the file; those about other texts are in none."""
    found: dict[AnswerKey, list[Asked]] = {}
    if not answers or not path.exists():
        return found
    by_messages: dict[bytes, list[AnswerKey]] = {}
    for wording in _wordings(suite, judgements, method):
        for key, hashed in _requests(suite, answers, wording):
            by_messages.setdefault(hashed, []).append(key)
    texts: dict[str, str] = {}  # most pieces are alike
    for entry in Journal(path).entries():
        request = entry["request"] if isinstance(entry.get("request"), dict) else {}
        messages = _messages(request)
        for key in by_messages.get(_hash(messages), ()) if messages else ():
            instruction = suite.by_key[key[0], key[1]].instruction or ""
            taken_apart = tuple(
                (role, tuple(_shared(pieces_of(content, answers[key].response, instruction), texts)))
                for role, content in messages
            )
            found.setdefault(key, []).append(_asked(entry, request, taken_apart))
    return found


def pieces_of(content: str, answer: str, instruction: str) -> Pieces:
    """A message with marks in place of the answer and the instruction, which stands before it."""
    before, mark, after = content.partition(instruction) if instruction else (content, "", "")
    head: Pieces = (before, Place.INSTRUCTION) if mark else ()
    rest = after if mark else content
    before, mark, after = rest.partition(answer) if answer else (rest, "", "")
    found: Pieces = (*head, before, Place.ANSWER, after) if mark else (*head, rest)
    return tuple(piece for piece in found if piece != "")


def _wordings(suite: ChecklistSuite, judgements: Iterable[Judgement], method: Method) -> Iterator[Wording]:
    """The ways in which judges were asked: as far as is known, otherwise the usual one."""
    named = {(judgement.profile or "").partition(" ")[0] for judgement in judgements}
    profiles: Sequence[Profile] = [profile for profile in PROFILES if profile in named] or PROFILES[:1]
    for profile in profiles:
        try:
            yield Wording(suite, Judge(""), profile, method)
        except ChecklistError:  # the suite has no prompt for the method, so nothing was asked with this suite
            return


def _requests(
    suite: ChecklistSuite, answers: Mapping[AnswerKey, Answer], wording: Wording
) -> Iterator[tuple[AnswerKey, bytes]]:
    for key, answer in answers.items():
        task = suite.by_key[key[0], key[1]]
        if task.instruction is not None:
            request = wording.request(task.key, task.instruction, suite.checklist(task), answer.response)
            yield key, _hash([(message["role"], message["content"]) for message in request.messages])


def _messages(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Roles and contents of a request as it is kept; nothing if it is none."""
    messages = request.get("messages")
    found = []
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, dict):
            return []
        role, content = _text(message, "role"), _text(message, "content")
        if role is None or content is None:
            return []
        found.append((role, content))
    return found


def _hash(messages: Sequence[tuple[str, str]]) -> bytes:
    return hashlib.sha256(json.dumps(messages).encode()).digest()


def _shared(pieces: Pieces, texts: dict[str, str]) -> Iterator[str | Place]:
    return (texts.setdefault(piece, piece) if isinstance(piece, str) else piece for piece in pieces)


def _asked(entry: Mapping[str, Any], request: Mapping[str, Any], messages: tuple[tuple[str, Pieces], ...]) -> Asked:
    parameters = request.get("parameters")
    sampled = parameters if isinstance(parameters, dict) else {}
    said = [_text(entry, "model"), _text(entry, "system_fingerprint")]
    return Asked(
        _text(request, "model") or "",
        {name: value for name, value in sampled.items() if _is_plain(value)},
        messages,
        _text(entry, "reply") or "",
        " ".join(filter(None, said)) or None,
        _text(entry, "finish_reason"),
        _text(entry, "time"),
    )


def _text(entry: Mapping[str, Any], name: str) -> str | None:
    value = entry.get(name)
    return value if isinstance(value, str) else None


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int) or (isinstance(value, float) and value - value == 0)
