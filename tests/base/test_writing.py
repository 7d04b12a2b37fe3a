"""Files are written under another name and replace the old file when they are complete."""

import os
import stat
import subprocess
import sys
import time

import pytest
from pfgen_fast import PfgenError
from pfgen_fast.base import file_writing as writing
from pfgen_fast.base.file_writing import held

posix = pytest.mark.skipif(os.name != "posix", reason="no owners, modes, FIFOs and links for everybody here")


@pytest.fixture(params=["unnamed", "hidden"])
def either_kind(request, monkeypatch):
    """Both kinds of temporary files."""
    if request.param == "hidden":
        monkeypatch.setattr(writing, "_open_unnamed", lambda *_: None)


@pytest.fixture
def path(tmp_path):
    """A file with an old content."""
    (tmp_path / "file").write_bytes(b"old")
    return tmp_path / "file"


def test_a_file_is_replaced_whole_and_leaves_nothing_behind(path, either_kind):
    with pytest.raises(TypeError), writing.writing_whole(path) as file:
        file.writelines([b"half", None])
    assert path.read_bytes() == b"old"
    writing.write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(PfgenError, match="cannot be written"):
        writing.write_whole(path / "result.json", b"")


@posix
def test_a_link_in_the_place_of_the_temporary_file_is_not_followed(path, either_kind, monkeypatch):
    monkeypatch.setattr(writing.os, "urandom", bytes)
    victim = path.with_name("victim")
    victim.write_bytes(b"kept")
    path.with_name(f".file.{'0' * 16}.part").symlink_to(victim)
    with pytest.raises(PfgenError, match="cannot be written: File exists"):
        writing.write_whole(path, b"new")
    assert (path.read_bytes(), victim.read_bytes()) == (b"old", b"kept")


def test_two_processes_of_one_number_write_files_of_their_own(tmp_path, either_kind, monkeypatch):
    """As in two containers that share a folder."""
    monkeypatch.setattr(os, "getpid", lambda: 1)
    path = tmp_path / f"{'長' * 80}.csv"
    with writing.writing_whole(path) as first:
        first.write(b"first")
        with writing.writing_whole(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


@posix
def test_a_mode_is_limited_by_the_umask(tmp_path, either_kind):
    before = os.umask(0o002)
    try:
        writing.write_whole(tmp_path / "usual", b"")
        writing.write_whole(tmp_path / "own", b"", mode=0o644)
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("usual", "own")] == [0o664, 0o644]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_only_regular_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(PfgenError, match="expected a regular file, not a device, FIFO or socket"):
        writing.write_whole(tmp_path / "fifo", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["fifo"]
    assert (tmp_path / "fifo").is_fifo()


@posix
def test_a_replaced_file_keeps_its_mode(path, either_kind):
    path.chmod(0o4640)
    writing.write_whole(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)


# ---- Locks: a link in the place of a lock file is not followed, and a FIFO is not waited for


@posix
@pytest.mark.parametrize("target", ["missing", "there"])
def test_a_lock_that_is_a_link_is_refused_and_not_followed(tmp_path, target):
    (tmp_path / "there").write_bytes(b"kept")
    lock = tmp_path / ".lock"
    lock.symlink_to(tmp_path / target)
    with pytest.raises(PfgenError, match=r"\.lock: cannot be locked: "), held(lock):
        pytest.fail("the lock is held")
    assert {path.name for path in tmp_path.iterdir()} == {"there", ".lock"}
    assert (tmp_path / "there").read_bytes() == b"kept"


@posix
def test_a_fifo_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / ".lock")
    script = "import sys, pathlib, pfgen_fast.base.file_writing as f; f.held(pathlib.Path(sys.argv[1])).__enter__()"
    subprocess.run([sys.executable, "-c", script, tmp_path / ".lock"], check=True, timeout=60)


@posix
def test_a_lock_is_held_by_one_and_waited_for_no_longer_than_said(tmp_path):
    with held(tmp_path / ".lock") as first:
        assert first
        started = time.monotonic()
        with held(tmp_path / ".lock") as second, held(tmp_path / ".lock", patience=0.2) as third:
            assert (second, third) == (False, False)
        assert time.monotonic() - started >= 0.2
    with held(tmp_path / ".lock") as again:
        assert again
    assert not (tmp_path / ".lock").exists()
