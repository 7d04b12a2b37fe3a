"""Published suites are fetched from a local server; an incomplete suite is never found."""

import errno
import itertools
import os
import shutil
import socket
import subprocess
import sys
import time
from collections import namedtuple

import pytest
from makers import published
from makers.fault_server import Gate, Reply, refusing, serving
from makers.suite_files import FILES, Q03, but_for_q03, whole, write_checkout
from pfgen_fast import Scorer, Suite
from pfgen_fast.base.errors import SuiteError
from pfgen_fast.base.file_writing import held
from pfgen_fast.suite import fetching as downloads
from pfgen_fast.suite.fetching import get_suite
from pfgen_fast.suite.published import PublishedSuite, suites_folder

CONTENT = FILES[Q03]
WRONG = CONTENT.replace("年".encode(), "月".encode(), 1)


def trickle():
    for byte in CONTENT:
        time.sleep(0.05)
        yield bytes([byte])


def after(n: int, reply: Reply):
    """Replies otherwise for `n` requests."""
    numbers = itertools.count()
    return lambda request: reply if next(numbers) < n else whole(request)


def test_the_suite_comes_from_its_address(suites_home, monkeypatch, mini):
    with serving(whole) as server:
        monkeypatch.setattr(PublishedSuite, "base_url", server.base_url)
        counts = []
        got = get_suite("pfgen-bench", on_file=lambda done, total: counts.append((done, total)))
        assert get_suite("pfgen-bench").n_fetched == 0
    assert (got.folder, got.n_fetched, got.missing) == (suites_home / "pfgen-bench", len(FILES), ())
    assert counts == [(n, len(FILES)) for n in range(1, len(FILES) + 1)]
    assert server.paths == {f"/v1/{path}" for path in FILES}
    assert len(server.requests) == len(FILES)
    assert Suite.load("pfgen-bench") == mini
    assert Suite.load("pfgen-bench").name == "pfgen-bench"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (Reply(CONTENT, n_bytes=99), f"cut off after 99 of {len(CONTENT):,} bytes (4 tries); check the network"),
        (Reply(CONTENT[:99]), f"cut off after 99 of {len(CONTENT):,} bytes (4 tries)"),
        (Reply(WRONG), "its SHA-256 is not the one in the manifest; use another copy"),
        (Reply(pieces=itertools.repeat(b"?" * 99)), f"larger than the manifest says ({len(CONTENT):,} bytes)"),
        (refusing(404, "no"), ": data/Q03.json not found; expected the files of org/suite at c0ffee"),
        (refusing(403, "no"), "the server replies 403 Forbidden; check the address"),
        (refusing(503, "no"), "the server replies 503 Service Unavailable (4 tries)"),
        (Reply(has_head=False, pieces=[]), ": Remote end closed connection without response (4 tries)"),
        (Reply(has_head=False, pieces=[b"SSH-2.0\r\n"]), "cannot be reached: SSH-2.0 (4 tries)"),
        (
            Reply(status=302, headers={"Location": "http://127.0.0.1:9/v1/data/Q03.json"}),
            "redirects to another address (http://127.0.0.1:9/v1/data/Q03.json), which is not followed; name the",
        ),
    ],
)
def test_a_failure_is_one_sentence_and_the_next_call_goes_on(suites_home, reply, sentence):
    with serving(but_for_q03(lambda request: reply)) as server, pytest.raises(SuiteError) as failure:
        get_suite("pfgen-bench", source=server.base_url)
    assert sentence in str(failure.value)
    assert str(failure.value).startswith(server.base_url)
    assert "\n" not in str(failure.value)
    with pytest.raises(SuiteError, match="not on this machine; run: pfgen-fast suite add pfgen-bench"):
        Suite.load("pfgen-bench")
    with serving(whole) as server:
        got = get_suite("pfgen-bench", source=server.base_url)
    assert len(server.requests) == got.n_fetched
    assert f"/v1/{Q03}" in server.paths
    assert sorted(path.name for path in suites_home.iterdir()) == ["pfgen-bench"]


@pytest.mark.parametrize("reply", [Reply(CONTENT, n_bytes=99), refusing(500, "no"), refusing(429, "no")])
def test_passing_failures_are_tried_again(suites_home, reply):
    with serving(after(3, reply)) as server:
        assert get_suite("pfgen-bench", source=server.base_url).n_fetched == len(FILES)
    assert len(server.requests) == len(FILES) + 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pieces", "sentence"),
    [(trickle, "slower than 1,000 bytes a second"), (lambda: iter([time.sleep(1) or b""]), "timed out")],
)
def test_a_server_that_is_too_slow_counts_as_unreachable(suites_home, monkeypatch, pieces, sentence):
    monkeypatch.setattr(downloads, "_TIMEOUT_SECONDS", 0.2)
    slow = but_for_q03(lambda request: Reply(pieces=pieces(), headers={"Content-Length": str(len(CONTENT))}))
    with serving(slow) as server, pytest.raises(SuiteError, match=rf"{sentence} \(4 tries\)"):
        get_suite("pfgen-bench", source=server.base_url)


def test_a_redirect_on_the_same_host_is_followed(suites_home):
    moved = Reply(status=301, headers={"Location": f"/moved/{Q03}"})
    with serving(but_for_q03(lambda request: Reply(CONTENT) if "moved" in request.path else moved)) as server:
        assert get_suite("pfgen-bench", source=server.base_url).n_fetched == len(FILES)


