"""Files in the cache that another user may have written are not trusted: scores stay right, and nothing hangs."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from makers.suite_files import forge_question
from pfgen_fast import Scorer, Suite
from pfgen_fast.suite import compiled as caching
from pfgen_fast.suite import suite_reading as remembering
from pfgen_fast.suite.compiled import CompiledSuite

fcntl = pytest.importorskip("fcntl", reason="files have no owners and modes here")

QUESTION = {
    "question_id": "Q01",
    "question": "Why are there tides?",
    "answers": {"A": ["The sea rises and falls twice a day.", "The moon pulls the sea, so it rises."]},
}
ANSWERS = ["The sea rises twice a day.", "The moon pulls the sea."]
OTHER_USER = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a small suite."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "Q01.json").write_text(json.dumps(QUESTION))
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    suite = Suite.load(folder)
    return Scorer(Suite(suite.name, suite.questions)).reward("Q01", ANSWERS).tolist()


@pytest.fixture(scope="module")
def rewards(folder):
    """A function that loads the suite and returns the scores of `ANSWERS`."""
    return lambda: Scorer(folder).reward("Q01", ANSWERS).tolist()


@pytest.fixture
def forged(cache, expected, rewards):
    """A file in the cache that gives other scores, and whose checksums are right."""
    rewards()
    (path,) = cache.glob("*.pfgen")
    forge_question(path, 0)
    assert rewards() != expected
    return path


def let_others_write(path: Path, bits: int | None) -> None:
    """Gives write permission to others by bits of the mode, or gives the file away."""
    if bits is None:
        os.chown(path, OTHER_USER, OTHER_USER)
    else:
        path.chmod(path.stat().st_mode | bits)


FOREIGN = [
    pytest.param(None, r"belongs to \w+", marks=needs_root),
    (0o020, r"other users can write to it \(mode \d+\)"),
    (0o002, r"other users can write to it \(mode \d+\)"),
]


@pytest.mark.parametrize(("bits", "reason"), [*FOREIGN, (0o1077, r"other users can .* \(mode 1777\)")])
def test_a_folder_that_others_may_write_is_not_used_as_cache(forged, cache, expected, rewards, bits, reason):
    before = forged.read_bytes()
    let_others_write(cache, bits)
    with pytest.warns(RuntimeWarning, match=f"^{cache}: {reason}.*, so it is not used as the cache, and") as caught:
        assert [rewards(), rewards()] == [expected, expected]
    assert len(caught) == 1
    assert [path.read_bytes() for path in cache.iterdir()] == [before]


def test_a_folder_of_root_is_trusted_by_all_users(cache, expected, rewards, monkeypatch, forbid_building):
    rewards()
    status = os.stat(cache)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    if status.st_uid == 0:
        forbid_building()
        assert rewards() == expected
    else:
        with pytest.warns(RuntimeWarning, match="belongs to"):
            assert rewards() == expected


def test_the_cache_may_be_a_link_of_this_user(tmp_path, monkeypatch, cache, expected, rewards, forbid_building):
    rewards()
    (tmp_path / "link").symlink_to(cache)
    monkeypatch.setenv("PFGEN_FAST_CACHE", str(tmp_path / "link"))
    forbid_building()
    assert rewards() == expected


@needs_root
def test_the_cache_may_not_be_a_link_of_another_user(tmp_path, monkeypatch, forged, cache, expected, rewards):
    link = tmp_path / "link"
    link.symlink_to(cache)
    os.chown(link, OTHER_USER, OTHER_USER, follow_symlinks=False)
    monkeypatch.setenv("PFGEN_FAST_CACHE", str(link))
    with pytest.warns(RuntimeWarning, match=f"^{link}: belongs to"):
        assert rewards() == expected


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_with_any_umask_no_other_user_may_write(cache, expected, rewards, monkeypatch, umask, forbid_building):
    monkeypatch.setattr(remembering, "_WORTH_BYTES", 0)
    before = os.umask(umask)
    try:
        rewards()
    finally:
        os.umask(before)
    paths = [cache, *cache.iterdir()]
    assert {path.suffix for path in paths} >= {".pfgen"}
    assert not [path for path in paths if path.stat().st_mode & 0o022]
    forbid_building()
    assert rewards() == expected


@pytest.mark.parametrize(("bits", "reason"), FOREIGN)
def test_an_index_that_others_may_have_written_is_replaced(forged, expected, rewards, bits, reason):
    let_others_write(forged, bits)
    with pytest.warns(RuntimeWarning, match=f"^{forged}: {reason}; the compiled suite is rebuilt$") as caught:
        assert rewards() == expected
    assert len(caught) == 1
    CompiledSuite.open(forged, own=True)
    assert rewards() == expected


PROCESS = """
import sys
from pfgen_fast import Scorer
print(Scorer(sys.argv[1]).reward("Q01", sys.argv[2:]).tolist())
"""


def test_an_index_that_is_not_a_regular_file_is_not_opened(folder, forged, expected, rewards):
    elsewhere = forged.rename(forged.with_name("elsewhere"))
    forged.symlink_to(elsewhere)
    with pytest.warns(RuntimeWarning, match="expected a regular file, not a symbolic link; the compiled suite is reb"):
        assert rewards() == expected
    CompiledSuite.open(forged, own=True)
    forged.unlink()
    os.mkfifo(forged)  # in a process of its own, because it might hang
    command = [sys.executable, "-c", PROCESS, folder, *ANSWERS]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == str(expected)
    assert f"{forged}: expected a regular file, not a FIFO; the compiled suite is rebuilt" in run.stderr
    forged.unlink()
    forged.mkdir()
    with pytest.warns(RuntimeWarning, match=r"expected a regular file, not a folder|cannot be written: Is a directory"):
        assert rewards() == expected
    assert forged.is_dir()


def test_a_file_that_the_user_names_is_the_users_choice(folder, forged, expected):
    let_others_write(forged, 0o002)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Scorer(Suite.load(folder), index=forged).reward("Q01", ANSWERS).tolist() != expected


@pytest.fixture
def lock(forged):
    """The path of the lock that a process waits for when it builds what is missing."""
    forged.unlink()
    return forged.with_suffix(".lock")


@pytest.mark.parametrize(
    ("put", "reason"),
    [
        (lambda path: path.symlink_to(path.with_name("elsewhere")), "expected a regular file, not a symbolic link"),
        (lambda path: (path.touch(), let_others_write(path, 0o002)), r"other users can write to it \(mode 646\)"),
    ],
)
def test_a_foreign_lock_is_neither_waited_for_nor_followed(lock, cache, expected, rewards, put, reason):
    put(lock)
    message = f"^{lock}: {reason}.*, so the compiled suite is kept in memory only; remove this lock"
    with pytest.warns(RuntimeWarning, match=message):
        assert rewards() == expected
    assert list(cache.iterdir()) == [lock]


def test_waiting_for_a_lock_ends(lock, cache, expected, rewards, monkeypatch):
    """A process that is stopped keeps its lock."""
    monkeypatch.setattr(caching, "_PATIENCE_SECONDS", 0)
    descriptor = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.warns(RuntimeWarning, match=f"^{lock}: another process has held this lock for 0 seconds"):
            assert rewards() == expected
    finally:
        os.close(descriptor)
    assert list(cache.iterdir()) == [lock]
    assert rewards() == expected  # the lock file of a process that has ended does not block
    assert [path.suffix for path in cache.iterdir()] == [".pfgen"]
