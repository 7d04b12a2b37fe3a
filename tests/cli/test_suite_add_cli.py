"""`pfgen-fast suite add`, `pack` and `info`, and the fetched suite in other commands."""

import json
import re
import shutil

import pytest
from makers.fault_server import serving
from makers.suite_files import FILES, whole, write_checkout


@pytest.fixture
def checkout(suites_home, tmp_path):
    return write_checkout(tmp_path / "checkout")


def test_a_fetched_suite_is_found_by_its_name(call, printed, checkout, suites_home):
    folder = suites_home / "pfgen-bench"
    code, out, err = call("suite", "add", "pfgen-bench", "--from", checkout)
    origin = "from org/suite, revision c0ffee (every file checked)\nlicence: as its owners say\n"
    assert (code, err) == (0, "")
    assert out == f"pfgen-bench: {len(FILES)} files added: {folder}\n{origin}use it: --suite pfgen-bench\n"
    code, out, _ = call("suite", "add", "pfgen-bench")
    assert (code, out) == (0, f"pfgen-bench: already there: {folder}\n{origin}use it: --suite pfgen-bench\n")
    out = printed("suite", "info", "pfgen-bench")
    assert f"directory: {folder}\n{origin}" in out
    out = printed("explain", "--suite", "pfgen-bench", "-q", "Q07", "-a", "Ice floats.")
    assert "suite: pfgen-bench\n" in out
    assert "pfgen-fast checklists info essays-en" in " ".join(call("suite", "info", "essays-en")[2].split())
    code, out, _ = call("suite", "info")
    assert re.search(rf"^pfgen-bench +questions +added +{re.escape(str(folder))}$", out, re.MULTILINE)


def test_the_list_says_how_each_suite_can_be_had(call, suites_home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = call("suite", "info", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert code == 0
    assert list(rows) == ["pfgen-bench", "mini", "essays-en", "essays-ja"]
    assert rows["pfgen-bench"]["state"] == "published: pfgen-fast suite add pfgen-bench"
    assert (rows["essays-ja"]["kind"], rows["essays-ja"]["state"]) == ("checklists", "packaged")


@pytest.mark.parametrize("arguments", [("explain", "-s", "pfgen-bench", "-q", "Q07", "-a", "x"), ("suite", "check")])
def test_a_command_that_finds_no_suite_names_this_command(refused, suites_home, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    err = refused(*arguments)
    assert "pfgen-fast suite add pfgen-bench" in err
    assert err.count("\n") == 1


def test_a_fetched_suite_is_named(call, suites_home, tmp_path, monkeypatch, mini):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trials.jsonl").write_text('{"question": "Q01", "answer": ""}')
    shutil.copytree(mini.folder, suites_home / "pfgen-bench")
    for command in [("explain", "-q", "Q07", "-a", "x"), ("score", "."), ("suite", "check")]:
        code, _, err = call(*command)
        assert (code, err.rstrip().endswith("; name a suite (--suite DIRECTORY, or mini or pfgen-bench)")) == (2, True)


def test_a_mirror_takes_the_place_of_the_address_for_a_published_suite_only(call, refused, suites_home):
    with serving(whole) as server:
        assert call("suite", "add", "pfgen-bench", "--from", server.base_url, "-q") == (0, "", "")
    origin = json.loads(call("suite", "info", "pfgen-bench", "--json")[1])["origin"]
    assert (origin["licence"], origin["commit"]) == ("as its owners say", "c0ffee")
    assert json.loads(call("suite", "info", "mini", "--json")[1])["origin"] is None
    assert "unknown published suite 'mine'" in call("suite", "add", "mine", "--from", server.base_url)[2]
    assert (
        refused("suite", "add", "pfgen-bench", "--from", server.base_url, "--name", "mine")
        == "error: --name: a published suite keeps its name\n"
    )


def test_a_packed_suite_is_added_under_a_name_and_listed(call, suites_home, tmp_path):
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
    assert call("suite", "check", "mine")[0] == 0
    (row,) = [row for row in json.loads(call("suite", "info", "--json")[1]) if row["name"] == "mine"]
    assert (row["state"], row["folder"]) == ("added", str(suites_home / "mine"))
