from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pfgen_fast import Scorer, Suite


@pytest.fixture(scope="session", autouse=True)
def _cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compiled suites of the tests stay out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PFGEN_FAST_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def mini() -> Suite:
    return Suite.load("mini")


@pytest.fixture(scope="session")
def scorer(mini: Suite) -> Scorer:
    return Scorer(mini, threads=2)


@pytest.fixture
def make_suite(tmp_path: Path) -> Callable[..., Path]:
    """Writes a suite of question files and returns its folder; each argument overrides keys of one question."""

    def make(*questions: dict[str, Any]) -> Path:
        for number, changes in enumerate(questions, start=1):
            question = {
                "question_id": f"Q{number:02}",
                "question": f"question {number}?",
                "category": "test",
                "note": "",
                "keywords": [],
                "answers": {"P": ["an answer", "another answer"]},
            }
            question.update(changes)
            path = tmp_path / f"Q{number:02}.json"
            path.write_text(json.dumps(question), encoding="utf-8")
        return tmp_path

    return make
