"""Fixtures of all measures, options, and what the JSON says of the machine."""

from __future__ import annotations

import platform
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from pfgen_fast import Suite
from pfgen_fast.native.threads import default_threads
from pytest_benchmark.fixture import BenchmarkFixture

from .inputs import Inputs, Mix, find_inputs
from .measuring import Measure

_CPUS = Path("/proc/cpuinfo")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of this bench."""
    group = parser.getgroup("pfgen-fast")
    group.addoption("--quick", action="store_true", help="one round and little work, to try whether all runs")
    group.addoption("--rev", default="", help="the revision with which bench/revisions.py compares")


def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: dict[str, Any]) -> None:
    """Adds all that figures depend on, from the version of the package to the processor."""
    machine_info["pfgen_fast"] = {
        "pfgen-fast": metadata.version("pfgen-fast"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": metadata.version("numpy"),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(default_threads()),
    }


def _processor() -> str:
    if _CPUS.exists():
        for line in _CPUS.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or "unknown processor"


def pytest_benchmark_update_json(config: pytest.Config, output_json: dict[str, Any]) -> None:
    """Adds what was measured on, which the table shows."""
    about = config.stash.get(_ABOUT, None)
    output_json["pfgen_fast"] = {"about": about, "quick": config.getoption("quick")}


_ABOUT = pytest.StashKey[str]()


@pytest.fixture
def measure(benchmark: BenchmarkFixture, request: pytest.FixtureRequest) -> Measure:
    """The benchmark of a test, by the clock that its marker names."""
    marker = request.node.get_closest_marker("benchmark")
    clock = marker.kwargs.get("timer", time.perf_counter) if marker else time.perf_counter
    return Measure(benchmark, clock, quick=request.config.getoption("quick"))


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for whatever is made."""
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="session")
def inputs(pytestconfig: pytest.Config, scratch: Path) -> Inputs:
    """The published runs, or else those of the packaged suite."""
    found = find_inputs(scratch / "runs", trials=5 if pytestconfig.getoption("quick") else 100)
    pytestconfig.stash[_ABOUT] = found.about
    return found


@pytest.fixture(scope="session")
def suite(inputs: Inputs) -> Suite:
    """The suite of the runs."""
    return Suite.load(inputs.suite)


@pytest.fixture(scope="session")
def mix(inputs: Inputs) -> Mix:
    """All answers of the runs."""
    return inputs.mix()
