"""The collector of cycles runs again after it was paused, whatever happened meanwhile."""

from __future__ import annotations

import gc

import pytest
from pfgen_fast.files.gc_pause import without_collector


def test_the_collector_runs_again_after_an_error_but_overlapping_pauses_leave_it_to_the_first():
    with pytest.raises(ZeroDivisionError), without_collector():
        _ = 1 / gc.isenabled()
    assert gc.isenabled()
    with without_collector():
        with without_collector():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
