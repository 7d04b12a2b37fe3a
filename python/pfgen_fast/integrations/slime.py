"""Reinforcement learning with slime, which loads `custom_rm` by its name and has the settings in `args`.

    --custom-rm-path pfgen_fast.integrations.slime.custom_rm --custom-config-path pfgen.yaml

`pfgen.yaml` has the settings as `pfgen: {suite: my-suite, mode: chat, shape: recommended, on_error: zero}`. With
`--group-rm`, slime passes the samples of a prompt at once, which `Diversity` and `GroupRelative` need.
"""

from __future__ import annotations

from typing import Any

from ..rewards.completions import CompletionReward
from ..rewards.server.adapters import END_TOKENS, label_values

Value = float | dict[str, float]
"""A reward; with `--reward-key`, the reward (`reward`), the score and the parts of both."""


async def custom_rm(args: Any, sample: Any, **others: Any) -> Value | list[Value]:
    """The reward of a sample, or the rewards of a list of samples.

    `args.pfgen` has `suite`, `mode` (`"chat"`), and `metric`, `shape`, `reasoning` and `on_error` of `Reward`. A label
    (`--label-key`) is the id or exact text of a question; without a suite, it is a reference answer or a list of them.
    A truncated or aborted response is unfinished, and a list of samples is a group.

    Example:
        >>> import asyncio
        >>> from types import SimpleNamespace as Namespace
        >>> args = Namespace(pfgen={"suite": "mini"})
        >>> sample = Namespace(prompt="Why?", response="Ice floats.<|im_end|>", label="Q07", status="completed")
        >>> asyncio.run(custom_rm(args, sample))
        0.02259
    """
    rewards = CompletionReward.shared(getattr(args, "pfgen", None) or {})
    samples = sample if isinstance(sample, list) else [sample]
    statuses = [getattr(item.status, "value", item.status) for item in samples]
    n_tokens = [getattr(item, "response_length", None) for item in samples]
    table, _ = rewards(
        label_values(rewards.key, [item.label for item in samples]),
        [item.response for item in samples],
        prompts=[item.prompt for item in samples],
        finished=[status not in ("truncated", "aborted") for status in statuses],
        n_tokens=None if None in n_tokens else n_tokens,
        groups=[0] * len(samples) if isinstance(sample, list) else None,
        end_tokens=END_TOKENS,
    )
    values: list[Value] = table["reward"].tolist()
    if getattr(args, "reward_key", None):
        columns = [table[name].tolist() for name in table.columns]
        values = [dict(zip(table.columns, row, strict=True)) for row in zip(*columns, strict=True)]
    return values if isinstance(sample, list) else values[0]
