"""Runs get the folders of the published runs with the same parameters: the options that lead to each kind of them.

The names are public; they are hashes of a run's parameters and say nothing of its texts. Two of these runs were moved
after they were made (to ABEJA/ and openai/).
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest
from pfgen_fast.generation import setting

PUBLISHED = [
    ("01-ai/Yi-1.5-34B-Chat/39ffa65", "-e vllm"),
    ("01-ai/Yi-1.5-34B-Chat/868c125", "-e vllm --mode qa"),
    ("SakanaAI/TinySwallow-1.5B-Instruct/5e03054", "-e vllm --mode chat"),
    ("microsoft/phi-1/3b01d51", "-e vllm --examples 10"),
    ("abeja/ABEJA-Qwen2.5-32b-Japanese-v0.1/774318f", "-e vllm --dtype float16"),
    ("Fugaku-LLM/Fugaku-LLM-13B/f6c131f", "-e hf"),
    ("weblab-GENIAC/Tanuki-8x8B-dpo-v1.0/4f54fa3", "-e hf --mode qa"),
    ("Qwen/Qwen3-8B/3335bd5", "-e hf --mode chat"),
    ("Qwen/Qwen3-8B/04ac570", "-e hf --mode chat --enable-thinking --temperature 0.6 --top-p 0.95"),
    ("Qwen/Qwen3-235B-A22B-FP8/5df0f70", "-e hf --mode chat --enable-thinking"),
    ("Qwen/Qwen3-30B/d5b12d3", "-e hf --mode qa --enable-thinking"),
    ("Qwen/Qwen3-0.6B/689490a", "-e openai-api --mode qa --top-p none"),
    ("Qwen/Qwen3-0.6B/1cd48a3", "-e openai-api --mode chat --top-p none"),
    ("Qwen/Qwen3-32B/ada306e", "-e openai-api --temperature 0.7 --top-p none"),
    ("mlx-community/plamo-2-1b/5765e3a", "-e openai-api -T0 --top-p none"),
    ("Qwen/Qwen3-8B/667d843", "-e openai-api --mode chat --disable-thinking"),
    ("Qwen/Qwen3-235B-A22B/89946a4", "-e openai-api --disable-thinking"),
    ("chatgpt-4o-latest/f029db6", "-e openai-api --mode qa --enable-thinking"),
    ("openai/chatgpt-o1/9a61e92", "-e manual --mode qa"),
    ("openai/chatgpt-o1-pro/8e09b44", "-e manual --mode qa"),
]


JAPANESE = {"question": "なぜ？"}
"""A question in the language of the published suite, because the texts of the prompts depend on it."""


@pytest.fixture
def nothing_is_loaded(monkeypatch):
    """Engines that need a key or packages for models open without."""
    monkeypatch.setitem(sys.modules, "vllm", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(setting, "_has_template", lambda *weights: False)
    monkeypatch.setenv("OPENAI_API_KEY", "key")


def folder_of(call, suite, options):
    arguments = options.replace("-T0", "--temperature 0").split()
    code, out, err = call("sweep", *arguments, "--suite", suite, "--dry-run", "--json")
    assert (code, err) == (0, "")
    ((row,),) = [json.loads(out)]
    return Path(row["run"]).as_posix()


@pytest.mark.usefixtures("nothing_is_loaded")
@pytest.mark.parametrize(("folder", "options"), PUBLISHED)
def test_the_options_of_a_published_run_lead_to_its_folder(call, make_suite, folder, options):
    model = folder.rpartition("/")[0]
    assert folder_of(call, make_suite(JAPANESE), f"{options} -m {model}") == f"result/{folder}"


def digits_of(config):
    return hashlib.sha1(json.dumps(config, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:7]


@pytest.mark.usefixtures("nothing_is_loaded")
@pytest.mark.parametrize("engine", ["vllm", "hf"])
def test_a_chat_template_and_a_prefix_are_hashed_as_the_published_script_does(call, make_suite, tmp_path, engine):
    suite = make_suite(JAPANESE)
    template = "{% for m in messages %}“{{ m['content'] }}”\n{% endfor %}\n"
    (tmp_path / "chat.jinja").write_text(template, encoding="utf-8")
    options = f"-e {engine} -m org/m --mode qa --path /weights --trust-remote-code --prefix Hi.\\n --stop <|end|>"
    config = {
        "temperature": 1.0,
        "top_p": 0.98,
        "engine": engine,
        "model": "org/m",
        "mode": "qa",
        "num_examples": 20,
        "stop": ["Q:", "<|end|>"],
        "max_tokens": 300,
        "prefix": "Hi.\\n",  # as it was given, with a backslash
        "chat_template": template,
    }
    folder = folder_of(call, suite, f"{options} --chat-template {tmp_path / 'chat.jinja'}")
    assert folder == f"result/org/m/{digits_of(config)}"
    if engine == "vllm":
        more = f" --chat-template {tmp_path / 'chat.jinja'} --quantization fp8"
        config["quantization"] = "fp8"
        assert folder_of(call, suite, options + more) == f"result/org/m/{digits_of(config)}"
