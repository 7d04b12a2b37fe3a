from __future__ import annotations

import pytest


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands write their pages without pictures."""
    from makers.undrawn import leave_out_drawing

    leave_out_drawing(monkeypatch)
