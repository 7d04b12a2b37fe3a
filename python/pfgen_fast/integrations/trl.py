"""Reinforcement learning with TRL: a reward function for its trainers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.errors import PfgenError
from ..rewards.completions import Completion, CompletionReward
from ..scoring.reply_text import Mode
from .training_data import make_dataset as make_dataset


@dataclass(frozen=True)
class RewardFunction:
    """The function of `make_reward`, an object that the worker of `AsyncGRPOTrainer` can pickle."""

    rewards: CompletionReward
    column: str
    name: str
    max_completion_length: int | None

    @property
    def __name__(self) -> str:
        return f"{self.name}_{self.rewards.reward.metric}"

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        """The rewards of a batch; `columns` are the columns of the dataset, and functions of TRL for logging."""
        if (values := columns.get(self.column)) is None:
            what = "the question" if self.rewards.key == "questions" else "the reference answers"
            raise PfgenError(f"the dataset has no column {self.column!r} with {what} of each prompt")
        if len(values) != len(completions):
            raise PfgenError(f"{self.column}: expected {len(completions)} values, one for each completion")
        known: dict[str, Any] = {"prompts": prompts}
        if "completion_ids" in columns:
            known["n_tokens"] = n_tokens = [len(ids) for ids in columns["completion_ids"]]
            known["finished"] = [n < (self.max_completion_length or np.inf) for n in n_tokens]
        table, answers = self.rewards.of_task(values, completions, **known)
        reward, log = self.rewards.reward, columns.get("log_metric")
        if (reward.metric == "score" or reward.shape) and "log_extra" in columns:
            columns["log_extra"](f"{self.name}_answer", answers)
        for part in table.columns[: -1 if reward.shape else -2]:
            if log and not np.isnan(table[part]).all():
                log(f"{self.name}/{part}", float(np.nanmean(table[part])))
        return [None if value is None else x for value, x in zip(values, table["reward"].tolist(), strict=True)]


def make_reward(
    suite: Any = None,
    mode: Mode = "completion",
    *,
    column: str = "question",
    references: str | None = None,
    name: str = "pfgen",
    max_completion_length: int | None = None,
    **settings: Any,
) -> RewardFunction:
    """A reward function for `GRPOTrainer(reward_funcs=...)` and `AsyncGRPOTrainer`; see docs/integrations/trl.md.

    `suite` may be a `Reward`. `settings` are `metric`, `shape`, `reasoning` and `on_error` of `Reward`.

    Example:
        >>> make_reward("mini")(prompts=[""], completions=["Ice floats.\\n\\nQ: And"], question=["Q07"])
        [0.02259]
    """
    rewards = CompletionReward.of(suite, mode, has_references=references is not None, **settings)
    return RewardFunction(rewards, references or column, name, max_completion_length)
