"""Archives of suites: what is packed is added elsewhere, and a hostile archive is one sentence and leaves nothing."""

import hashlib
import io
import json
import shutil
import stat
import tarfile
import zipfile

import pytest
from makers.fault_server import Reply, refusing, serving
from pfgen_fast import Suite
from pfgen_fast.base.errors import SuiteError
from pfgen_fast.suite import packing
from pfgen_fast.suite.packing import MANIFEST, add_suite, pack_suite

QUESTION = json.dumps({"question_id": "Q01", "question": "Why?", "answers": {"A": ["Because."]}}).encode()
OUTSIDE = "the file name '../Q01.json': expected a .json file without a directory, or questions.jsonl, suite.json,"


def manifest(files, changes=()):
    listed = {name: [len(content), hashlib.sha256(content).hexdigest()] for name, content in files}
    return json.dumps(
        {"format": "pfgen-fast suite 1", "name": "theirs", "licence": "CC0", "files": listed} | dict(changes)
    )


def write_zip(path, files, changes=()):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr(MANIFEST, manifest(files, changes))
        for name, content in files:
            pack.NameToInfo.clear()  # so that a name can be written twice
            pack.writestr(name, content)


def write_tar(path, files, kind=tarfile.REGTYPE):
    with tarfile.open(path, "w:gz") as pack:
        for name, content in [(MANIFEST, manifest(files).encode()), *files]:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            if name != MANIFEST:
                info.type, info.linkname = kind, "/etc/passwd"
            pack.addfile(info, io.BytesIO(content))


@pytest.fixture
def folder(tmp_path, mini):
    """A suite with a card."""
    shutil.copytree(mini.folder, tmp_path / "my-suite")
    card = "---\ntitle: Mine\nlicense: CC-BY-4.0\n---\n# Mine\n"
    (tmp_path / "my-suite" / "README.md").write_text(card, encoding="utf-8")
    return tmp_path / "my-suite"


@pytest.mark.parametrize("ending", [".zip", ".tar.gz", ""])
def test_a_packed_suite_is_found_by_its_name_and_scores_as_before(suites_home, folder, mini, ending, monkeypatch):
    source = folder.with_name(f"pack{ending}") if ending else folder
    if ending:
        digest = pack_suite(folder, source)
        assert digest == pack_suite(folder, source) == hashlib.sha256(source.read_bytes()).hexdigest()
    added = add_suite(str(source))
    assert (added.folder, added.suite.licence) == (suites_home / "my-suite", "CC-BY-4.0")
    assert Suite.load("my-suite") == mini
    assert list(Suite.load("my-suite").samples) == list(mini.samples)
    assert (added.folder / "README.md").read_bytes() == (folder / "README.md").read_bytes()
    assert add_suite(str(source)).n_fetched == 0
    monkeypatch.chdir(folder.parent)
    assert Suite.load("my-suite").folder == folder  # authors score what they edit
    shutil.copytree(folder, "mini")
    (folder.parent / "mini" / "Q08.json").unlink()
    assert add_suite("mini", name="cut").n_fetched == added.n_fetched - 1
    (folder / "README.md").unlink()
    with pytest.raises(SuiteError, match=r"name 'my-suite': another suite has this name \(.*choose another name"):
        add_suite(str(folder))
    assert add_suite(str(folder), name="second").suite.licence == "not stated"


