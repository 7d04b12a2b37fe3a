"""Reinforcement learning with SkyRL: an environment for single answers, whose reward is the score of the answer.

import skyrl_gym.envs
skyrl_gym.envs.register(id="pfgen", entry_point="pfgen_fast.integrations.skyrl:PfgenEnv")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base.errors import PfgenError, optional
from ..rewards.completions import CompletionReward

BaseTextEnv: Any = optional(
    "skyrl_gym.envs.base_text_env", extra="skyrl", needed_for="the environment for SkyRL"
).BaseTextEnv


class PfgenEnv(BaseTextEnv):  # type: ignore[misc]  # SkyRL is optional
    """An environment with one step: `action` is the completion, and the parts of its reward are metadata and metrics.

    Args:
        env_config: `environment.skyrl_gym.pfgen`: `suite`, `mode` (`"chat"`), and `metric`, `shape`, `reasoning` and
            `on_error` of `Reward`.
        extras: The columns of the row: `reward_spec.ground_truth` is the id or exact text of the question; without a
            suite, `references` has the reference answers.

    Example:
        >>> env = PfgenEnv({"suite": "mini"}, {"reward_spec": {"ground_truth": "Q07"}})
        >>> env.step("A: Ice floats.")["reward"]
        0.02259
    """

    def __init__(self, env_config: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self._rewards = CompletionReward.shared(env_config or {})
        key, values = "references", extras or {}
        if self._rewards.key == "questions":
            key, values = "ground_truth", values.get("reward_spec") or {}
        if values.get(key) is None:
            raise PfgenError(f"extras: expected {'reward_spec.' * (key == 'ground_truth')}{key} in the row")
        self._value, self._prompt, self._parts = values[key], None, dict[str, float]()

    def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
        """Takes the prompt, which some parts of a shape need."""
        self._prompt = prompt
        return prompt, {}

    def step(self, action: str) -> dict[str, Any]:
        """The reward of an answer, which ends the episode."""
        prompts = None if self._prompt is None else [self._prompt]
        table, (answer,) = self._rewards([self._value], [action], prompts=prompts)
        self._parts = {name: float(table[name][0]) for name in table.columns}
        metadata = {"answer": answer, **self._parts}
        return {"observations": [], "reward": self._parts["reward"], "done": True, "metadata": metadata}

    def get_metrics(self) -> dict[str, float]:
        """The parts of the reward, which SkyRL averages over episodes."""
        return self._parts
