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
