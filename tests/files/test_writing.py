"""Files written whole: to a new file always, whatever lies in its way."""

from __future__ import annotations

import os

import pytest
from pfgen_fast import PfgenError
from pfgen_fast.files import writing


@pytest.mark.skipif(os.name != "posix", reason="no links for everybody here")
@pytest.mark.parametrize("has_unnamed_files", [True, False])
def test_a_link_in_the_place_of_the_temporary_file_is_not_followed(tmp_path, monkeypatch, has_unnamed_files):
    if not has_unnamed_files:
        monkeypatch.setattr(writing, "_open_unnamed", lambda *_: None)
    victim = tmp_path / "victim"
    victim.write_bytes(b"kept")
    (tmp_path / f".file.{os.getpid()}.part").symlink_to(victim)
    writing.write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert not (tmp_path / "file").is_symlink()
    assert victim.read_bytes() == b"kept"


@pytest.mark.skipif(os.name != "posix", reason="no modes here")
@pytest.mark.parametrize("has_unnamed_files", [True, False])
def test_a_mode_is_kept_but_for_the_umask(tmp_path, monkeypatch, has_unnamed_files):
    if not has_unnamed_files:
        monkeypatch.setattr(writing, "_open_unnamed", lambda *_: None)
    before = os.umask(0o002)
    try:
        writing.write_whole(tmp_path / "usual", b"")
        writing.write_whole(tmp_path / "own", b"", mode=0o644)
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("usual", "own")] == [0o664, 0o644]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(PfgenError, match="expected a regular file, not a device, FIFO or socket"):
        writing.write_whole(tmp_path / "fifo", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["fifo"]
    assert (tmp_path / "fifo").is_fifo()


@pytest.mark.skipif(os.name != "posix", reason="no modes here")
@pytest.mark.parametrize("has_unnamed_files", [True, False])
def test_a_replaced_file_keeps_its_mode(tmp_path, monkeypatch, has_unnamed_files):
    if not has_unnamed_files:
        monkeypatch.setattr(writing, "_open_unnamed", lambda *_: None)
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "file").chmod(0o600)
    writing.write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("has_unnamed_files", [True, False])
def test_a_file_takes_its_place_after_what_is_done_when_it_is_whole(tmp_path, monkeypatch, has_unnamed_files):
    if not has_unnamed_files:
        monkeypatch.setattr(writing, "_open_unnamed", lambda *_: None)
    path = tmp_path / "file"
    path.write_bytes(b"old")
    seen: list[tuple[int, bytes]] = []

    def look(n_bytes: int) -> None:
        seen.append((n_bytes, path.read_bytes()))

    with writing.writing_whole(path, on_whole=look) as file:
        file.write(b"whole")
    assert (seen, path.read_bytes()) == ([(5, b"old")], b"whole")


@pytest.mark.parametrize("has_unnamed_files", [True, False])
def test_a_file_does_not_take_its_place_where_that_fails(tmp_path, monkeypatch, has_unnamed_files):
    if not has_unnamed_files:
        monkeypatch.setattr(writing, "_open_unnamed", lambda *_: None)

    def refuse(n_bytes: int) -> None:
        raise KeyError(n_bytes)

    with pytest.raises(KeyError), writing.writing_whole(tmp_path / "file", on_whole=refuse) as file:
        file.write(b"whole")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_closed_before_it_is_renamed(tmp_path, monkeypatch):
    """Windows renames no open file."""
    monkeypatch.setattr(writing, "_open_unnamed", lambda *_: None)
    replace, is_closed = os.replace, []

    def replace_closed(source, target):
        is_closed.append(file.closed)
        replace(source, target)

    monkeypatch.setattr(os, "replace", replace_closed)
    with writing.writing_whole(tmp_path / "file") as file:
        file.write(b"new")
    assert is_closed == [True]
    assert (tmp_path / "file").read_bytes() == b"new"
