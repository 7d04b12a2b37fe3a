"""`annotate --serve`: addresses with tokens, exports that are whole, and nothing lost between two windows."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pfgen_fast.annotations.rows import read_rows
from pfgen_fast.annotations.sheets import Sheet
from pfgen_fast.errors import AnnotationError
from pfgen_fast.report.annotation.server import MAX_BODY, AnnotationServer

pytest.importorskip("jinja2")

ITEM = {
    "kind": "vote",
    "task": "t",
    "perturbation": "p",
    "description": "d",
    "before": None,
    "after": None,
    "metrics": [],
}
SHEETS = [Sheet(name, "en", "own", "", "# Rules", (), [ITEM]) for name in ("ann", "bob")]
ROW = {"kind": "vote", "task": "t", "perturbation": "p", "metric": "fluency"}


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
    other = {**ROW, "perturbation": "q"}
    status, newer = ann.post("", other)
    assert (status, newer) == (409, {"version": first["version"], "rows": [ROW]})
    assert ann.post(newer["version"], ROW, other)[0] == 200
    assert ann.state()["rows"] == [ROW, other]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b'{"version": ""', 400, "not JSON"),
        (
            {"version": "", "rows": [{"kind": "guess"}]},
            400,
            "rows[0].kind: expected one of mark, pair, judgement, v",
        ),
        ({"version": "", "rows": [{**ROW, "weights": [float("nan")]}]}, 400, "rows[0]: expected finite numbers"),
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


def test_only_its_own_page_at_its_own_address_is_answered(server: AnnotationServer) -> None:
    ann = Client(server, "ann")
    assert b"Rules" in ann.ask("GET", ann.path)[1]
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
    changed = [Sheet("ann", "en", "own", "", "# Other rules", (), [ITEM])]
    with pytest.raises(AnnotationError, match=r"ann\.jsonl: the export of another sheet or annotator; remove it"):
        AnnotationServer(changed, tmp_path)
