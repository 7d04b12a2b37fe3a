"""Published suites from archives: only the wanted members are read, and nothing is extracted to a path."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from makers.published_suites import FILES, Q03, write_checkout, write_tar, write_zip
from pfgen_fast import Suite
from pfgen_fast.errors import SuiteError
from pfgen_fast.suite.getting import get_suite

MEMBERS = [(f"suite-main/{path}", content) for path, content in FILES.items()]
OTHERS = [(name, content) for name, content in MEMBERS if not name.endswith(Q03)]
ARCHIVES = ("a.tar", "a.tar.gz", "a.tar.xz", "a.zip")
NOT_FOUND = f"{Q03} not found; expected the files of org/suite"


def special(kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo()
    info.type, info.linkname = kind, target
    return info


def write_archive(path: Path, members: list[tuple[str, bytes]]) -> Path:
    return (write_zip if path.suffix == ".zip" else write_tar)(path, members)


@pytest.mark.slow
@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("top", ["", "./", "suite-main/"])
def test_an_archive_of_a_checkout_gives_the_suite(suites_home, tmp_path, mini, name, top):
    members = [("suite-main/result/Q01.json", b"{}"), *((f"{top}{path}", content) for path, content in FILES.items())]
    assert get_suite("pfgen-bench", source=write_archive(tmp_path / name, members)).n_fetched == len(FILES)
    assert Suite.load("pfgen-bench") == mini


@pytest.mark.parametrize(
    "member",
    [
        (f"../{Q03}", FILES[Q03]),
        (f"/{Q03}x", FILES[Q03]),
        (f"suite-main/../{Q03}", FILES[Q03]),
        (f"suite-main/other/{Q03}", FILES[Q03]),
        (f"suite-main/{Q03}", special(tarfile.SYMTYPE, "../../secret/data/Q03.json")),
        (f"suite-main/{Q03}", special(tarfile.LNKTYPE, "suite-main/other.json")),
        (f"suite-main/{Q03}", special(tarfile.FIFOTYPE)),
        (f"suite-main/{Q03}", special(tarfile.CHRTYPE)),
        (f"suite-main/{Q03}", special(tarfile.DIRTYPE)),
    ],
)
def test_only_a_regular_member_with_the_right_name_counts(suites_home, tmp_path, member):
    write_checkout(tmp_path / "secret")
    tar = write_tar(tmp_path / "deep.tar", [("suite-main/other.json", FILES[Q03]), *OTHERS, member])
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(SuiteError, match=NOT_FOUND):
        get_suite("pfgen-bench", source=tar)
    new = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert {path.parent for path in new} == {suites_home / ".pfgen-bench.get-part"}
    assert {path.name for path in new} == {Path(name).name for name, _ in OTHERS}


@pytest.mark.parametrize(("name", "mode"), [(f"../{Q03}", 0o100644), (f"suite-main/{Q03}", 0o120777)])
def test_links_and_parents_in_a_zip_do_not_count(suites_home, tmp_path, name, mode):
    archive = write_zip(tmp_path / "a.zip", [*OTHERS, (name, FILES[Q03])], {name: mode})
    with pytest.raises(SuiteError, match=NOT_FOUND):
        get_suite("pfgen-bench", source=archive)


@pytest.mark.parametrize("name", ["a.tar", "a.zip"])
def test_a_member_is_read_no_further_than_its_size(suites_home, tmp_path, name):
    archive = write_archive(tmp_path / name, [*OTHERS, (f"suite-main/{Q03}", bytes(1 << 26))])
    with pytest.raises(SuiteError, match=r"data/Q03.json: larger than the published file \([0-9,]+ bytes\)"):
        get_suite("pfgen-bench", source=archive)


def test_a_header_that_claims_gigabytes_is_refused(suites_home, tmp_path):
    info = special(tarfile.XHDTYPE)
    info.size = 1 << 33
    (tmp_path / "a.tar").write_bytes(info.tobuf() + bytes(1 << 20))
    with pytest.raises(SuiteError, match=r"a.tar: not a tar archive, or damaged or cut off \(.*\)"):
        get_suite("pfgen-bench", source=tmp_path / "a.tar")


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_damaged_archive_is_one_sentence(suites_home, tmp_path, name):
    archive = write_archive(tmp_path / name, MEMBERS)
    content = archive.read_bytes()
    for damaged in (b"", b"?" * 5000, content[: len(content) // 2]):
        archive.write_bytes(damaged)
        with pytest.raises(SuiteError, match=f"{name}.*(damaged|cut off|not found)") as failure:
            get_suite("pfgen-bench", source=archive)
        assert "\n" not in str(failure.value)


def test_a_source_without_a_copy_is_named(suites_home, tmp_path):
    (tmp_path / "a.rar").touch()
    (tmp_path / "folder").mkdir()
    for source, sentence in {
        tmp_path / "missing": "no such directory or archive, and not an address",
        tmp_path / "a.rar": "expected a directory or an archive",
        tmp_path / "folder": f"data/Q01.json and {len(FILES) - 1} more not found",
        "ftp://host/x": r"source \(--from\): expected an address such as https://",
        "https://user:secret@host/x": r"source \(--from\): expected an address such as https://",
        "https://host/x?token=secret": r"source \(--from\): expected an address such as https://",
    }.items():
        with pytest.raises(SuiteError, match=sentence) as failure:
            get_suite("pfgen-bench", source=source)
        assert "secret" not in str(failure.value)
    with pytest.raises(SuiteError, match="unknown published suite 'mini'; expected one of pfgen-bench"):
        get_suite("mini", source=tmp_path)
