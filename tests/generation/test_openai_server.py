"""The openai engine against an independent server: `transformers serve` with a tiny random model, run locally."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from makers.runs import answers_by_trial
from pfgen_fast.generation.engines.engine_registry import open_engine
from pfgen_fast.generation.generating import generate
from pfgen_fast.generation.prompts import Sampling
from pfgen_fast.generation.setting import Setting

pytestmark = pytest.mark.models

START_SECONDS = 120


@pytest.fixture(scope="module")
def base_url(tiny_model, tmp_path_factory):
    """Starts a server."""
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
            wait_until_ready(f"http://127.0.0.1:{port}/health", process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()
            process.wait()


def wait_until_ready(address, process, log):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(address, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    pytest.fail(f"the server did not start: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}")


@pytest.mark.parametrize("mode", ["completion", "qa", "chat"])
def test_the_server_sees_the_prompt_that_the_engine_transformers_makes(mini, base_url, tiny_model, tmp_path, mode):
    """The most likely answer to a prompt is the same with every engine."""
    sampling = Sampling(max_tokens=12, top_p=1e-9, stop=("Q:",))  # the server samples greedily only by such a top_p
    setting = Setting("tiny", mode, sampling, num_examples=3)
    answers = []
    for name, options in (("transformers", {"device": "cpu", "batch_size": 1}), ("openai", {"base_url": base_url})):
        engine = open_engine(name, suite=mini, model=str(tiny_model), mode=mode, sampling=sampling, **options)
        generated = generate(mini, engine, setting, trials=1, output=tmp_path)
        assert not generated.failed
        answers.append(answers_by_trial(generated.folder))
    assert answers[0] == answers[1]
