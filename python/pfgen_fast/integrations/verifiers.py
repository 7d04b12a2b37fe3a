"""Rewards for verifiers and prime-rl, which load functions by their names, each with a weight.

    [env.taskset.task.rewards.pfgen]
    fn = "pfgen_fast.integrations.verifiers.reward"
    weight = 1.0

The functions of this module have the settings in the environment: `PFGEN_FAST_SUITE`, `PFGEN_FAST_MODE` (`chat`), and
`PFGEN_FAST_` with `METRIC`, `SHAPE`, `REASONING` and `ON_ERROR` of `Reward`. A module of your own can set them, too:
`pfgen = TraceReward(suite="my-suite", shape="recommended")`.
"""

from __future__ import annotations

from typing import Any

from ..base.errors import PfgenError
from ..rewards.completions import CompletionReward, settings_of_environment
from ..rewards.server.adapters import label_values


class TraceReward:
    """The reward of the last reply in a trace, as the reward function `async (task, trace) -> float`.

    A trace that was truncated is unfinished.

    Args:
        column: The field of the task data with the id or exact text of the question, by default `question`; without a
            suite, the field with a reference answer or a list of them, by default `references`.
        settings: `suite`, `mode`, `metric`, `shape`, `reasoning` and `on_error`, which override the environment.

    Example:
        >>> import asyncio
        >>> from types import SimpleNamespace as Namespace
        >>> trace = Namespace(last_reply="Ice floats.", is_truncated=False, num_output_tokens=3)
        >>> task = Namespace(question="Q07", prompt_text="Why does ice float?")
        >>> asyncio.run(TraceReward(suite="mini")(task, trace))
        0.02259
    """

    def __init__(self, column: str | None = None, **settings: Any) -> None:
        self._column, self._settings = column, settings

    async def __call__(self, task: Any, trace: Any) -> float:
        """The reward of a trace; `task` is the data of its task."""
        rewards = CompletionReward.shared(settings_of_environment() | self._settings)
        column = self._column or {"questions": "question", "references": "references"}[rewards.key]
        value = getattr(task, column, None)
        if value is None:
            raise PfgenError(f"task: expected the field {column!r} with a value")
        table, _ = rewards(
            label_values(rewards.key, [value]),
            [trace.last_reply],
            prompts=[task.prompt_text],
            finished=[not trace.is_truncated],
            n_tokens=[trace.num_output_tokens],
        )
        return float(table["reward"][0])


reward = TraceReward()
fluency, truthfulness, helpfulness = (TraceReward(metric=name) for name in ("fluency", "truthfulness", "helpfulness"))
