"""Stores replies by the key of their request in a journal, so that no request is sent twice.

For audits, an entry also holds the request and the server's details, such as its version.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
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
        self._times: dict[str, str] = {}
        self._known: dict[Details, Details] = {}  # equal details are stored once
        self._models: dict[str, None] = {}
        self.refresh()
        if not self._replies and self._journal.has_lines:
            raise JudgingError(f"{path}: expected replies of a judge, found only other content")

    def refresh(self) -> None:
        """Reads the replies that other processes have added to the file."""
        for entry in self._journal.entries():
            key, reply, request = entry.get("key"), entry.get("reply"), entry.get("request")
            if isinstance(key, str) and isinstance(reply, str):
                names = ("finish_reason", "model", "system_fingerprint")
                details = Details(*(reported_name(entry.get(name)) for name in names))
                self._learn(key, reply, details, reported_name(entry.get("time")))
                model = reported_name(request.get("model")) if isinstance(request, Mapping) else None
                if model is not None:
                    self._models[model] = None

    def __contains__(self, key: str) -> bool:
        return key in self._replies

    def __getitem__(self, key: str) -> str:
        return self._replies[key]

    def get(self, key: str) -> str | None:
        """The reply to the request with this key; None if it is missing."""
        return self._replies.get(key)

    def __len__(self) -> int:
        return len(self._replies)

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the requests, as the file was read."""
        return tuple(self._models)

    def details(self, key: str) -> Details:
        """The server's details about the reply to the request with this key."""
        return self._details.get(key, UNKNOWN)

    def time(self, key: str) -> str | None:
        """When the reply arrived, in ISO 8601; None if unknown."""
        return self._times.get(key)

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
        time, kept = timestamp(), {"key": request.key, "request": request.record(), "reply": reply}
        about = {"finish_reason": details.finish_reason, "model": details.model}
        self._journal.add({**kept, **about, "system_fingerprint": details.fingerprint, "time": time})
        self._learn(request.key, reply, details, time)

    def _learn(self, key: str, reply: str, details: Details, time: str | None) -> None:
        """Keeps a reply without its reasoning, which only the file has. A later reply replaces an earlier one."""
        self._replies[key] = without_reasoning(reply)
        self._details[key] = self._known.setdefault(details, details)
        if time is not None:
            self._times[key] = time


class SharedReplies:
    """The replies in several files. Equal requests are sent once, and the reply is stored in each file."""

    def __init__(self, wanted: Iterable[tuple[str, ReplyStore]], keeps: Mapping[int, Keep]) -> None:
        self._keeps = keeps  # by the id of the replies
        self._owners: dict[str, dict[int, ReplyStore]] = {}
        for key, replies in wanted:
            self._owners.setdefault(key, {})[id(replies)] = replies
        self.n_kept = 0

    def __contains__(self, key: str) -> bool:
        return all(key in replies for replies in self._owners[key].values())

    def get(self, key: str) -> str | None:
        """See `ReplyStore`."""
        return next((reply for replies in self._owners[key].values() if (reply := replies.get(key)) is not None), None)

    def details(self, key: str) -> Details:
        """See `ReplyStore`."""
        return next((replies.details(key) for replies in self._owners[key].values() if key in replies), UNKNOWN)

    @contextlib.contextmanager
    def adding(self) -> Iterator[Keep]:
        """See `ReplyStore`."""
        yield self._keep  # the files stay locked for all rounds

    def _keep(self, request: JudgeRequest, reply: str, details: Details = UNKNOWN, /) -> None:
        for name, replies in self._owners[request.key].items():
            if request.key not in replies:
                self._keeps[name](request, reply, details)
        self.n_kept += 1


KeptReplies = ReplyStore | SharedReplies
