import http.client
import json
import shutil

import pytest
from makers.reported import made_result
from pfgen_fast.base.errors import PfgenError
from pfgen_fast.report.site import Site
from pfgen_fast.report.site_server import SiteServer
from pfgen_fast.runs.run_result import read_result


def write_result(suite, folder, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").write_text(json.dumps(made_result(suite, **changes)), encoding="utf-8")


@pytest.fixture
def live(mini, tmp_path):
    for name in ("one", "two"):
        write_result(mini, tmp_path / "result" / name)
    report = Site([str(tmp_path / "result")], tmp_path / "page", print, lambda _: mini, pytest.fail, is_live=True)
    report.write()
    return report


@pytest.fixture
def server(live):
    with SiteServer(live.folder) as served, served.running():
        yield served


def ask(server, path="/", method="GET", hosts=()):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.putrequest(method, path, skip_host=bool(hosts))
    for host in hosts:
        connection.putheader("Host", host.format(port=server.server_port))
    connection.endheaders()
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    # Other sites can neither load nor frame what is served.
    protection = {"Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY", "Cache-Control": "no-store"}
    assert reply.status == 501 or protection.items() <= dict(reply.getheaders()).items()
    assert reply.getheader("Access-Control-Allow-Origin") is None
    return reply, content


def looked(live, times=1):
    for _ in range(times):
        live.write_if_changed()
    return (live.folder / "index.html").read_text(encoding="utf-8")


def test_the_page_and_its_data_are_served_and_nothing_else(server, live, tmp_path):
    (file, *_) = sorted((live.folder / "data").iterdir())
    for address, path, kind in (("/", "index.html", "html"), (f"/data/{file.name}", f"data/{file.name}", "javascript")):
        reply, content = ask(server, address)
        assert (reply.status, content) == (200, (live.folder / path).read_bytes())
        assert reply.getheader("Content-Type") == f"text/{kind}; charset=utf-8"
    (tmp_path / "page" / "secret.txt").write_text("secret")
    (tmp_path / "page" / "data" / "answers-of-mine.js").write_text("secret")
    paths = ["/secret.txt", "/data/answers-of-mine.js", "/data/", "/data", "/../result/one/result.json", "/?x"]
    for path in [*paths, "/data/../index.html", "/%69ndex.html", "/data/answers-0123456789abcdef.js"]:
        reply, content = ask(server, path)
        assert (reply.status, content) == (404, b""), path


NAMES = ("127.0.0.1:{port}", "localhost:{port}")
OTHER_NAMES = ("evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "localhost.:{port}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hosts", "status"), [*(((name,), 200) for name in NAMES), *(((name,), 421) for name in OTHER_NAMES), (NAMES, 421)]
)
def test_only_requests_that_name_the_loopback_as_their_host_are_answered(server, hosts, status):
    reply, content = ask(server, hosts=hosts)
    assert (reply.status, bool(content)) == (status, status == 200)
    assert server.asked.is_set() == (status == 200)


def test_only_reading_is_answered_and_asking_for_the_page_is_noticed(server):
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert ask(server, method=method)[0].status == 501
    ask(server, "/data/answers-0123456789abcdef.js")
    assert not server.asked.is_set()
    reply, content = ask(server, method="HEAD")
    assert (reply.status, content) == (200, b"")
    assert reply.getheader("Last-Modified")
    assert server.asked.is_set()


def test_a_port_that_is_taken_is_named(server, live):
    with pytest.raises(PfgenError, match=f"port {server.server_port} of 127.0.0.1 cannot be used: "):
        SiteServer(live.folder, server.server_port)


def test_only_changed_results_are_read_again_and_shown_when_no_more_changes_follow(live, mini, tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(
        "pfgen_fast.report.safe_runs.read_result", lambda path: read.append(path.parent.name) or read_result(path)
    )
    first = looked(live, 0)
    assert looked(live) == first
    for name in ("three", "four"):  # where results have changed since the last look, more may follow
        write_result(mini, tmp_path / "result" / name)
        assert looked(live) == first
    assert "report: 4 runs" in looked(live)
    assert sorted(read) == ["four", "three"]


@pytest.mark.slow
def test_a_removed_result_is_no_longer_shown(live, tmp_path):
    shutil.rmtree(tmp_path / "result" / "two")
    assert "report: 1 run" in looked(live, 2)
    shutil.rmtree(tmp_path / "result" / "one")
    assert "report: 1 run" in looked(live, 3)


def test_a_bad_result_is_named_once_and_the_others_are_shown(live, tmp_path, capsys):
    (tmp_path / "result" / "two" / "result.json").write_text("{}")
    assert "report: 1 run" in looked(live, 4)
    (problem,) = capsys.readouterr().out.splitlines()
    assert "two/result.json: not a result" in problem


def test_a_report_that_cannot_be_written_is_named_and_the_next_change_tried(live, mini, tmp_path):
    shutil.rmtree(live.folder / "data")
    (live.folder / "data").write_text("in the way")
    write_result(mini, tmp_path / "result" / "three")
    looked(live, 4)
    assert "data" in next(iter(live.problems))
    (live.folder / "data").unlink()
    write_result(mini, tmp_path / "result" / "four")
    assert "report: 4 runs" in looked(live, 2)
