"""The programs in examples/, each against its training library, with a tiny random model."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import sys

import pytest
from makers.documented import tool
from makers.engines import integration
from pfgen_fast.generation.prompts import make_tasks


@pytest.fixture
def watch(tmp_path, tiny_model, monkeypatch):
    """Evaluates two checkpoints in a folder of trainings by the command."""

    def watching(step, *options):
        for number in (20, 100):
            checkpoint = tmp_path / "training" / f"checkpoint-{number}"
            shutil.copytree(tiny_model, checkpoint)
            (checkpoint / "trainer_state.json").write_text(json.dumps({step: number}))
        usual = "--trials 1 --examples 2 --max-tokens 8 --device cpu --mode qa --once"
        command = ["watch_checkpoints.py", str(tmp_path / "training"), "--output", str(tmp_path / "result")]
        monkeypatch.setattr(sys, "argv", [*command, *usual.split(), *options])
        tool("watch_checkpoints", "examples").main()

    return watching


@pytest.mark.models
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("mode", ["completion", "qa"])
def test_trl_trains_with_the_scores_of_its_own_completions(mini, scorer, tiny_model, tmp_path, monkeypatch, mode):
    from safetensors.torch import load_file

    grpo = tool("grpo_reward", "examples")
    calls = []

    def recorded(*arguments):
        reward = grpo_make_reward(*arguments)

        def recording(prompts, completions, **columns):
            rewards = reward(prompts, completions, **columns)
            calls.append((prompts, completions, columns["question"], rewards))
            return rewards

        return recording

    grpo_make_reward = grpo.make_reward
    monkeypatch.setattr(grpo, "make_reward", recorded)
    options = "--steps 2 --generations 4 --prompts 2 --max-tokens 24 --examples 2 --trials 2 --learning-rate 1e-3"
    arguments = [str(tiny_model), "--mode", mode, "--output", str(tmp_path / "out"), *options.split()]
    log = grpo.train(grpo.parser().parse_args(arguments))

    prompts_of = {}
    for trial in (1, 2):
        for task in make_tasks(mini, trial, mode=mode, num_examples=2):
            prompt = task.prompt.text if task.prompt.messages is None else list(task.prompt.messages)
            prompts_of.setdefault(task.question_id, []).append(prompt)
    everything = []
    for prompts, completions, questions, rewards in calls:
        texts = [said if mode == "completion" else said[-1]["content"] for said in completions]
        kept = [re.split("Q:|\n\n" if mode == "completion" else "Q:", text)[0] for text in texts]
        kept = [text if mode == "completion" else text.split("A:", 1)[-1] for text in kept]
        expected = [scorer.score_one(*pair)["average"] for pair in zip(questions, map(str.strip, kept), strict=True)]
        assert rewards == expected
        assert all(prompt in prompts_of[question] for prompt, question in zip(prompts, questions, strict=True))
        everything += rewards
    assert len(everything) == 16
    assert len(set(everything)) > 1
    logged = [float(entry["reward"]) for entry in log if "reward" in entry]
    assert len(logged) == 2
    assert sum(logged) / 2 == pytest.approx(sum(everything) / 16, rel=1e-3)
    before, after = load_file(tiny_model / "model.safetensors"), load_file(tmp_path / "out" / "model.safetensors")
    assert any((before[name] != after[name]).any() for name in before)


@pytest.mark.models
def test_the_watching_command_prints_a_line_for_each_checkpoint(watch, tmp_path, capsys):
    watch("global_step")
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["step", "score", "fluency", "truthfulness", "helpfulness"]
    assert [line.split()[0] for line in lines] == ["20", "100"]
    results = [json.loads(path.read_text())["score"] for path in (tmp_path / "result").rglob("result.json")]
    assert sorted(float(line.split()[1]) for line in lines) == sorted(results)


@pytest.mark.integrations
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tracker", ["mlflow", "wandb", "tensorboard"])
def test_the_watching_command_logs_each_checkpoint_into_one_run(tracker, watch, tmp_path, monkeypatch):
    package = integration(tracker)
    steps = []
    module = importlib.import_module(f"pfgen_fast.integrations.{tracker}")
    log_run = module.log_run
    monkeypatch.setattr(module, "log_run", lambda *run, **named: steps.append((named["step"], log_run(*run, **named))))
    for name in ("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.chdir(tmp_path)
    if tracker == "mlflow":  # which keeps the store and the experiment of the test before
        package.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
        package.set_experiment("watching")
    watch("step", "--log", tracker)
    assert [step for step, _ in steps] == [20, 100]
    assert len({run for _, run in steps}) == 1


def test_what_the_programs_cannot_do_is_one_line(tmp_path, monkeypatch):
    watcher, grpo = tool("watch_checkpoints", "examples"), tool("grpo_reward", "examples")
    monkeypatch.setattr(sys, "argv", ["watch_checkpoints.py", str(tmp_path), "--suite", str(tmp_path / "none")])
    with pytest.raises(SystemExit, match=r"error: .*none: no such folder"):
        watcher.main()
    monkeypatch.setattr(sys, "argv", ["watch_checkpoints.py", str(tmp_path), "--once"])
    with pytest.raises(SystemExit, match=r"error: .*: no complete checkpoint-N"):
        watcher.main()
    monkeypatch.setattr(sys, "argv", ["grpo_reward.py", "m"])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit, match=r"error: torch is not installed: pip install 'pfgen-fast\[trl\]'"):
        grpo.main()
