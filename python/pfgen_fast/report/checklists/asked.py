"""The requests to judges and their replies, as the file of replies holds them, found for each answer.

A reply is stored with its whole request. A request belongs to every answer for which the same request would be made.
The page already has the answers and instructions, so messages do not repeat them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...checklists.judgements import PROFILES, AnswerKey, Judgement, Method
from ...checklists.judging.requests import JudgeOptions, Wording
from ...checklists.runs import Answer
from ...checklists.suite import ChecklistSuite
from ...errors import ChecklistError
from ...files.journal import Journal
from ...files.untrusted_json import Fault, items, member, text

ANSWER, INSTRUCTION = -1, -2
"""The pieces of a message that stand for the answer and the instruction."""

Pieces = tuple[str | int, ...]
"""A message in pieces: texts, and the numbers above."""

Asked = dict[str, Any]
"""A request and its reply as the page shows them, but with the messages in pieces; unknown values are missing."""


def asked_of(
    path: Path,
    suite: ChecklistSuite,
    answers: Mapping[AnswerKey, Answer],
    judgements: Iterable[Judgement],
    method: Method,
) -> dict[AnswerKey, list[Asked]]:
    """The requests and replies of each answer, in the order of the file; requests about other texts are left out."""
    found: dict[AnswerKey, list[Asked]] = {}
    if not answers or not path.exists():
        return found
    by_messages: dict[bytes, list[AnswerKey]] = {}
    for wording in _wordings(suite, judgements, method):
        for key, answer in answers.items():
            task = suite.by_key[key[0], key[1]]
            if task.instruction is not None:
                request = wording.request(task.key, task.instruction, suite.checklist(task), answer.response)
                messages = [(message["role"], message["content"]) for message in request.messages]
                by_messages.setdefault(_hash(messages), []).append(key)
    texts: dict[str | int, str | int] = {}  # each text once, because most pieces are equal
    for entry in Journal(path).entries():
        sent = _messages(entry.get("request"))
        for key in by_messages.get(_hash(sent), ()):
            instruction = suite.by_key[key[0], key[1]].instruction or ""
            in_pieces = [
                (role, [texts.setdefault(one, one) for one in pieces_of(content, answers[key].response, instruction)])
                for role, content in sent
            ]
            found.setdefault(key, []).append(_asked(entry, in_pieces))
    return found


def pieces_of(content: str, answer: str, instruction: str) -> Pieces:
    """A message in pieces; the instruction stands before the answer."""
    pieces: list[str | int] = [content]
    for number, known in ((INSTRUCTION, instruction), (ANSWER, answer)):
        before, mark, after = str(pieces[-1]).partition(known) if known else ("", "", "")
        if mark:
            pieces[-1:] = [before, number, after]
    return tuple(piece for piece in pieces if piece != "")


def _wordings(suite: ChecklistSuite, judgements: Iterable[Judgement], method: Method) -> Iterator[Wording]:
    """The wordings of the profiles that the judgements name, or of the usual profile if they name no known one."""
    named = {(judgement.profile or "").partition(" ")[0] for judgement in judgements}
    for profile in [profile for profile in PROFILES if profile in named] or PROFILES[:1]:
        try:
            yield Wording(suite, JudgeOptions("any", profile, method))
        except ChecklistError:  # the suite has no prompt for the method, so nothing was asked with this suite
            return


def _messages(request: object) -> Sequence[tuple[str, str]]:
    """Roles and contents of a stored request; empty if it is damaged."""
    try:
        return member(request, "messages", lambda messages: items(messages, _message))
    except Fault:
        return ()


def _message(message: object) -> tuple[str, str]:
    return member(message, "role", text), member(message, "content", text)


def _hash(messages: Sequence[tuple[str, str]]) -> bytes:
    return hashlib.sha256(json.dumps(messages).encode()).digest()


def _asked(entry: Mapping[str, Any], messages: Sequence[Any]) -> Asked:
    request = entry["request"]
    parameters = request.get("parameters")
    known = parameters if isinstance(parameters, dict) else {}
    found = {
        "model": _text(request, "model") or "",
        "parameters": {name: value for name, value in known.items() if _is_plain(value)},
        "messages": messages,
        "reply": _text(entry, "reply") or "",
        "version": " ".join(filter(None, [_text(entry, "model"), _text(entry, "system_fingerprint")])) or None,
        "finish": _text(entry, "finish_reason"),
        "time": _text(entry, "time"),
    }
    return {name: value for name, value in found.items() if value is not None}


def _text(entry: Mapping[str, Any], name: str) -> str | None:
    value = entry.get(name)
    return value if isinstance(value, str) else None


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
