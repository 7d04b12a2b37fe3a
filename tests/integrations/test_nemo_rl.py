"""The environment for NeMo RL, called as version 0.6.0 (commit 7ea279a) calls one; its package is not on PyPI."""

import abc
import pickle
import sys
from collections import namedtuple
from importlib import import_module
from types import ModuleType

import pytest
from makers.engines import integration
from pfgen_fast import TrialsError

GOOD = "Ice is less dense than water, because its molecules form an open lattice."


class EnvironmentInterface(abc.ABC):
    @abc.abstractmethod
    def step(self, message_log_batch, metadata): ...

    @abc.abstractmethod
    def global_post_process_and_metrics(self, batch): ...


FIELDS = "observations metadata next_stop_strings rewards terminateds answers"
EnvironmentReturn = namedtuple("EnvironmentReturn", FIELDS)


@pytest.fixture(scope="module")
def module():
    for name in ("torch", "ray"):
        integration(name)
    environments = {}
    contents = {
        "environments.interfaces": {
            "EnvironmentInterface": EnvironmentInterface,
            "EnvironmentReturn": EnvironmentReturn,
        },
        "environments.utils": {"register_env": environments.__setitem__, "registered": environments},
        "distributed.ray_actor_environment_registry": {"ACTOR_ENVIRONMENT_REGISTRY": {}},
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, values in {"environments": {}, "distributed": {}, **contents}.items():
            stub = ModuleType(f"nemo_rl.{name}")
            vars(stub).update(values)
            patch.setitem(sys.modules, stub.__name__, stub)
        patch.setitem(sys.modules, "nemo_rl", ModuleType("nemo_rl"))
        yield import_module("pfgen_fast.integrations.nemo_rl")


def log(answer):
    import torch

    tokens = torch.tensor([1, 2])
    return [
        {"role": "user", "content": "Why does ice float?", "token_ids": tokens},
        {"role": "assistant", "content": answer, "token_ids": tokens},
    ]


@pytest.mark.integrations
def test_a_step_gives_the_scores_and_ends_the_conversations(module, scorer):
    environment = module.Environment({"suite": "mini"})
    metadata = [{"ground_truth": "Q07"}] * 3
    result = environment.step([log(f"A: {GOOD}"), log("Because."), log("")], metadata)
    expected = scorer.reward("Q07", [GOOD, "Because.", ""])
    assert result.rewards.tolist() == expected.astype("float32").tolist()
    assert (result.answers, result.metadata) == ([GOOD, "Because.", ""], metadata)
    assert result.terminateds.tolist() == [True] * 3
    assert result.observations[2] == {"role": "environment", "content": "reward: 0.0000"}
    batch = {"rewards": result.rewards}
    metrics = {"pfgen/mean_reward": pytest.approx(expected.mean())}
    assert environment.global_post_process_and_metrics(batch) == (batch, metrics)
    chrf = module.Environment({"metric": "chrf", "shape": "recommended"})
    assert chrf.step([log(GOOD)], [{"references": [GOOD]}]).rewards.tolist() == [100]
    with pytest.raises(TrialsError, match=r"metadata\[1\]: the key 'ground_truth' is missing"):
        environment.step([log(GOOD)] * 2, [*metadata[:1], None])
    lenient = module.Environment({"suite": "mini", "on_error": "zero"})
    assert lenient.step([log(GOOD)] * 2, [*metadata[:1], None]).rewards.tolist() == [*result.rewards.tolist()[:1], 0]


@pytest.mark.integrations
def test_it_registers_an_actor_of_ray(module):
    module.register()
    actor = "pfgen_fast.integrations.nemo_rl.PfgenEnvironment"
    assert sys.modules["nemo_rl.environments.utils"].registered == {"pfgen": actor}
    registry = sys.modules["nemo_rl.distributed.ray_actor_environment_registry"].ACTOR_ENVIRONMENT_REGISTRY
    assert registry == {actor: sys.executable}
    assert module.PfgenEnvironment.options(num_cpus=1)
    assert pickle.loads(pickle.dumps(module.Environment({"suite": "mini"})._rewards)).key == "questions"
