"""`annotate --serve`: addresses with tokens, exports that are whole, and nothing lost between two windows."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from makers.sheets import sheet_of
from pfgen_fast.annotations.rows import read_rows
from pfgen_fast.annotations.sheets import row_of
from pfgen_fast.errors import AnnotationError
from pfgen_fast.report.annotation.server import MAX_BODY, AnnotationServer

pytest.importorskip("jinja2")

SHEETS = [sheet_of(annotator=name) for name in ("ann", "bob")]
DECIDED = (
    {"verdicts": [0.5, None, 1], "overall": 7, "comment": "long"},
    {"choice": None, "unclear": True},
    {"question": 2, "is_reasonable": True},
    {"metric": "fluency"},
)
MARK, PAIR, OPINION, ROW = ({**row_of(item), **decided} for item, decided in zip(SHEETS[0].items, DECIDED, strict=True))


class Client:
    """Asks a server as one annotator's page does."""

    def __init__(self, server: AnnotationServer, name: str) -> None:
        self.port, self.path = server.server_port, server.addresses[name].removeprefix(server.address)

    def ask(self, method: str, path: str, body: Any = None, **fields: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, f"/{path}", content, {"Content-Type": "application/json", **fields})
        reply = connection.getresponse()
        found = reply.status, reply.read()
        connection.close()
        return found

    def state(self) -> Any:
        return json.loads(self.ask("GET", f"{self.path}state")[1])

    def post(self, version: str, *rows: Any) -> tuple[int, Any]:
        status, content = self.ask("POST", f"{self.path}state", {"version": version, "rows": rows})
        return status, json.loads(content)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[AnnotationServer]:
    with AnnotationServer(SHEETS, tmp_path) as served, served.running():
        yield served


def test_rows_are_stored_as_an_export_and_loaded_by_the_next_server(server: AnnotationServer, tmp_path: Path) -> None:
    ann, bob = Client(server, "ann"), Client(server, "bob")
    assert ann.state() == {"version": "", "rows": []}
    status, stored = ann.post("", ROW)
    assert (status, ann.state()) == (200, {"version": stored["version"], "rows": [ROW]})
    assert bob.state() == {"version": "", "rows": []}
    file = read_rows(tmp_path / "exports" / "ann.jsonl", error=AnnotationError)
    assert (file.header, [row.cells for row in file.rows]) == (SHEETS[0].header, [ROW])
    with AnnotationServer(SHEETS, tmp_path) as other, other.running():
        assert other.addresses["ann"].split("/")[3] == server.addresses["ann"].split("/")[3]
        assert Client(other, "ann").state() == ann.state()
    assert (tmp_path / "tokens.json").stat().st_mode & 0o077 == 0


