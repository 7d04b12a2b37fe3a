"""The programs in examples/, each against its training library, with a tiny random model."""

from __future__ import annotations

import sys

import pytest
from makers.documented import tool


@pytest.mark.models
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("mode", ["completion", "qa"])
def test_the_program_trains_a_model_and_logs_both_rewards(tiny_model, tmp_path, mode):
    from safetensors.torch import load_file

    grpo = tool("grpo_reward", "examples")
    options = "--steps 2 --generations 4 --prompts 2 --max-tokens 24 --examples 2 --trials 2 --learning-rate 1e-3"
    arguments = [str(tiny_model), "--mode", mode, "--output", str(tmp_path / "out"), *options.split()]
    log = grpo.train(grpo.parser().parse_args([*arguments, "--held-out", "mini"]))

    assert sum("reward" in entry for entry in log) == 2
    assert all(0 < float(entry["rewards/held_out_chrf/mean"]) < 100 for entry in log if "reward" in entry)
    before, after = load_file(tiny_model / "model.safetensors"), load_file(tmp_path / "out" / "model.safetensors")
    assert any((before[name] != after[name]).any() for name in before)


def test_a_missing_package_is_named_in_one_line(monkeypatch):
    grpo = tool("grpo_reward", "examples")
    monkeypatch.setattr(sys, "argv", ["grpo_reward.py", "m"])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit, match=r"error: torch is not installed: pip install 'pfgen-fast\[trl\]'"):
        grpo.main()
