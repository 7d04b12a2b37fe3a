from __future__ import annotations

from typing import Any

import pytest
from makers import frames


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    """Generated rows with the keys `id`, `question` and `text`, which have no empty text; tests only read them."""
    columns = zip(*frames.rows(400).values(), strict=True)
    return [{"id": f"{i:05}", "question": key, "text": text or "."} for i, key, text in columns]