def test_a_window_that_knows_an_old_version_gets_the_newer_rows(server: AnnotationServer) -> None:
    ann = Client(server, "ann")
    _, first = ann.post("", ROW)
    status, newer = ann.post("", PAIR)
    assert (status, newer) == (409, {"version": first["version"], "rows": [ROW]})
    rows = [MARK, PAIR, {**OPINION, "question": 1, "is_reasonable": None}, OPINION, ROW]
    assert ann.post(newer["version"], *rows)[0] == 200
    assert ann.state()["rows"] == rows


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b'{"version": ""', 400, "not JSON"),
        ({"version": "", "rows": [{"kind": "guess"}]}, 400, "rows[0].kind: expected one of mark, pair, judgement, v"),
        ({"version": 1, "rows": []}, 400, "version: expected a string"),
        ([], 400, "expected an object"),
    ],
)
def test_what_is_no_state_is_refused_in_a_sentence(
    server: AnnotationServer, body: Any, status: int, message: str
) -> None:
    ann = Client(server, "ann")
    found, content = ann.ask("POST", f"{ann.path}state", body)
    assert found == status
    assert message in json.loads(content)["error"]
    assert ann.state()["rows"] == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**ROW, "perturbation": "negate"}, ': expected an item of the sheet, not {"kind": "vote", "perturbation": "'),
        ({**MARK, "id": "T9"}, ": expected an item of the sheet, not "),
        ({**MARK, "choice": "first"}, ": expected an item of the sheet, not "),  # a decision of another kind
        ({**PAIR, "first_sha256": "b3"}, ": expected an item of the sheet, not "),
        ({**MARK, "verdicts": [0.5, 1]}, ".verdicts: expected 3 verdicts, not 2"),
        ({**MARK, "verdicts": [0.5, 0.3, 1]}, ".verdicts[1]: expected one of 0, 0.25, 0.5, 0.75, 1, not 0.3"),
        ({**MARK, "verdicts": [0.5, True, 1]}, ".verdicts[1]: expected one of 0, 0.25, 0.5, 0.75, 1, not true"),
        ({**MARK, "overall": 11}, ".overall: expected one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, not 11"),
        ({**MARK, "overall": float("nan")}, ".overall: expected one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, not NaN"),
        ({**PAIR, "choice": "third"}, ".choice: expected one of first, second, tie, not 'third'"),
        ({**OPINION, "question": 3}, ".question: expected one of 1, 2, not 3"),
        ({**OPINION, "is_reasonable": 1}, ".is_reasonable: expected one of true, false, not 1"),
        ({**ROW, "metric": "style"}, ".metric: expected one of fluency, accuracy, not 'style'"),
        (row_of(SHEETS[0].items[3]), ": the key 'metric' is missing"),
        ({**ROW, "comment": 1}, ".comment: expected a string, not 1"),
        ({**ROW, "unclear": "yes"}, ".unclear: expected one of true, false, not 'yes'"),
        ({**ROW, "metric": "accuracy"}, ": expected one row about the item, or about each question of a judge"),
    ],
)
def test_a_row_that_the_sheet_does_not_have_is_refused_with_its_request(
    server: AnnotationServer, row: Any, message: str
) -> None:
    ann = Client(server, "ann")
    rows = (ROW, row) if "expected one row" in message else (PAIR, row)
    status, content = ann.post("", *rows)
    assert status == 400
    assert content["error"].startswith(f"the request: rows[1]{message}")
    assert ann.state() == {"version": "", "rows": []}


def test_only_its_own_page_at_its_own_address_is_answered(server: AnnotationServer) -> None:
    ann = Client(server, "ann")
    assert b"Verdicts" in ann.ask("GET", ann.path)[1]
    assert ann.ask("GET", "wrong/")[0] == 403
    assert ann.ask("GET", "")[0] == 403
    assert ann.ask("GET", ann.path.removesuffix("/"))[0] == 308  # to the address whose `state` the page asks for
    assert ann.ask("POST", "wrong/state", {"version": "", "rows": []})[0] == 403
    assert ann.ask("GET", f"{ann.path}tokens.json")[0] == 404
    assert ann.ask("POST", f"{ann.path}other", {})[0] == 404
    assert ann.ask("GET", ann.path, Host="example.org")[0] == 421
    assert ann.ask("POST", f"{ann.path}state", {"version": "", "rows": []}, Host="example.org")[0] == 421
    assert ann.ask("POST", f"{ann.path}state", b"{}", **{"Content-Type": "text/plain"})[0] == 415
    assert ann.ask("POST", f"{ann.path}state", b"", **{"Content-Length": str(MAX_BODY + 1)})[0] == 413
    assert ann.state() == {"version": "", "rows": []}


def test_an_export_of_another_sheet_is_not_overwritten(server: AnnotationServer, tmp_path: Path) -> None:
    Client(server, "ann").post("", ROW)
    changed = [sheet_of(guideline="# Other rules")]
    with pytest.raises(AnnotationError, match=r"ann\.jsonl: the export of another sheet or annotator; remove it"):
        AnnotationServer(changed, tmp_path)
