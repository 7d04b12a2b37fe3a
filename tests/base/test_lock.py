"""Locks: a link in the place of a lock file is not followed, and a FIFO is not waited for."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
from pfgen_fast import PfgenError
from pfgen_fast.base.file_writing import held

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no FIFOs and no links for everybody here")


@pytest.mark.parametrize("target", ["missing", "there"])
def test_a_lock_that_is_a_link_is_refused_and_not_followed(tmp_path, target):
    (tmp_path / "there").write_bytes(b"kept")
    lock = tmp_path / ".lock"
    lock.symlink_to(tmp_path / target)
    with pytest.raises(PfgenError, match=r"\.lock: cannot be locked: "), held(lock):
        pytest.fail("the lock is held")
    assert {path.name for path in tmp_path.iterdir()} == {"there", ".lock"}
    assert (tmp_path / "there").read_bytes() == b"kept"


def test_a_fifo_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / ".lock")
    script = "import sys, pathlib, pfgen_fast.base.file_writing as f; f.held(pathlib.Path(sys.argv[1])).__enter__()"
    subprocess.run([sys.executable, "-c", script, tmp_path / ".lock"], check=True, timeout=60)


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
