"""`pfgen-fast suite get`, `add`, `pack` and `info`, and the fetched suite in other commands."""

import json
import shutil

import pytest
from makers.fault_server import serving
from makers.suite_files import FILES, whole, write_checkout


@pytest.fixture
def checkout(suites_home, tmp_path):
    return write_checkout(tmp_path / "checkout")


def test_a_fetched_suite_is_found_by_its_name(call, checkout, suites_home):
    folder = suites_home / "pfgen-bench"
    code, out, err = call("suite", "get", "pfgen-bench", "--from", checkout)
    origin = "from org/suite, revision c0ffee (every file checked)\nlicence: as its owners say\n"
    assert (code, err) == (0, "")
    assert out == f"pfgen-bench: {len(FILES)} files fetched: {folder}\n{origin}use it: --suite pfgen-bench\n"
    code, out, _ = call("suite", "get", "pfgen-bench")
    assert (code, out) == (0, f"pfgen-bench: already there: {folder}\nuse it: --suite pfgen-bench\n")
    code, out, _ = call("suite", "info", "pfgen-bench")
    assert code == 0
    assert f"directory: {folder}\n{origin}" in out
    code, out, _ = call("explain", "--suite", "pfgen-bench", "-q", "Q07", "-a", "Ice floats.")
    assert code == 0
    assert "suite: pfgen-bench\n" in out
    assert "pfgen-fast checklists info essays-en" in " ".join(call("suite", "info", "essays-en")[2].split())
    code, out, _ = call("suite", "info")
    assert f"pfgen-bench  questions   0.8 MB  fetched: {folder}\n" in out


def test_the_list_says_how_each_suite_can_be_had(call, suites_home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = call("suite", "info", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert code == 0
    assert list(rows) == ["pfgen-bench", "mini", "essays-en", "essays-ja", "hellobench"]
    assert rows["pfgen-bench"]["state"] == "not fetched: pfgen-fast suite get pfgen-bench"
    assert rows["mini"]["n_bytes"] == sum(map(len, FILES.values()))
    assert rows["essays-ja"]["kind"] == "checklists"
    code, _, err = call("suite", "get", "hellobench")
    assert code == 2
    assert err.startswith(
        "error: hellobench: not fetched, because no checksums of its files are recorded: clone https://"
    )


@pytest.mark.parametrize("arguments", [("explain", "-s", "pfgen-bench", "-q", "Q07", "-a", "x"), ("suite", "check")])
def test_a_command_that_finds_no_suite_names_this_command(call, suites_home, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert "pfgen-fast suite get pfgen-bench" in err
    assert err.count("\n") == 1


def test_a_fetched_suite_is_named(call, suites_home, tmp_path, monkeypatch, mini):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trials.jsonl").write_text('{"question": "Q01", "answer": ""}')
    shutil.copytree(mini.folder, suites_home / "pfgen-bench")
    for command in [("explain", "-q", "Q07", "-a", "x"), ("score", "."), ("suite", "check")]:
        code, _, err = call(*command)
        assert (code, err.rstrip().endswith("; name a suite (--suite DIRECTORY, or mini or pfgen-bench)")) == (2, True)


def test_a_directory_of_the_users_choice_keeps_the_licence(call, suites_home, tmp_path):
    output = tmp_path / "elsewhere"
    with serving(whole) as server:
        assert call("suite", "get", "pfgen-bench", "--from", server.base_url, "-o", output, "-q") == (0, "", "")
    origin = json.loads(call("suite", "info", output, "--json")[1])["origin"]
    assert (origin["licence"], origin["commit"]) == ("as its owners say", "c0ffee")
    assert json.loads(call("suite", "info", "mini", "--json")[1])["origin"] is None


def test_a_packed_suite_is_added_under_a_name_and_listed(call, suites_home, tmp_path, monkeypatch):
    archive = tmp_path / "a.tar.gz"
    code, out, _ = call("suite", "pack", "mini", "-o", archive)
    digest = out.split("SHA-256 ")[1].split("\n")[0]
    assert (code, out.splitlines()[1]) == (
        0,
        f"upload it, and send this line: pfgen-fast suite add URL#sha256={digest}",
    )
    code, out, err = call("suite", "add", archive)
    assert (code, out, err) == (
        2,
        "",
        "error: name 'mini': a suite of pfgen-fast has this name; choose another name (--name)\n",
    )
    for name in ("essays-en", "pfgen-bench", "hellobench"):
        assert f"name {name!r}: a suite of pfgen-fast has this name" in call("suite", "add", archive, "--name", name)[2]
    code, out, _ = call("suite", "add", archive, "--name", "mine")
    assert (code, out.splitlines()[0]) == (0, f"mine: 9 files added: {suites_home / 'mine'}")
    assert (out.splitlines()[2:]) == ["licence: not stated", "use it: --suite mine"]
    assert f"mine         questions   0.8 MB  added: {suites_home / 'mine'}\n" in call("suite", "info")[1]
    assert call("suite", "check", "mine")[0] == 0
    monkeypatch.chdir(tmp_path)
    shutil.copytree(suites_home / "mine", "mine")
    (row,) = [row for row in json.loads(call("suite", "info", "--json")[1]) if row["name"] == "mine"]
    assert (row["state"], row["folder"]) == (
        "added, but the name means the directory mine here",
        str(suites_home / "mine"),
    )
