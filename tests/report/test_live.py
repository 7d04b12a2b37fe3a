"""The report that `pfgen-fast view` serves: to whom, what, and when it is written anew."""

from __future__ import annotations

import http.client
import json
import shutil

import pytest
from makers.reported import made_result
from pfgen_fast.errors import PfgenError, TrialsError
from pfgen_fast.report.live import LiveReport, ReportServer


def write_result(suite, folder, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(made_result(suite, **changes)), encoding="utf-8")


@pytest.fixture
def live(mini, tmp_path):
    """The report of two runs, as it is written first."""
    for name in ("one", "two"):
        write_result(mini, tmp_path / "result" / name)
    problems = []
    report = LiveReport([str(tmp_path / "result")], mini, tmp_path / "page", problems.append)
    report.problems = problems
    report.write()
    return report


@pytest.fixture
def server(live):
    with ReportServer(live.folder) as served, served.running():
        yield served


def ask(server, path="/", method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.request(method, path, headers=headers)
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    return reply, content


def content_of(live):
    return (live.folder / "index.html").read_bytes()


def test_the_page_and_its_data_are_served(server, live):
    reply, content = ask(server)
    assert (reply.status, content) == (200, content_of(live))
    assert reply.getheader("Content-Type") == "text/html; charset=utf-8"
    (file, *_) = sorted((live.folder / "data").iterdir())
    reply, content = ask(server, f"/data/{file.name}")
    assert (reply.status, content) == (200, file.read_bytes())
    assert reply.getheader("Content-Type") == "text/javascript; charset=utf-8"


def test_nothing_else_is_served(server, live, tmp_path):
    (tmp_path / "page" / "secret.txt").write_text("secret")
    (tmp_path / "page" / "data" / "answers-of-mine.js").write_text("secret")
    paths = ["/secret.txt", "/data/answers-of-mine.js", "/data/", "/data", "/../result/one/result.json", "/?x"]
    for path in [*paths, "/data/../index.html", "/%69ndex.html", "/data/answers-0123456789abcdef.js", "/\0"]:
        try:
            reply, content = ask(server, path)
        except http.client.InvalidURL:
            continue
        assert (reply.status, content) == (404, b""), path


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "localhost.:{port}"]
)
def test_a_request_in_the_name_of_another_host_is_refused(server, host):
    reply, content = ask(server, Host=host.format(port=server.server_port))
    assert (reply.status, content) == (421, b"")


def test_a_request_in_two_names_is_refused(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.putrequest("GET", "/", skip_host=True)
    connection.putheader("Host", f"127.0.0.1:{server.server_port}")
    connection.putheader("Host", "evil.example")
    connection.endheaders()
    assert connection.getresponse().status == 421
    connection.close()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_both_names_of_the_loopback_are_answered(server, name):
    assert ask(server, Host=f"{name}:{server.server_port}")[0].status == 200


def test_other_sites_can_neither_load_nor_frame_what_is_served(server):
    for path in ("/", "/nothing"):
        reply, _ = ask(server, path)
        assert reply.getheader("Cross-Origin-Resource-Policy") == "same-origin"
        assert reply.getheader("X-Frame-Options") == "DENY"
        assert reply.getheader("Cache-Control") == "no-store"
        assert reply.getheader("Access-Control-Allow-Origin") is None


def test_only_reading_is_answered(server):
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert ask(server, method=method)[0].status == 501
    reply, content = ask(server, method="HEAD")
    assert (reply.status, content) == (200, b"")
    assert reply.getheader("Last-Modified")


def test_asking_for_the_page_is_noticed(server):
    ask(server, "/data/answers-0123456789abcdef.js")
    assert not server.asked.is_set()
    ask(server, method="HEAD")
    assert server.asked.is_set()


def test_a_port_that_is_taken_is_named(server, live):
    with pytest.raises(PfgenError, match=f"port {server.server_port} of 127.0.0.1 cannot be used: "):
        ReportServer(live.folder, server.server_port)


def test_a_changed_result_is_shown_when_no_more_changes_follow(live, mini, tmp_path):
    first = content_of(live)
    live.write_if_changed()
    assert content_of(live) == first
    write_result(mini, tmp_path / "result" / "three")
    live.write_if_changed()
    assert content_of(live) == first  # it has changed since the last look, so more may follow
    write_result(mini, tmp_path / "result" / "four")
    live.write_if_changed()
    assert content_of(live) == first
    live.write_if_changed()
    assert live.n_runs == 4
    assert "report: 4 runs" in content_of(live).decode()


def test_a_removed_result_is_no_longer_shown(live, tmp_path):
    shutil.rmtree(tmp_path / "result" / "two")
    for _ in range(2):
        live.write_if_changed()
    assert live.n_runs == 1
    shutil.rmtree(tmp_path / "result" / "one")
    for _ in range(3):
        live.write_if_changed()
    assert "report: 1 run" in content_of(live).decode()


def test_only_what_has_changed_is_read_again(live, mini, tmp_path, monkeypatch):
    read = []
    original = live._read_again.__globals__["read_result"]
    monkeypatch.setitem(
        live._read_again.__globals__, "read_result", lambda path: read.append(path.parent.name) or original(path)
    )
    write_result(mini, tmp_path / "result" / "two", score=0.7)
    for _ in range(3):
        live.write_if_changed()
    assert read == ["two"]


def test_a_bad_result_is_named_once_and_the_others_are_shown(live, tmp_path):
    (tmp_path / "result" / "two" / "result.json").write_text("{}")
    for _ in range(4):
        live.write_if_changed()
    (problem,) = live.problems
    assert isinstance(problem, TrialsError)
    assert "two" in str(problem)
    assert live.n_runs == 1


def test_a_report_that_cannot_be_written_is_named_and_the_next_change_tried(live, mini, tmp_path):
    shutil.rmtree(live.folder / "data")
    (live.folder / "data").write_text("in the way")
    write_result(mini, tmp_path / "result" / "three")
    for _ in range(4):
        live.write_if_changed()
    assert "data" in str(live.problems[0])
    (live.folder / "data").unlink()
    write_result(mini, tmp_path / "result" / "four")
    for _ in range(2):
        live.write_if_changed()
    assert live.n_runs == 4
