from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from makers.runs import make_varied_runs
from pfgen_fast import Scorer, Suite
from pfgen_fast.cli.app import main

# No test depends on the speed of the machine or on its load.
# The same examples in each run, so that no change fails by chance; .ci/nightly looks for others.
settings.register_profile("pfgen-fast", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", settings.get_profile("pfgen-fast"), derandomize=False, max_examples=300)
settings.load_profile("pfgen-fast")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips tests of models if torch is not installed, unless they are required (make models)."""
    is_there = importlib.util.find_spec("torch") is not None
    if item.get_closest_marker("models") and not is_there and "PFGEN_MODELS_REQUIRED" not in os.environ:
        pytest.skip("torch is not installed")


@pytest.fixture(scope="session", autouse=True)
def _cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps compiled suites of the tests out of the user's cache; what tests put into theirs, others may not write."""
    os.umask(0o022)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PFGEN_FAST_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def mini() -> Suite:
    return Suite.load("mini")


@pytest.fixture(scope="session")
def scorer(mini: Suite) -> Scorer:
    return Scorer(mini, threads=2)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory, mini: Suite) -> Path:
    """The folder of a tiny model with random weights and a chat template."""
    from makers.tiny_model import write_tiny_model

    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny", mini)


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


@pytest.fixture
def call(monkeypatch, capsys):
    """Calls the command in this process and returns (exit code, stdout, stderr)."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["pfgen-fast", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return stop.value.code or 0, captured.out, captured.err

    return run


@pytest.fixture(scope="session")
def varied(tmp_path_factory: pytest.TempPathFactory, mini: Suite) -> Path:
    """A folder with six runs from good to bad."""
    return make_varied_runs(tmp_path_factory.mktemp("varied"), mini)
