import importlib.util
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from makers import effort
from makers.pages import leave_out_drawing
from makers.published import needs_discernment_data, needs_hellobench, needs_published_runs
from makers.runs import make_varied_runs
from pfgen_fast import Scorer, Suite
from pfgen_fast.cli.app import main

# No test depends on the speed of the machine or on its load, and each run draws the same examples, so that no change
# fails by chance; .ci/nightly looks for others.
settings.register_profile(
    "quick", deadline=None, derandomize=True, max_examples=8, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("rest", settings.get_profile("quick"), max_examples=25)
settings.register_profile("all", settings.get_profile("quick"), max_examples=100)
settings.register_profile("explore", settings.get_profile("all"), derandomize=False, max_examples=300)

MOST_REASONS = 10
NEEDS_DATA = (needs_published_runs.mark, needs_hellobench.mark, needs_discernment_data.mark)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of `make test-all`."""
    group = parser.getgroup("pfgen-fast")
    group.addoption("--all", action="store_true", help="run all tests, with all generated examples")
    group.addoption(
        "--rest",
        action="store_true",
        help="run slow tests, and others with more generated examples, but no nightly tests",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Decides how much the tests repeat, before they are imported."""
    is_rest = config.getoption("--rest")
    profile, effort.divisor = ("rest", 4) if is_rest else ("all", 1) if config.getoption("--all") else ("quick", 16)
    settings.load_profile(profile)
    if profile == "quick":  # without the constants of all modules, which each process would parse for seconds
        providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(trylast=True)  # after Hypothesis has marked its tests
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out slow tests unless `--all` or `--rest` is given, and nightly tests unless `--all` is given."""

    def is_chosen(item: pytest.Item) -> bool:
        is_slow, is_nightly = (item.get_closest_marker(name) is not None for name in ("slow", "nightly"))
        if not config.getoption("--rest"):
            return config.getoption("--all") or not (is_slow or is_nightly)
        if is_nightly:
            return False
        needs_data = any(mark in NEEDS_DATA for mark in item.iter_markers("skipif"))
        return is_slow or needs_data or item.get_closest_marker("hypothesis") is not None

    config.hook.pytest_deselected(items=[item for item in items if not is_chosen(item)])
    items[:] = filter(is_chosen, items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Ends with the number of skipped tests by reason, in at most ten lines."""
    skipped = Counter(
        "a package is not installed: make engines, make integrations, make models"
        if re.search("not installed|could not import", reason)
        else reason.removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        for _, _, reason in [report.longrepr]
    )
    lines = [f"{n}: {reason}" for reason, n in skipped.most_common()]
    if len(lines) > MOST_REASONS:
        others = sum(n for _, n in skipped.most_common()[MOST_REASONS - 1 :])
        lines[MOST_REASONS - 1 :] = [f"{others}: other reasons, which pytest -rs lists"]
    if lines:
        terminalreporter.section("skipped tests by reason", sep="-")
        terminalreporter.write("\n".join(lines) + "\n")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips tests of models if torch is not installed, unless they are required (make models)."""
    is_there = importlib.util.find_spec("torch") is not None
    if item.get_closest_marker("models") and not is_there and "PFGEN_MODELS_REQUIRED" not in os.environ:
        pytest.skip("torch is not installed")


@pytest.fixture(scope="session", autouse=True)
def _plain_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps compiled suites in a cache of this run, shared by all workers, and hides servers and keys of the user."""
    os.umask(0o022)
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)  # no test cuts the power, and each call waits for the disk
        patch.setenv("PFGEN_FAST_CACHE", str(folder))
        patch.setenv("PFGEN_FAST_HOME", str(base / "home"))
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            patch.delenv(name, raising=False)  # of the user, which tests of servers must not find
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


@pytest.fixture
def printed(call):
    """Calls a command that succeeds, and returns its stdout."""

    def run(*arguments: object) -> str:
        code, out, err = call(*arguments)
        assert code == 0, err
        return out

    return run


@pytest.fixture
def refused(call):
    """Calls a command that is refused with exit code 2 before it prints anything, and returns its stderr."""

    def run(*arguments: object) -> str:
        code, out, err = call(*arguments)
        assert (code, out) == (2, ""), err
        return err

    return run


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are written without their pictures."""
    leave_out_drawing(monkeypatch)


@pytest.fixture(scope="session")
def varied(tmp_path_factory: pytest.TempPathFactory, mini: Suite) -> Path:
    """A folder with six runs from good to bad."""
    return make_varied_runs(tmp_path_factory.mktemp("varied"), mini)


@pytest.fixture
def suites_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty directory of fetched suites; the packaged suite is published as `pfgen-bench`, without its address."""
    from makers.suite_files import write_manifest
    from pfgen_fast.suite import fetching as downloads
    from pfgen_fast.suite import published as published

    monkeypatch.setattr(published, "_MANIFESTS", write_manifest(tmp_path / "manifests"))
    monkeypatch.setattr(downloads, "_PAUSE_SECONDS", 0.001)
    monkeypatch.setenv("PFGEN_FAST_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "suites"
