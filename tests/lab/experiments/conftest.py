from pathlib import Path

import pytest
from pfgen_fast import Suite
from pfgen_fast.lab.experiments.scored_runs import ScoredRuns, score_runs


@pytest.fixture(scope="session")
def scored(varied: Path, mini: Suite) -> ScoredRuns:
    return score_runs([varied], suite=mini, threads=2)


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def write(tmp_path):
    def write(text, name="scores.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
