from __future__ import annotations

from dataclasses import replace

import pytest
from pfgen_fast import Suite


@pytest.fixture(scope="session")
def small(mini: Suite) -> Suite:
    questions = (
        replace(question, answers={name: texts[:30] for name, texts in question.answers.items()}) for question in mini
    )
    return Suite("small", tuple(questions), mini.metadata_hash)


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
