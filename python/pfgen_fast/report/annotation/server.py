"""Serves the pages of annotators on the loopback, and stores what they decide as exports.

An annotator's address has a secret token. The page sends all rows after each change, with the version that it knows. If
another window has saved since, the server replies with the newer rows, the page merges both, and sends them again.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from ...annotations.plan import EXPORTS, read_export
from ...annotations.rows import export_lines
from ...annotations.sheet_rows import rows_on
from ...annotations.sheets import Sheet
from ...errors import AnnotationError
from ...files.json_writing import json_bytes
from ...files.untrusted_json import any_object, checked, member, parse_json, read_json, text
from ...files.writing import make_folder, write_whole
from ..loopback import LoopbackHandler, LoopbackServer, Reply
from .page import sheet_page

TOKENS_FILE = "tokens.json"

MAX_BODY = 1 << 26
"""The size limit of a request; an export of a thousand items with comments has less than a megabyte."""


@dataclass
class Desk:
    """What the server knows about one annotator."""

    sheet: Sheet
    path: Path  # the export
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    version: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.check = rows_on(self.sheet)

    @classmethod
    def of(cls, sheet: Sheet, folder: Path) -> Desk:
        """The desk with the rows that an earlier server has stored."""
        desk = cls(sheet, folder / EXPORTS / f"{sheet.annotator}.jsonl")
        desk.rows = [row.cells for row in read_export(folder, sheet.annotator, sheet.sha256)]
        if desk.path.exists():
            desk.version = _version(desk.path.read_bytes())
        return desk

    @property
    def state(self) -> dict[str, Any]:
        """What the page loads."""
        return {"version": self.version, "rows": self.rows}

    def request(self, value: Any) -> tuple[str, list[Mapping[str, Any]]]:
        """A check of the page's request: the version that it knows, and all rows."""
        return member(value, "version", text), member(value, "rows", self.check)

    def store(self, version: str, rows: list[Mapping[str, Any]]) -> bool:
        """Stores rows unless others were stored since the version that the page knows."""
        with self.lock:
            if version != self.version:
                return False
            content = export_lines(self.sheet.header, rows)
            write_whole(self.path, content)
            self.rows, self.version = rows, _version(content)
            return True


class AnnotationServer(LoopbackServer):
    """Serves each annotator's page at an address with a token."""

    def __init__(
        self,
        sheets: Sequence[Sheet],
        folder: Path,
        port: int = 0,
        *,
        on_change: Callable[[Sheet, int], None] = lambda sheet, n_rows: None,
    ) -> None:
        tokens = _tokens(folder / TOKENS_FILE, [sheet.annotator for sheet in sheets])
        self.desks = {tokens[sheet.annotator]: Desk.of(sheet, folder) for sheet in sheets}
        self.on_change = on_change
        make_folder(folder / EXPORTS)
        super().__init__(_Handler, port)
        self.addresses = {desk.sheet.annotator: f"{self.address}{token}/" for token, desk in self.desks.items()}


class _Handler(LoopbackHandler):
    server: AnnotationServer

    def do_POST(self) -> None:  # noqa: N802
        """Stores rows."""
        self.wfile.write(self.answer(self._stored))

    def reply(self) -> Reply:
        desk, name = self._place()
        if desk is None:
            return Reply(HTTPStatus.FORBIDDEN, b"This address is unknown. Ask for a new one.")
        if name == "state":
            return _json(HTTPStatus.OK, desk.state)
        if name is None:  # the page asks for `state` relative to its own address
            return Reply(HTTPStatus.PERMANENT_REDIRECT, fields={"Location": f"{self.path}/"})
        if name:
            return Reply(HTTPStatus.NOT_FOUND)
        return Reply(HTTPStatus.OK, "".join(sheet_page(desk.sheet, is_served=True)).encode(), "text/html")

    def _place(self) -> tuple[Desk | None, str | None]:
        """The desk of the token in the address, and what follows its slash; None without a slash."""
        token, slash, name = self.path.removeprefix("/").partition("/")
        known = [desk for key, desk in self.server.desks.items() if secrets.compare_digest(key, _ascii(token))]
        return (known[0] if known else None), name if slash else None

    def _stored(self) -> Reply:
        # A page of another site cannot send this type without asking first, and the server answers no such question.
        desk, name = self._place()
        if desk is None or name != "state":
            self.close_connection = True
            return Reply(HTTPStatus.FORBIDDEN if desk is None else HTTPStatus.NOT_FOUND)
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or int(length) > MAX_BODY:
            self.close_connection = True
            return _json(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"error": f"expected at most {MAX_BODY:,} bytes"})
        body = self.rfile.read(int(length))
        if self.headers.get_content_type() != "application/json":
            return _json(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, {"error": "expected application/json"})
        try:
            content = parse_json(body, "the request", error=AnnotationError)
            version, rows = checked(content, desk.request, "the request", error=AnnotationError)
        except AnnotationError as problem:
            return _json(HTTPStatus.BAD_REQUEST, {"error": str(problem)})
        if not desk.store(version, rows):
            return _json(HTTPStatus.CONFLICT, desk.state)
        self.server.on_change(desk.sheet, len(rows))
        return _json(HTTPStatus.OK, {"version": desk.version})


def _tokens(path: Path, annotators: Sequence[str]) -> dict[str, str]:
    """The token of each annotator, kept in a file that only its owner can read, so that addresses stay valid."""
    known = (
        checked(read_json(path, error=AnnotationError), any_object, str(path), error=AnnotationError)
        if path.exists()
        else {}
    )
    tokens = {name: str(known.get(name) or secrets.token_urlsafe(16)) for name in annotators}
    write_whole(path, json_bytes(tokens), mode=0o600)
    return tokens


def _json(status: HTTPStatus, value: Any) -> Reply:
    return Reply(status, json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"), "application/json")


def _version(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _ascii(token: str) -> str:
    return token if token.isascii() else ""
