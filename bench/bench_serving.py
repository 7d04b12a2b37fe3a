"""The reward server under load: batches and single answers from many connections, next to the scorer in this process.

Every reply is compared with the scorer's, byte by byte. The client shares the processors with the server.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pfgen_fast import Scorer, Suite
from pfgen_fast.base.untrusted_json import json_bytes

from .inputs import ROOT, Inputs, Mix
from .load_client import request
from .measuring import Measure
from .processes import memory

pytestmark = pytest.mark.benchmark(group="serving")
pytest.importorskip("uvicorn")
_BATCHES, _ROUNDS = 100, 5
_SINGLE_CALLS, _CALLS_OF_AN_HOUR = 200_000, 3_600_000


@pytest.fixture(scope="module")
def scorer(suite: Suite) -> Scorer:
    """The scorer with all cores, like the scorer of the server."""
    return Scorer(suite)


@pytest.fixture(scope="module")
def server(inputs: Inputs) -> Iterator[subprocess.Popen[str]]:
    """The command `serve`; its first line names the port."""
    command = [sys.executable, "-m", "pfgen_fast", "serve", "--suite", str(inputs.suite), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.send_signal(signal.SIGTERM)


@pytest.fixture(scope="module")
def port(server: subprocess.Popen[str]) -> int:
    assert server.stdout is not None
    match = re.match(r"http://127\.0\.0\.1:(\d+) ", server.stdout.readline())
    assert match is not None
    return int(match[1])


@pytest.mark.parametrize(("size", "n_connections"), [(64, 8), (256, 1), (256, 8), (256, 64)])
def test_batches(
    measure: Measure, mix: Mix, scorer: Scorer, port: int, tmp_path: Path, size: int, n_connections: int
) -> None:
    """Batches of shuffled answers; the scorer takes the same batches one after the other, on all cores."""
    batches = _batches(mix, size, measure.amount(_BATCHES, least=4))
    file = _written(scorer, batches, tmp_path)
    n_calls = measure.amount(4 * _BATCHES, least=n_connections)
    _load(port, file, n_connections, n_calls // 4 or 1)  # the index comes from the disk
    listed: list[dict[str, float]] = []
    _, scored = measure.times(
        _ROUNDS,
        lambda: listed.append(_load(port, file, n_connections, n_calls)),
        {"scorer": lambda: [scorer.reward(batch.questions, batch.answers) for batch in batches]},
    )
    best = min(listed, key=lambda item: item["seconds"])
    rate, scorer_rate = n_calls * size / best["seconds"], len(batches) * size / scored
    what = f"server, batches of {size}, {n_connections} client{'s' * (n_connections > 1)}"
    measure.row(what, rate, "answers/s", rate / scorer_rate, "the scorer in this process")
    measure.row("  latency: p50", best["p50"] * 1e3, "ms")
    measure.row("  latency: p99", best["p99"] * 1e3, "ms")


def test_single_answers(
    pytestconfig: pytest.Config,
    measure: Measure,
    mix: Mix,
    scorer: Scorer,
    server: subprocess.Popen[str],
    port: int,
    tmp_path: Path,
) -> None:
    """Requests of one answer from 64 connections: their rate, and the memory of the server after a tenth and all.

    With --whole-scale they are as many as an hour of a thousand a second has.
    """
    file = _written(scorer, _batches(mix, 1, 2000), tmp_path)
    n_calls = measure.amount(_CALLS_OF_AN_HOUR if pytestconfig.getoption("whole_scale") else _SINGLE_CALLS)
    _load(port, file, 64, n_calls // 10)
    before = memory("VmRSS", server.pid)
    listed: list[dict[str, float]] = []
    measure.seconds(1, lambda: listed.append(_load(port, file, 64, n_calls)))
    grown = memory("VmRSS", server.pid) - before
    measure.row(f"server, {n_calls:,} requests of one answer, 64 clients", n_calls / listed[0]["seconds"], "requests/s")
    measure.row("  latency: p50", listed[0]["p50"] * 1e3, "ms")
    measure.row("  latency: p99", listed[0]["p99"] * 1e3, "ms")
    measure.row("  growth of resident memory", grown / 1e6, "MB")


def _batches(mix: Mix, size: int, n: int) -> list[Mix]:
    rows = random.Random(0).choices(range(len(mix)), k=size * n)
    return [mix.part(rows[first : first + size]) for first in range(0, len(rows), size)]


def _written(scorer: Scorer, batches: Sequence[Mix], folder: Path) -> Path:
    """A file with the requests for batches, and the expected replies."""
    calls = [
        (
            request("/reward", json_bytes({"questions": batch.questions, "answers": batch.answers}, is_compact=True)),
            json_bytes(
                {
                    "rewards": scorer.reward(batch.questions, batch.answers),
                    "signature": scorer.signature,
                },
                is_compact=True,
            ),
        )
        for batch in batches
    ]
    file = folder / "calls"
    file.write_bytes(pickle.dumps(calls))
    return file


def _load(port: int, file: Path, n_connections: int, n_calls: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.load_client", str(port), str(file), str(n_connections), str(n_calls)]
    run = subprocess.run(command, cwd=ROOT, env=os.environ, stdout=subprocess.PIPE, check=True)
    parsed: dict[str, float] = json.loads(run.stdout)
    return parsed
