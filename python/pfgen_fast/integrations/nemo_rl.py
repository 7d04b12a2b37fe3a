"""Reinforcement learning with NeMo RL: an environment, which `register()` adds to the registries as `pfgen`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..base.errors import TrialsError, optional
from ..rewards.completions import CompletionReward

_interfaces, ray, torch = (
    optional(name, extra="nemo-rl", needed_for="the environment for NeMo RL")
    for name in ("nemo_rl.environments.interfaces", "ray", "torch")
)


class Environment(_interfaces.EnvironmentInterface):  # type: ignore[misc, name-defined]  # NeMo RL is optional
    """An environment with one step; `PfgenEnvironment` is its Ray actor.

    Args:
        config: `env.pfgen` of the configuration: `suite`, `mode` (`"chat"`), `question_key` (`"ground_truth"`), and
            `metric`, `shape`, `reasoning` and `on_error` of `Reward`. Without a suite, `references` in the metadata of
            a row has the reference answers.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        settings = {"question_key": "ground_truth", **config}
        self._key = settings.pop("question_key")
        self._rewards = CompletionReward.shared(settings)
        if self._rewards.key == "references":
            self._key = "references"

    def step(self, message_log_batch: Sequence[Any], metadata: Sequence[Any]) -> Any:
        """The rewards of the last messages of conversations; each conversation ends."""
        values = [(row or {}).get(self._key) for row in metadata]
        if None in values and self._rewards.reward.on_error == "raise":
            raise TrialsError(f"the key {self._key!r} is missing", column="metadata", row=values.index(None))
        prompts, completions = [log[:-1] for log in message_log_batch], [log[-1:] for log in message_log_batch]
        table, answers = self._rewards(values, completions, prompts=prompts)
        rewards = torch.tensor(table["reward"], dtype=torch.float32)
        return _interfaces.EnvironmentReturn(
            observations=[{"role": "environment", "content": f"reward: {reward:.4f}"} for reward in rewards.tolist()],
            metadata=list(metadata),
            next_stop_strings=[None] * len(answers),
            rewards=rewards,
            terminateds=torch.ones(len(answers), dtype=torch.bool),
            answers=answers,
        )

    def global_post_process_and_metrics(self, batch: Any) -> tuple[Any, dict[str, float]]:
        """The batch, and the mean reward of its rows."""
        return batch, {"pfgen/mean_reward": float(batch["rewards"].float().mean())}


PfgenEnvironment = ray.remote(max_restarts=-1, max_task_retries=-1)(Environment)


def register(name: str = "pfgen") -> None:
    """Adds the environment to the registries of NeMo RL; call it before the training script of NeMo RL."""
    actors = optional("nemo_rl.distributed.ray_actor_environment_registry", extra="nemo-rl", needed_for="register")
    environments = optional("nemo_rl.environments.utils", extra="nemo-rl", needed_for="register")
    actor = f"{__name__}.PfgenEnvironment"
    actors.ACTOR_ENVIRONMENT_REGISTRY[actor] = sys.executable
    environments.register_env(name, actor)
