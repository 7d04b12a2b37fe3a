"""Fixtures and options of all measurements, and the description of the machine in the JSON."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pfgen_fast import Scorer, Suite
from pfgen_fast.base.native import default_threads
from pfgen_fast.oracle import Oracle
from pytest_benchmark.fixture import BenchmarkFixture

from .inputs import Inputs, Mix, evenly, find_inputs
from .measuring import Measure, agree
from .processes import CACHE

_IN_ORDER = (
    *("scoring", "sampling", "sets", "compile", "runs", "building", "discernment"),
    *("checklists", "serving", "scale", "peers"),
)
_INPUTS = pytest.StashKey[Inputs]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pfgen-fast")
    group.addoption("--quick", action="store_true", help="one round and little work, to try whether all runs")
    group.addoption("--whole-scale", action="store_true", help="10 million answers; Ray; an hour of the server")
    group.addoption("--rev", default="", help="the revision with which bench/revisions.py compares")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    names = [f"bench_{name}" for name in _IN_ORDER]
    items.sort(key=lambda item: names.index(item.path.stem) if item.path.stem in names else len(names))


def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: dict[str, Any]) -> None:
    """The environment that figures depend on, from the package version to the processor, without the host name."""
    processor = " ".join(machine_info["cpu"].get("brand_raw", "unknown").split())
    machine_info.clear()
    machine_info["pfgen_fast"] = {
        "pfgen-fast": metadata.version("pfgen-fast"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": metadata.version("numpy"),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor,
        "cores": str(default_threads()),
    }


def pytest_benchmark_update_json(config: pytest.Config, output_json: dict[str, Any]) -> None:
    result = config.stash.get(_INPUTS, None)
    about, published = (result.about, result.published) if result else ("no runs", False)
    output_json["pfgen_fast"] = {"inputs": about, "published": published, "quick": config.getoption("quick")}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Names the data of the measurements, which is not obvious without a checkout."""
    if result := config.stash.get(_INPUTS, None):
        terminalreporter.write_line(f"Measured on {result.about}.")


@pytest.fixture
def measure(benchmark: BenchmarkFixture, request: pytest.FixtureRequest) -> Measure:
    """The benchmark of a test, with the clock of its marker."""
    marker = request.node.get_closest_marker("benchmark")
    clock = marker.kwargs.get("timer", time.perf_counter) if marker else time.perf_counter
    return Measure(benchmark, clock, quick=request.config.getoption("quick"))


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An empty cache, so that this process and its children compile suites."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE, str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="session")
def inputs(pytestconfig: pytest.Config, scratch: Path) -> Inputs:
    result = find_inputs(scratch / "runs", trials=5 if pytestconfig.getoption("quick") else 100)
    pytestconfig.stash[_INPUTS] = result
    return result


@pytest.fixture(scope="session")
def suite(inputs: Inputs) -> Suite:
    return Suite.load(inputs.suite)


@pytest.fixture(scope="session")
def mix(inputs: Inputs) -> Mix:
    return inputs.mix()


@pytest.fixture(scope="session")
def arrow(mix: Mix) -> tuple[Any, Any]:
    return pa.array(mix.questions, pa.string()), pa.array(mix.answers, pa.string())


@pytest.fixture(scope="session")
def sample(pytestconfig: pytest.Config, mix: Mix, suite: Suite) -> Mix:
    """Evenly spaced answers of the mix, to evenly spaced questions of the suite."""
    chosen = {question.question for question in evenly(suite.questions, 6)}
    rows = [row for row, question in enumerate(mix.questions) if question in chosen]
    return mix.part(evenly(rows, 12 if pytestconfig.getoption("quick") else 600))


@pytest.fixture(scope="session")
def oracle(suite: Suite) -> Oracle:
    return Oracle(suite)


@pytest.fixture(scope="session")
def scorers(suite: Suite, oracle: Oracle, mix: Mix, sample: Mix, arrow: tuple[Any, Any]) -> dict[int, Scorer]:
    """Scorers by number of threads. They equal the oracle on the sample, and each other on the whole mix."""
    cores = default_threads()
    created = {threads: Scorer(suite, threads=threads) for threads in sorted({1, 2, cores, 2 * cores})}
    tables = {
        f"{what}, threads: {threads}": scorer.score(*columns)
        for threads, scorer in created.items()
        for what, columns in (("lists", (mix.questions, mix.answers)), ("Arrow columns", arrow))
    }
    expected = next(iter(tables.values()))
    for what, table in tables.items():
        for column in expected.columns:
            agree(f"{what}: {column}", table[column].tobytes(), expected[column].tobytes())
    agree("rewards", created[1].reward(mix.questions, mix.answers).tobytes(), expected.average.tobytes())
    sample_scores = created[1].score(sample.questions, sample.answers)
    for row, asked in enumerate(zip(sample.questions, sample.answers, strict=True)):
        agree("score_one", created[1].score_one(*asked), oracle.score_one(*asked))
        agree("score", sample_scores.details(row), oracle.score_one(*asked))
    return created
