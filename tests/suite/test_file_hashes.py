"""The cache of file hashes: a cached hash always equals the hash of the file."""

import hashlib
import os
import time

import pytest
from pfgen_fast.suite import suite_reading as remembering
from pfgen_fast.suite.suite_reading import file_hashes

pytestmark = pytest.mark.skipif(os.name != "posix", reason="hashes are only remembered on POSIX systems")


@pytest.fixture
def paths(tmp_path, cache, monkeypatch):
    """Two files that are large enough to be cached, some time after they were written."""
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / name).write_bytes(name.encode() * (1 << 19))
    later = time.time_ns() + 10_000_000_000
    monkeypatch.setattr(remembering.time, "time_ns", lambda: later)
    return [folder / "a", folder / "b"]


@pytest.fixture
def hashed(monkeypatch):
    """The files that were actually hashed, not found in the cache."""
    seen = []
    hash_one = remembering.file_sha1
    monkeypatch.setattr(remembering, "file_sha1", lambda path, **_: seen.append(path.name) or hash_one(path))
    return seen


def expected(paths):
    return [hashlib.sha1(path.read_bytes()).hexdigest() for path in paths]


def memory_of(cache):
    (path,) = cache.glob("*.hashes")
    return path


@pytest.mark.parametrize("change", ["content", "other file"])
def test_files_are_hashed_once_and_a_change_is_noticed_though_size_and_time_stay(paths, hashed, change):
    assert file_hashes(paths) == file_hashes(paths) == expected(paths)
    assert sorted(hashed) == ["a", "b"]
    before = paths[0].stat()
    path = paths[0] if change == "content" else paths[0].with_name("other")
    while not path.exists() or path.stat().st_ctime_ns == before.st_ctime_ns:  # no change within a tick is detectable
        path.write_bytes(b"x" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    path.replace(paths[0])
    assert file_hashes(paths) == expected(paths)
    assert len(hashed) == 4


def test_hashes_of_files_that_change_meanwhile_are_not_stored(paths, cache, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(remembering.time, "time_ns", lambda: paths[0].stat().st_ctime_ns + 1_000_000_000)
        assert file_hashes(paths) == expected(paths)
    assert not list(cache.glob("*"))

    def hash_and_touch(path, **_):
        os.utime(path, ns=(0, 0))
        return "0" * 40

    monkeypatch.setattr(remembering, "file_sha1", hash_and_touch)
    file_hashes(paths)
    assert not list(cache.glob("*"))


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.nightly)])
def test_damaged_hashes_are_ignored(paths, cache, every):
    file_hashes(paths)
    good = memory_of(cache).read_bytes()
    for index in range(0, len(good), every):
        for damaged in (good[:index], good[:index] + bytes([good[index] ^ 1]) + good[index + 1 :]):
            memory_of(cache).write_bytes(damaged)
            assert file_hashes(paths) == expected(paths)


def test_hashes_that_others_may_have_written_are_not_trusted(paths, cache, hashed):
    file_hashes(paths)
    memory_of(cache).chmod(0o620)
    for n_hashed in (4, 4):  # the file is written again
        assert file_hashes(paths) == expected(paths)
        assert len(hashed) == n_hashed


def test_hashes_of_small_files_are_not_stored_and_a_cache_is_not_needed(paths, tmp_path, cache, monkeypatch):
    path = tmp_path / "small"
    path.write_bytes(b"small")
    assert file_hashes([path]) == expected([path])
    assert not cache.exists()
    cache.write_bytes(b"a file, not a folder")
    assert file_hashes(paths) == expected(paths)
    monkeypatch.setenv("PFGEN_FAST_CACHE", "")
    assert file_hashes(paths) == expected(paths)
