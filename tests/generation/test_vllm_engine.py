"""The vllm engine: its use of vLLM's interface, and vLLM itself if it is installed."""

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import ClassVar

import pytest
from makers.asked_engines import answers_to
from pfgen_fast.base.errors import EngineError
from pfgen_fast.generation.engines.engine_registry import open_engine
from pfgen_fast.generation.generating import generate
from pfgen_fast.generation.prompts import Sampling, make_tasks
from pfgen_fast.generation.setting import Setting


@dataclass(kw_only=True)
class FakeSamplingParams:
    """The parameters of vllm 0.32 that the engine may use; others are errors, as in vLLM."""

    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int | None = None
    stop: list[str] = field(default_factory=list)
    max_tokens: int | None = 16


class FakeTokenizer:
    chat_template = "{{ messages }}"
    eos_token_id = 0
    added_tokens_decoder: ClassVar = {}

    def decode(self, tokens, **_):
        return "".join(map(chr, tokens))

    def __call__(self, text):
        return {"input_ids": [*map(ord, text), self.eos_token_id]}

    def apply_chat_template(self, messages, **_):
        return str(messages)


class FakeLLM:
    """Has methods of `vllm.LLM` with the same arguments; answers with the seed, and does not cut at stop strings."""

    def __init__(self, model, **arguments):
        if model == "no/such":
            raise OSError("no/such is not a local folder\nand is not a valid model identifier")
        self.arguments = {"model": model, **arguments}
        self.asked = []
        FakeLLM.made = self

    def get_tokenizer(self):
        return FakeTokenizer()

    def generate(self, prompts, sampling_params, *, use_tqdm):
        return self._answer(["".join(map(chr, prompt["prompt_token_ids"])) for prompt in prompts], sampling_params)

    def chat(self, messages, sampling_params, use_tqdm, *, chat_template=None, chat_template_kwargs=None):
        assert all(isinstance(message, dict) for conversation in messages for message in conversation)
        self.templates = (chat_template, chat_template_kwargs)
        return self._answer(messages, sampling_params)

    def _answer(self, prompts, params):
        assert len(prompts) == len(params)
        if len(str(prompts[0])) > 100_000:
            raise ValueError("the prompt is longer than the maximum model length")
        self.asked += zip(prompts, params, strict=True)
        drawn = [
            SimpleNamespace(text=f"answer {param.seed} Q: more", token_ids=[1], finish_reason="stop")
            for param in params
        ]
        return [SimpleNamespace(outputs=[item], prompt_token_ids=[65, 58]) for item in drawn]


USUAL = {
    "model": "m", "dtype": "auto", "tensor_parallel_size": 1,
    "trust_remote_code": False, "generation_config": "vllm",
}  # fmt: skip
"""The arguments of `vllm.LLM` without options."""


@pytest.fixture
def fake_vllm(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", SimpleNamespace(LLM=FakeLLM, SamplingParams=FakeSamplingParams))
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "ERROR")


@pytest.mark.parametrize("mode", ["completion", "qa", "chat"])
def test_every_request_has_the_prompt_and_the_seed_of_its_task(mini, fake_vllm, mode):
    sampling = Sampling(max_tokens=7, temperature=0.5, top_p=0.9, top_k=11, stop=("Q:",))
    engine = open_engine("vllm", suite=mini, model="m", mode=mode, sampling=sampling, tensor_parallel=2)
    tasks = [task for trial in range(1, 71) for task in make_tasks(mini, trial, mode=mode, num_examples=2)]
    assert answers_to(engine, tasks) == {index: f"answer {task.seed} " for index, task in enumerate(tasks)}
    assert FakeLLM.made.arguments == {**USUAL, "tensor_parallel_size": 2}
    for task, (prompt, params) in zip(tasks, FakeLLM.made.asked, strict=True):
        assert prompt == (task.prompt.text if mode == "completion" else list(task.prompt.messages))
        assert params == FakeSamplingParams(
            temperature=0.5, top_p=0.9, top_k=11, seed=task.seed, stop=["Q:"], max_tokens=7
        )


def test_options_reach_vllm_and_are_recorded_if_they_affect_answers(mini, fake_vllm, tmp_path):
    (tmp_path / "chat.jinja").write_text("{{ messages }}\n")
    engine = open_engine(
        "vllm",
        suite=mini,
        model="org/m",
        mode="qa",
        path=str(tmp_path),
        engine_args={"gpu_memory_utilization": 0.5, "quantization": "fp8"},
        trust_remote_code=True,
        chat_template=str(tmp_path / "chat.jinja"),
        enable_thinking=False,
    )
    answers_to(engine, make_tasks(mini, 1, mode="qa"))
    wanted = {"gpu_memory_utilization": 0.5, "quantization": "fp8"}
    loaded = {"model": str(tmp_path), "trust_remote_code": True}
    assert FakeLLM.made.arguments == {**USUAL, **loaded, **wanted}
    assert FakeLLM.made.templates == ("{{ messages }}\n", {"enable_thinking": False})
    assert {name: value for name, value in engine.parameters.items() if value is not None} == {
        "engine_args": {"quantization": "fp8"},
        "chat_template": "{{ messages }}\n",
        "enable_thinking": False,
    }
    usual = open_engine("vllm", suite=mini, model="org/m", mode="qa")
    assert FakeLLM.made.arguments == {**USUAL, "model": "org/m"}
    answers_to(usual, make_tasks(mini, 1, mode="qa"))
    assert FakeLLM.made.templates == (None, None)
    assert set(usual.parameters.values()) == {None}


def test_an_error_of_vllm_is_one_sentence(mini, fake_vllm, monkeypatch, tmp_path):
    with pytest.raises(EngineError, match=r"no/such cannot be loaded by vLLM: no/such is not a local folder and"):
        open_engine("vllm", suite=mini, model="no/such", mode="chat")
    engine = open_engine("vllm", suite=mini, model="m", mode="chat")
    asked = r"\(asked for Q01 in trial 1 and 7 others\)"
    with pytest.raises(EngineError, match=rf"vLLM, model m: the prompt is longer .* {asked}"):
        generate(mini, engine, Setting("m", "chat", prefix="x" * 100_000), trials=1, output=tmp_path / "result")
    assert not (tmp_path / "result").exists()
    monkeypatch.setattr(FakeTokenizer, "chat_template", None)
    with pytest.raises(EngineError, match="has no chat template"):
        open_engine("vllm", suite=mini, model="m", mode="chat")
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(EngineError, match=r"needs vllm, .*pip install 'pfgen-fast\[vllm\]'"):
        open_engine("vllm", suite=mini, model="m", mode="chat")


@pytest.mark.models
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
@pytest.mark.parametrize("mode", ["completion", "chat"])
def test_vllm_itself_answers(tiny_model, tmp_path, mode):
    """Runs in a separate process, because vLLM starts others and leaves threads."""
    command = (
        f"-m pfgen_fast generate -e vllm --model {tiny_model} --suite mini --trials 2 --max-tokens 20 --mode {mode}"
    )
    options = ["--dtype", "float32", "--engine-args", '{"max_model_len": 8192}', "--output", str(tmp_path), "--json"]
    environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    run = subprocess.run(
        [sys.executable, *command.split(), *options], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert '"n_new": 16' in run.stdout or '"n_new":16' in run.stdout
