"""Stores replies by the key of their request in a journal: nothing is asked twice, and replies can be replayed.

An entry holds the request as well as the reply, so that it can be audited, and what the server said of the reply, so
that a change of the server is noticed. Entries of earlier versions lack some of it, but remain readable.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from ..errors import JudgingError
from ..files.journal import Journal
from ..generation.protocol import Details, reported_name
from ..generation.run_writer import timestamp
from ..scoring.reasoning_text import without_reasoning
from .requests import JudgeRequest

UNKNOWN = Details()


class Keep(Protocol):
    """A function that stores a reply."""

    def __call__(self, request: JudgeRequest, reply: str, details: Details = UNKNOWN, /) -> None:
        """Stores the reply to a request, with what the server said of it; the reply is on disk when this returns."""


class KeptReplies(Protocol):
    """What asking needs to know of stored replies."""

    def __contains__(self, key: str) -> bool:
        """Whether the reply to the request with this key is stored."""

    def get(self, key: str) -> str | None:
        """The reply to the request with this key; None if there is none."""

    def adding(self) -> AbstractContextManager[Keep]:
        """Yields a function that stores the reply to a request."""


class Replies:
    """The replies in a file, by the key of their request.

    Args:
        path: The file; it need not exist yet.
        must_exist: Whether the file must exist, because nothing will be asked.

    Raises:
        JudgingError: The file is required but does not exist, or it holds something else.
        TrialsError: The file cannot be read.
    """

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        if must_exist and not path.exists():
            raise JudgingError(f"{path}: no such file; expected the replies of an earlier call")
        self._journal = Journal(path)
        self._replies: dict[str, str] = {}
        self._details: dict[str, Details] = {}
        self._times: dict[str, str] = {}
        self._known: dict[Details, Details] = {}  # few differ
        self._models: dict[str, None] = {}
        self.refresh()
        if not self._replies and self._journal.has_lines:
            raise JudgingError(f"{path}: holds no replies of a judge")

    def refresh(self) -> None:
        """Reads what other processes have added to the file since it was read.

        Raises:
            TrialsError: The file cannot be read.
        """
        for entry in self._journal.entries():
            key, reply = entry.get("key"), entry.get("reply")
            if isinstance(key, str) and isinstance(reply, str):
                self._learn(key, reply, _details(entry), reported_name(entry.get("time")))
                self._models |= dict.fromkeys(_model(entry))

    def __contains__(self, key: str) -> bool:
        return key in self._replies

    def __getitem__(self, key: str) -> str:
        return self._replies[key]

    def get(self, key: str) -> str | None:
        """The reply to the request with this key; None if there is none."""
        return self._replies.get(key)

    def __len__(self) -> int:
        return len(self._replies)

    @property
    def models(self) -> tuple[str, ...]:
        """The models whose replies the file held when it was read, by the names under which they were asked."""
        return tuple(self._models)

    def details(self, key: str) -> Details:
        """What the server said of the reply to the request with this key; nothing if that is not known."""
        return self._details.get(key, UNKNOWN)

    def time(self, key: str) -> str | None:
        """When the reply came, in ISO 8601; None if that is not known."""
        return self._times.get(key)

    @contextlib.contextmanager
    def adding(self) -> Iterator[Keep]:
        """Yields a function that stores the reply to a request.

        Raises:
            JudgingError: Another process is adding to the file, or its folder cannot be created.
            PfgenError: The file cannot be written.
        """
        timestamp()  # reports an invalid SOURCE_DATE_EPOCH before any request
        with self._journal.locked(what="replies", error=JudgingError):
            self.refresh()  # a reply that came before the lock was taken is not paid for again
            yield self._keep

    def _keep(self, request: JudgeRequest, reply: str, details: Details = UNKNOWN, /) -> None:
        time = timestamp()
        said = {
            "finish_reason": details.finish_reason,
            "model": details.model,
            "system_fingerprint": details.fingerprint,
            "time": time,
        }
        self._journal.add({"key": request.key, "request": request.record(), "reply": reply, **said})
        self._learn(request.key, reply, details, time)

    def _learn(self, key: str, reply: str, details: Details, time: str | None) -> None:
        """Remembers a reply without its reasoning, which the file keeps; the last one counts, as in the file."""
        self._replies[key] = without_reasoning(reply)
        self._details[key] = self._known.setdefault(details, details)
        if time is not None:
            self._times[key] = time


def _details(entry: Mapping[str, Any]) -> Details:
    return Details(*(reported_name(entry.get(name)) for name in ("finish_reason", "model", "system_fingerprint")))


def _model(entry: Mapping[str, Any]) -> list[str]:
    request = entry.get("request")
    model = reported_name(request.get("model")) if isinstance(request, Mapping) else None
    return [] if model is None else [model]
