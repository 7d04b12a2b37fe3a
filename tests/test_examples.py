"""The programs in examples/, each against its training library, with a tiny random model."""

from __future__ import annotations

import re
import sys

import pytest
from makers.documented import tool
from pfgen_fast.generation.prompts import make_tasks


@pytest.mark.models
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("mode", ["completion", "qa"])
def test_trl_trains_with_the_scores_of_its_own_completions(mini, scorer, tiny_model, tmp_path, monkeypatch, mode):
    from safetensors.torch import load_file

    grpo = tool("grpo_reward", "examples")
    calls = []

    def recorded(*arguments, **settings):
        reward = grpo_make_reward(*arguments, **settings)
        if "references" in settings:
            return reward

        def recording(prompts, completions, **columns):
            rewards = reward(prompts, completions, **columns)
            calls.append((prompts, completions, columns["question"], rewards))
            return rewards

        return recording

    grpo_make_reward = grpo.make_reward
    monkeypatch.setattr(grpo, "make_reward", recorded)
    options = "--steps 2 --generations 4 --prompts 2 --max-tokens 24 --examples 2 --trials 2 --learning-rate 1e-3"
    arguments = [str(tiny_model), "--mode", mode, "--output", str(tmp_path / "out"), *options.split()]
    log = grpo.train(grpo.parser().parse_args([*arguments, "--held-out", "mini"]))

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
    assert sum(logged) / 2 == pytest.approx(sum(everything) / 16, rel=1e-3)  # the held-out score has weight 0
    assert all(0 < float(entry["rewards/held_out_chrf/mean"]) < 100 for entry in log if "reward" in entry)
    before, after = load_file(tiny_model / "model.safetensors"), load_file(tmp_path / "out" / "model.safetensors")
    assert any((before[name] != after[name]).any() for name in before)


def test_a_missing_package_is_named_in_one_line(monkeypatch):
    grpo = tool("grpo_reward", "examples")
    monkeypatch.setattr(sys, "argv", ["grpo_reward.py", "m"])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit, match=r"error: torch is not installed: pip install 'pfgen-fast\[trl\]'"):
        grpo.main()
