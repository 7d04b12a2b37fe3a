"""Stores replies by the key of their request in a journal, so that no request is sent twice.

For audits, an entry also holds the request and the server's details, such as its version.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from ...base.errors import JudgingError
from ...base.file_writing import timestamp
from ...base.journal import Journal
from ...generation.protocol import Details, reported_name
from ...scoring.reply_text import without_reasoning
from .judge_requests import JudgeRequest

UNKNOWN = Details()


Keep = Callable[..., None]
"""Stores the reply to a request, with the server's details. The reply is on disk when the call returns."""


class ReplyStore:
    """The replies in a file, by the key of their request.

    Raises:
        JudgingError: The file is missing although it must exist, or it has other content.
    """

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        if must_exist and not path.exists():
            raise JudgingError(f"{path}: no such file; expected the replies of an earlier call")
        self._journal = Journal(path)
        self._replies: dict[str, str] = {}
        self._details: dict[str, Details] = {}
        self._known: dict[Details, Details] = {}  # equal details are stored once
        self.refresh()
        if not self._replies and self._journal.has_lines:
            raise JudgingError(f"{path}: expected replies of a judge, found only other content")

    def refresh(self) -> None:
        """Reads the replies that other processes have added to the file."""
        for entry in self._journal.entries():
            key, reply = entry.get("key"), entry.get("reply")
            if isinstance(key, str) and isinstance(reply, str):
                names = ("finish_reason", "model", "system_fingerprint")
                self._learn(key, reply, Details(*(reported_name(entry.get(name)) for name in names)))

    def __contains__(self, key: str) -> bool:
        return key in self._replies

    def get(self, key: str) -> str | None:
        """The reply to the request with this key; None if it is missing."""
        return self._replies.get(key)

    def __len__(self) -> int:
        return len(self._replies)

    def details(self, key: str) -> Details:
        """The server's details about the reply to the request with this key."""
        return self._details.get(key, UNKNOWN)

    @contextlib.contextmanager
    def adding(self) -> Iterator[Keep]:
        """Locks the file, and yields a function that stores the reply to a request.

        Raises:
            JudgingError: Another process is adding to the file, or its directory cannot be created.
        """
        timestamp()  # reports an invalid SOURCE_DATE_EPOCH before any request
        with self._journal.locked(what="replies", error=JudgingError):
            self.refresh()  # another process may have added replies
            yield self._keep

    def _keep(self, request: JudgeRequest, reply: str, details: Details = UNKNOWN, /) -> None:
        kept = {"key": request.key, "request": request.record(), "reply": reply}
        about = {"finish_reason": details.finish_reason, "model": details.model}
        self._journal.add({**kept, **about, "system_fingerprint": details.fingerprint, "time": timestamp()})
        self._learn(request.key, reply, details)

    def _learn(self, key: str, reply: str, details: Details) -> None:
        """Keeps a reply without its reasoning, which only the file has. A later reply replaces an earlier one."""
        self._replies[key] = without_reasoning(reply)
        self._details[key] = self._known.setdefault(details, details)