def test_a_card_of_another_state_of_the_suite_is_not_packed(folder, mini, tmp_path):
    card = folder / "README.md"
    card.write_text(f"| version | metadata hash {mini.metadata_hash} |\n", encoding="utf-8")
    pack_suite(folder, tmp_path / "a.zip")
    (folder / "Q08.json").unlink()
    hashes = f"metadata hash {mini.metadata_hash}; this one has {Suite.load(folder).metadata_hash}"
    with pytest.raises(SuiteError, match=f"README.md: the card describes another suite .{hashes}.; write it anew with"):
        pack_suite(folder, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


@pytest.mark.parametrize(
    ("files", "changes", "sentence"),
    [
        ([("../Q01.json", QUESTION)], {}, OUTSIDE),
        ([("/Q01.json", QUESTION)], {}, "the file name '/Q01.json': expected a .json file without"),
        ([("a\\Q01.json", QUESTION)], {}, r"the file name 'a\\Q01.json': expected a .json file without"),
        ([("origin.json", b"{}")], {}, "the file name 'origin.json': expected"),
        ([("run.py", b"x")], {}, "the file name 'run.py': expected"),
        ([("Q01.json", QUESTION)] * 2, {}, "Q01.json: a second file of this name (Q01.json)"),
        ([("Q01.json", QUESTION), ("Q01.JSON", QUESTION)], {}, "the file name 'Q01.JSON': expected"),
        ([("Qa.json", QUESTION), ("QA.json", QUESTION)], {}, "QA.json: a second file of this name (Qa.json)"),
        ([("Q01.json", QUESTION)], {"files": {"Q01.json": [9, "0" * 64]}}, "larger than the manifest says (9 bytes)"),
        ([("Q01.json", QUESTION)], {"files": {"Q01.json": [len(QUESTION), "0" * 64]}}, "its SHA-256 is not the one in"),
        ([("Q01.json", QUESTION)], {"files": {"Q01.json": [9]}}, "expected a size and a SHA-256, not a list"),
        ([("Q01.json", QUESTION)], {"files": {}}, "Q01.json is not in the manifest; use another copy"),
        ([], {"files": {"Q01.json": [9, "0" * 64]}}, "Q01.json is not in the archive; use another copy"),
        ([("Q01.json", QUESTION)], {"format": "other"}, "format: expected one of pfgen-fast suite 1, not 'other'"),
        ([("Q01.json", QUESTION)], {"name": "../x"}, "name '../x': expected 2 to 64 letters"),
        ([("Q01.json", QUESTION)], {"name": "mini"}, "name 'mini': a suite of pfgen-fast has this name"),
        ([("Q01.json", b"{}")], {}, "not a suite: Q01.json: the key 'question_id' is missing"),
        ([("suite.json", b"{}")], {}, "no question files"),
    ],
)
def test_a_hostile_archive_is_one_sentence_and_leaves_nothing(suites_home, tmp_path, files, changes, sentence):
    write_zip(tmp_path / "a.zip", files, changes)
    with pytest.raises(SuiteError) as failure:
        add_suite(str(tmp_path / "a.zip"))
    assert sentence in str(failure.value)
    assert "\n" not in str(failure.value)
    assert not suites_home.exists() or not list(suites_home.iterdir())
    assert not (tmp_path / "Q01.json").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(suites_home, tmp_path, folder, kind):
    write_tar(tmp_path / "a.tar.gz", [("Q01.json", b"")], kind)
    link = zipfile.ZipInfo("Q01.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as pack:
        pack.writestr(link, "/etc/passwd")
    (folder / "README.md").unlink()
    (folder / "README.md").symlink_to("Q01.json")
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_LZMA) as pack:
        pack.writestr("Q01.json", QUESTION)
    for source in (tmp_path / "a.tar.gz", tmp_path / "a.zip", tmp_path / "b.zip", folder):
        with pytest.raises(SuiteError, match="expected a regular file, stored or deflated, not a link"):
            add_suite(str(source))


def test_sizes_are_limited_before_anything_is_unpacked(suites_home, tmp_path, monkeypatch):
    write_tar(tmp_path / "a.tar.gz", [("Q01.json", bytes(100_000))])
    write_zip(tmp_path / "a.zip", [("Q01.json", bytes(100_000))])
    write_zip(tmp_path / "many.zip", [(f"Q{n}.json", b"") for n in range(30)])
    (tmp_path / "x.zip").write_bytes((tmp_path / "a.zip").read_bytes()[:99])
    (tmp_path / "x.tar.gz").write_bytes((tmp_path / "a.tar.gz").read_bytes()[:99])
    (tmp_path / "x.txt").write_bytes(b"text")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as pack:
        pack.writestr("Q01.json", QUESTION)
    monkeypatch.setattr(packing, "MOST_BYTES", 50_000)
    monkeypatch.setattr(packing, "MOST_FILES", 10)
    for name, sentence in {
        "a.tar.gz": "holds more than 50,000 bytes, which is the limit",
        "a.zip": "a.zip, Q01.json: larger than",
        "many.zip": "more than 10 files, which is the limit",
        "x.zip": "x.zip: a damaged archive",
        "x.tar.gz": "x.tar.gz: a damaged archive",
        "x.txt": "expected a .zip or .tar.gz of pfgen-fast suite pack, or the directory of a suite",
        "other.zip": "the archive has no manifest.json; expected an archive of pfgen-fast suite pack",
        "missing.zip": "no such file or directory; expected a suite or an archive, or an address",
    }.items():
        with pytest.raises(SuiteError, match=sentence):
            add_suite(str(tmp_path / name))
    with pytest.raises(SuiteError, match=r"expected a name that ends in .zip or .tar.gz"):
        pack_suite("mini", tmp_path / "a.rar")


def test_an_address_is_secure_and_its_hash_is_checked(suites_home, tmp_path, mini):
    digest = pack_suite("mini", tmp_path / "a.zip")
    replies = {
        "a.zip": Reply((tmp_path / "a.zip").read_bytes()),
        "moved": Reply(status=302, headers={"Location": "/v1/a.zip"}),
        "away": Reply(status=302, headers={"Location": "http://example.org/a.zip"}),
        "none": refusing(404, "no"),
    }
    with serving(lambda request: replies[request.path.rpartition("/")[2].partition("?")[0]]) as server:
        added = add_suite(f"{server.base_url}/moved?key=secret#sha256={digest}", name="theirs")
        assert (added.n_fetched, added.suite.repository) == (9, f"{server.base_url}/moved")
        for path, sentence in {
            f"a.zip#sha256={'0' * 64}": f"the archive has the SHA-256 {digest}, not that after #",
            "away": r"redirects to another address \(http://example.org/a.zip\), which is not followed",
            "none?key=secret": "none: no such file, or an empty one; check the address",
        }.items():
            with pytest.raises(SuiteError, match=sentence) as failure:
                add_suite(f"{server.base_url}/{path}", name="others")
            assert "secret" not in str(failure.value)
    assert Suite.load("theirs") == mini
    assert [path.name for path in suites_home.iterdir()] == ["theirs"]
    assert add_suite(f"{tmp_path / 'a.zip'}#sha256={digest.upper()}", name="theirs").n_fetched == 0
    for source in (
        "https://example.org/a.zip#sha256=12",
        f"{tmp_path / 'a.zip'}#md5=",
        f"{suites_home}#sha256={digest}",
    ):
        with pytest.raises(SuiteError, match=": expected an archive, and sha256= and 64 hexadecimal digits after #"):
            add_suite(source)
    for name in ("", "con", "NUL.fr", "Com1"):
        with pytest.raises(SuiteError, match=f"name '{name}': expected 2 to 64 letters, .*, and no name of a device"):
            add_suite(str(tmp_path / "a.zip"), name=name)
    for address in ("http://example.org/a.zip", "ftp://example.org/a.zip", "file:///etc/passwd"):
        with pytest.raises(SuiteError, match="expected an address with https, or with http of this machine"):
            add_suite(address)