def test_without_a_network_the_error_names_the_address_and_the_remedy(suites_home):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(SuiteError, match=r"cannot be reached: .*refused.*HTTPS_PROXY.* name a copy on this machine$"):
        get_suite("pfgen-bench", source=f"http://127.0.0.1:{port}")
    assert list(suites_home.iterdir()) == []


def test_complete_files_are_kept_when_the_disk_is_full(suites_home, tmp_path, monkeypatch):
    checkout = write_checkout(tmp_path / "checkout")
    usage = namedtuple("usage", "free")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda folder: usage(1000))
        with pytest.raises(SuiteError, match=r"0.0 MB free, and the suite takes 0.8 MB; free some space, or name"):
            get_suite("pfgen-bench", source=checkout)
    assert list(suites_home.iterdir()) == []
    real, calls = os.fsync, itertools.count(1)

    def full(descriptor: int) -> None:
        if next(calls) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(SuiteError, match=rf"cannot be written: No space left on device; 3 of {len(FILES)} files "):
            get_suite("pfgen-bench", source=checkout)
    assert get_suite("pfgen-bench", source=checkout).n_fetched == len(FILES) - 3


def test_a_kill_leaves_no_suite_and_the_next_call_goes_on(suites_home, tmp_path):
    gate = Gate(4)

    def held_back(request):
        gate.wait()
        return whole(request)

    program = (
        "import sys; from pathlib import Path; from pfgen_fast.suite import fetching, published\n"
        "published._MANIFESTS = Path(sys.argv[1]); fetching.get_suite('pfgen-bench', source=sys.argv[2])"
    )
    part = suites_home / ".pfgen-bench.get-part"
    with serving(held_back) as server:
        arguments = [sys.executable, "-c", program, tmp_path / "manifests", server.base_url]
        with subprocess.Popen(arguments) as process:
            end = time.monotonic() + 60
            while not (part.is_dir() and len(list(part.glob("*.json*"))) >= 4) and time.monotonic() < end:
                time.sleep(0.01)
            process.kill()
        gate.open()
        with pytest.raises(SuiteError, match="not on this machine"):
            Suite.load("pfgen-bench")
        assert get_suite("pfgen-bench", source=server.base_url).n_fetched == len(FILES) - 4
    assert len(Suite.load("pfgen-bench")) == 8


def test_a_fetched_suite_is_a_source(suites_home, tmp_path):
    folder = get_suite("pfgen-bench", source=write_checkout(tmp_path / "checkout")).folder
    folder.rename(tmp_path / "fetched")
    assert get_suite("pfgen-bench", source=tmp_path / "fetched").n_fetched == len(FILES)


def test_a_source_without_a_copy_is_named(suites_home, tmp_path):
    (tmp_path / "a.zip").touch()
    (tmp_path / "folder").mkdir()
    for source, sentence in {
        tmp_path / "missing": "missing: expected a directory, or an address",
        tmp_path / "a.zip": "a.zip: expected a directory, or an address",
        tmp_path / "folder": f"data/Q01.json and {len(FILES) - 1} more not found",
        "ftp://host/x": "the address of the source: expected one such as https://",
        "https://user:secret@host/x": "the address of the source: expected one such as https://",
        "https://host/x?token=secret": "the address of the source: expected one such as https://",
    }.items():
        with pytest.raises(SuiteError, match=sentence) as failure:
            get_suite("pfgen-bench", source=source)
        assert "secret" not in str(failure.value)
    with pytest.raises(SuiteError, match="unknown published suite 'mini'; expected one of pfgen-bench"):
        get_suite("mini", source=tmp_path)


def test_a_damaged_suite_is_fetched_again(suites_home, tmp_path, mini):
    checkout = write_checkout(tmp_path / "checkout")
    folder = get_suite("pfgen-bench", source=checkout).folder
    (folder / "Q03.json").write_bytes(WRONG)
    get_suite("pfgen-bench", source=checkout)
    assert Suite.load("pfgen-bench") == mini
    (folder / "Q03.json").unlink()
    with held(suites_home / ".pfgen-bench.get-lock"), pytest.raises(SuiteError, match="another process is fetching"):
        get_suite("pfgen-bench", source=checkout)


def test_the_directory_follows_the_customs_of_the_system(monkeypatch, tmp_path):
    for name in ("PFGEN_FAST_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    places = {"linux": ".local/share", "darwin": "Library/Application Support", "win32": "AppData/Local"}
    for system, place in places.items():
        monkeypatch.setattr(sys, "platform", system)
        assert suites_folder() == tmp_path / place / "pfgen-fast" / "suites"
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert suites_folder() == tmp_path / "local" / "pfgen-fast" / "suites"
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert suites_folder() == tmp_path / "xdg" / "pfgen-fast" / "suites"


@pytest.mark.slow
@published.needs_published_runs
def test_the_published_suite_scores_as_its_checkout(tmp_path, monkeypatch):
    monkeypatch.setenv("PFGEN_FAST_HOME", str(tmp_path))
    assert get_suite("pfgen-bench", source=published.FOLDER).n_fetched >= 51
    fetched, checkout = Suite.load("pfgen-bench"), published.suite()
    assert fetched == checkout
    assert Scorer(fetched).signature == Scorer(checkout).signature
    assert list(fetched.samples) == list(checkout.samples)
