"""Pages without their pictures: matplotlib takes most of the time of an experiment."""

from __future__ import annotations

import pytest
from pfgen_fast.report import findings

_SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>'
_CONTENTS = {"png": b"\x89PNG\r\n\x1a\n", "svg": _SVG}


def leave_out_drawing(patch: pytest.MonkeyPatch) -> None:
    """Stores empty pictures in place of charts."""
    patch.setattr(findings, "drawn", lambda chart: None)
    patch.setattr(findings, "stored_alike", lambda figure, forms: [_CONTENTS[form] for form in forms])
