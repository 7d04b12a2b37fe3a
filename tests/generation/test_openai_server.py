"""The openai engine against an independent server: `transformers serve` with a tiny random model, run locally."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers.runs import answers_by_trial
from pfgen_fast.generation import Setting, generate
from pfgen_fast.generation.engines import Sampling, open_engine

pytestmark = pytest.mark.models

START_SECONDS = 120


@pytest.fixture(scope="module")
def server(tiny_model, tmp_path_factory) -> Iterator[str]:
    """Starts a server and yields its base URL."""
    command = shutil.which("transformers", path=str(Path(sys.executable).parent))
    assert command, "transformers[serving] is not installed beside this Python"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    arguments = ["serve", str(tiny_model), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen([command, *arguments], stdout=output, stderr=output, env=environment)
        try:
            wait_until_ready(port, process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until_ready(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    import httpx

    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    pytest.fail(f"the server did not start: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}")


def answers_of(mini, server, model, output, mode, sampling):
    engine = open_engine("openai", suite=mini, model=str(model), mode=mode, sampling=sampling, base_url=server)
    setting = Setting("tiny", mode, sampling, num_examples=3)
    generated = generate(mini, engine, setting, trials=1, output=output)
    assert not generated.failed
    return answers_by_trial(generated.folder)[1]


@pytest.mark.parametrize("mode", ["completion", "qa", "chat"])
def test_the_server_sees_the_prompt_that_the_engine_transformers_makes(mini, server, tiny_model, tmp_path, mode):
    """The most likely answer to a prompt is the same with every engine."""
    sampling = Sampling(max_tokens=12, top_p=1e-9, stop=("Q:",))  # greedy; the server has no other way
    setting = Setting("tiny", mode, sampling, num_examples=3)
    engine = open_engine(
        "transformers", suite=mini, model=str(tiny_model), mode=mode, sampling=sampling, device="cpu", batch_size=1
    )
    local = generate(mini, engine, setting, trials=1, output=tmp_path / "local")
    served = answers_of(mini, server, tiny_model, tmp_path / "served", mode, sampling)
    assert served == answers_by_trial(local.folder)[1]
