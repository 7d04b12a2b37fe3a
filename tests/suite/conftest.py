from pathlib import Path

import pytest
from pfgen_fast import _core


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an empty cache; it is not made yet."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("PFGEN_FAST_CACHE", str(folder))
    return folder


@pytest.fixture
def forbid_building(monkeypatch: pytest.MonkeyPatch):
    """A function after whose call a test fails if an index is built."""

    def forbid() -> None:
        monkeypatch.setattr(_core, "compile", lambda *_: pytest.fail("an index is built"))

    return forbid
