"""Reinforcement learning with verl, whose reward workers load a function by its name, and pass `reward_kwargs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.errors import TrialsError
from ..rewards.completions import CompletionReward
from ..scoring.reply_text import Mode
from .training_data import write_dataset as write_dataset

Reward = float | dict[str, float]
"""The reward of a completion: a number; with `parts`, a dictionary of the reward (`score`) and the parts."""


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: dict[str, Any] | None = None,
    *,
    reward_router_address: str | None = None,
    reward_model_tokenizer: Any = None,
    **settings: Any,
) -> Reward:
    """The reward of one completion (`solution_str`) to the question with the id or text `ground_truth`.

    `settings` are those of `compute_score_batched`. verl calls this function in threads.

    Example:
        >>> compute_score("pfgen", "A: Ice floats.", "Q07", suite="mini")
        0.02259
    """
    return compute_score_batched([data_source], [solution_str], [ground_truth], [extra_info], **settings)[0]


async def compute_score_async(*row: Any, **settings: Any) -> Reward:
    """`compute_score` as a coroutine, which verl awaits without a thread: a reward takes microseconds."""
    return compute_score(*row, **settings)


def compute_score_batched(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[str],
    extra_infos: Sequence[dict[str, Any] | None] | None = None,
    *,
    suite: str | None = None,
    mode: Mode = "qa",
    parts: bool = False,
    **settings: Any,
) -> list[Reward]:
    """The rewards of a batch, for managers such as `BatchRewardManager`.

    A worker loads `suite` once. Without it, `extra_info["references"]` has the reference answers. `mode` is the kind of
    prompts; `settings` are `metric`, `shape`, `reasoning` and `on_error` of `Reward`. Parts of a shape use `prompt`,
    `finished` and, for groups, `index` of `extra_info`. With `parts`, a reward is a dictionary, which verl logs.

    Example:
        >>> compute_score_batched(["pfgen"] * 2, ["A: Ice floats.", ""], ["Q07", "Q07"], suite="mini")
        [0.02259, 0.0]
    """
    rewards = CompletionReward.shared({"suite": suite, "mode": mode, **settings})
    infos = [info or {} for info in ([None] * len(solution_strs) if extra_infos is None else extra_infos)]
    needs = {"references": suite is None, "prompt": rewards.reward.needs_prompts, "index": rewards.reward.needs_groups}
    columns: dict[str, Any] = {key: [info.get(key) for info in infos] for key in needs if needs[key]}
    missing = [(row, key) for row, info in enumerate(infos) for key in columns if info.get(key) is None]
    if missing and rewards.reward.on_error == "raise":
        raise TrialsError(f"the key {missing[0][1]!r} is missing", column="extra_info", row=missing[0][0])
    table, _ = rewards(
        columns.get("references", ground_truths),
        solution_strs,
        prompts=columns.get("prompt"),
        finished=[info.get("finished", True) for info in infos],
        groups=columns.get("index"),
    )
    names = [name for name in table.columns if name not in ("score", "reward")] if parts else []
    rows = zip(*(table[name].tolist() for name in ("reward", *names)), strict=True)
    return [dict(zip(("score", *names), row, strict=True)) if parts else row[0] for row in rows]
