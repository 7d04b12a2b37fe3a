"""The environment for SkyRL, with its registry of environments."""

import subprocess
import sys

import pytest
from makers.documented import DOCS
from makers.engines import integration
from pfgen_fast import PfgenError, TrialsError

GOOD = "Ice is less dense than water, because its molecules form an open lattice."
ROW = {"reward_spec": {"ground_truth": "Q07"}, "data_source": "pfgen"}
PROMPT = [{"role": "user", "content": "Why does ice float on water?"}]


@pytest.fixture(scope="module")
def make():
    gym = integration("skyrl_gym")
    gym.register(id="pfgen", entry_point="pfgen_fast.integrations.skyrl:PfgenEnv")
    return lambda config, extras: gym.make("pfgen", env_config=config, extras=extras)


@pytest.mark.integrations
def test_an_answer_ends_the_episode_with_its_score(make, scorer):
    env = make(integration("omegaconf").OmegaConf.create({"suite": "mini"}), {**ROW, "max_turns": 1})
    assert env.init(PROMPT) == (PROMPT, {})
    output = env.step(f"<think>Hm.</think> A: {GOOD}")
    assert output["reward"] == scorer.reward("Q07", [GOOD])[0]
    assert (output["observations"], output["done"]) == ([], True)
    assert output["metadata"]["answer"] == GOOD
    metrics = [env.get_metrics(), {**env.get_metrics(), "reward": 0.0}]
    assert env.aggregate_metrics(metrics)["reward"] == output["reward"] / 2


@pytest.mark.integrations
def test_a_shape_sees_the_prompt_and_references_are_in_the_row(make, tmp_path):
    path = tmp_path / "copying.toml"
    path.write_text('[[shape]]\npart = "copying"\nrun = 10\nfrom_share = 0.5\n', encoding="utf-8")
    env = make({"suite": "mini", "shape": str(path)}, ROW)
    env.init(PROMPT)
    assert env.step(PROMPT[0]["content"])["reward"] == 0.0
    assert make({"metric": "chrf"}, {"references": [GOOD]}).step(GOOD)["reward"] == 100.0


@pytest.mark.integrations
def test_rows_and_settings_without_a_reward_are_one_sentence(make):
    for config, extras, sentence in (
        ({"suite": "mini"}, {}, "extras: expected reward_spec.ground_truth in the row"),
        ({"metric": "chrf"}, ROW, "extras: expected references in the row"),
        ({}, ROW, "suite: expected a suite, or reference answers"),
    ):
        with pytest.raises(PfgenError, match=sentence):
            make(config, extras)
    with pytest.raises(TrialsError, match=r"questions\[0\]: .*Q77"):
        make({"suite": "mini"}, {"reward_spec": {"ground_truth": "Q77"}}).step("a")


@pytest.mark.integrations
def test_the_documented_example_runs(tmp_path):
    integration("skyrl_gym")
    page = (DOCS / "integrations" / "environments.md").read_text(encoding="utf-8")
    block = page.split("```python\n")[1].partition("```")[0]
    run = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, check=True)
    assert run.stdout.decode().split() == ["0.02259"]
