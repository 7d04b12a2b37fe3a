from __future__ import annotations

from typing import Any

import pytest
from makers.generated_answers import generated_rows


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    """Generated rows, which tests only read."""
    return generated_rows(400)
