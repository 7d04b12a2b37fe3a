from __future__ import annotations

import pytest

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "GOOGLE_API_KEY", "ANTHROPIC_AUTH_TOKEN", "HTTP_PROXY", "ALL_PROXY")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    """Removes the variables that engines and their HTTP client read."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
