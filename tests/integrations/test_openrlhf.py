"""Rewards for OpenRLHF: its own client against a running server, and the file that it loads by its path."""

import asyncio
import importlib.util
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from makers.documented import DOCS
from makers.engines import integration, run_python_blocks
from makers.reward_server import TOKEN, serving
from pfgen_fast import PfgenError
from pfgen_fast.integrations import openrlhf as ours

PROMPT = "Q: Why does ice float on water?\nA:"
ANSWERS = ["Ice is about 9% less dense than water: its molecules freeze into a lattice.", "Because.", ""]
QUERIES = [f"{PROMPT} {answer}</s>" for answer in ANSWERS]
PROMPTS, LABELS = [PROMPT] * 3, ["Q07", "Why does ice float on water?", "Q07"]


@pytest.fixture(scope="module")
def executor():
    """OpenRLHF's module that asks for rewards, without the package around it, which imports deepspeed and more."""
    integration("aiohttp")
    if importlib.util.find_spec("openrlhf") is None:
        integration("openrlhf")
    folder = Path(next(iter(importlib.util.find_spec("openrlhf").submodule_search_locations)))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("openrlhf", "openrlhf.utils"):
            package = types.ModuleType(name)
            package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
            patch.setitem(sys.modules, name, package)
        from openrlhf.utils import agent

        yield agent.SingleTurnAgentExecutor


@pytest.mark.integrations
def test_its_client_gets_the_rewards_of_the_scorer_and_shows_a_token_that_is_in_the_address(executor, scorer):
    with serving("--suite", "mini", env={"PFGEN_FAST_TOKEN": TOKEN}) as running:
        agent = executor(running.url.replace("//", f"//trainer:{TOKEN}@") + "/get_reward")
        [query] = asyncio.run(agent._fetch_rewards_via_http(QUERIES, PROMPTS, LABELS))
    expected = scorer.score("Q07", ANSWERS)
    assert query["rewards"] == query["scores"] == expected.average.tolist()
    assert query["extra_logs"]["helpfulness"] == expected.helpfulness.tolist()


@pytest.mark.integrations
def test_it_loads_the_file_and_gets_the_same(executor, scorer, monkeypatch):
    torch = integration("torch")
    monkeypatch.setenv(ours.SUITE, "mini")
    path = subprocess.run(
        [sys.executable, "-m", "pfgen_fast.integrations.openrlhf"], capture_output=True, text=True, check=True
    ).stdout.strip()
    agent = executor(path)
    [query] = asyncio.run(agent._fetch_rewards_via_func(QUERIES[:1], PROMPTS[:1], LABELS[:1]))
    expected = scorer.score("Q07", ANSWERS)
    assert query["rewards"].tolist() == expected.average[:1].tolist()
    query = agent.reward_func(QUERIES, PROMPTS, LABELS)
    assert query["rewards"].dtype == torch.float64
    assert query["rewards"].numpy().tobytes() == query["scores"].numpy().tobytes() == expected.average.tobytes()
    assert query["extra_logs"]["fluency"].numpy().tobytes() == expected.fluency.tobytes()


@pytest.mark.integrations
def test_ray_can_send_the_function_as_openrlhf_does(executor, monkeypatch):
    cloudpickle = integration("cloudpickle")
    monkeypatch.setenv(ours.SUITE, "mini")
    agent = executor(str(Path(ours.__file__)))
    sent = cloudpickle.dumps(agent.reward_func)
    script = (
        "import pickle, sys; function = pickle.load(sys.stdin.buffer)\n"
        "print(function(['p Ice.'], ['p'], ['Q07'])['rewards'].tolist())"
    )
    run = subprocess.run([sys.executable, "-c", script], input=sent, capture_output=True, check=True)
    assert run.stdout.decode().strip() == str(ours.reply(["p Ice."], ["p"], ["Q07"])["rewards"].tolist())


def test_the_suite_and_the_mode_are_those_of_the_environment(scorer, monkeypatch):
    monkeypatch.delenv(ours.SUITE, raising=False)
    with pytest.raises(PfgenError, match="PFGEN_FAST_SUITE is not set"):
        ours.reply(QUERIES, PROMPTS, LABELS)
    monkeypatch.setenv(ours.SUITE, "mini")
    assert np.array_equal(ours.reply(QUERIES, PROMPTS, LABELS)["rewards"], scorer.reward("Q07", ANSWERS))
    monkeypatch.setenv(ours.MODE, "chat")
    with_lead_in = [f"{PROMPT} Well. A: {answer}</s>" for answer in ANSWERS]
    assert np.array_equal(ours.reply(with_lead_in, PROMPTS, LABELS)["rewards"], scorer.reward("Q07", ANSWERS))
    monkeypatch.setenv(ours.MODE, "talk")
    with pytest.raises(PfgenError, match="unknown mode 'talk'"):
        ours.reply(QUERIES, PROMPTS, LABELS)
    monkeypatch.delenv(ours.SUITE)
    monkeypatch.setenv(ours.MODE, "completion")
    monkeypatch.setenv("PFGEN_FAST_METRIC", "chrf")
    assert ours.reply(QUERIES[:2], PROMPTS[:2], [[ANSWERS[0], "No."], "Because."])["rewards"].tolist() == [100, 100]


def test_the_documented_example_runs(capsys):
    assert run_python_blocks(DOCS / "integrations" / "openrlhf.md") == 1
    assert capsys.readouterr().out.startswith("[0.3533")
