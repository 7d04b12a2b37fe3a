"""Reinforcement learning with OpenRLHF, which loads `reward_func` from this file by its path.

    --reward.remote_url "$(python -m pfgen_fast.integrations.openrlhf)"

OpenRLHF passes no settings to the function, so the settings are environment variables: `PFGEN_FAST_SUITE`,
`PFGEN_FAST_MODE`, and `PFGEN_FAST_` with `METRIC`, `SHAPE`, `REASONING` and `ON_ERROR` of `Reward`. OpenRLHF loads the
file outside of its package and may pickle the function by value, so the function has no state.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pfgen_fast.base.errors import PfgenError
from pfgen_fast.rewards.completions import CompletionReward, settings_of_environment
from pfgen_fast.rewards.server.adapters import label_values, scores_of_queries

SUITE, MODE = "PFGEN_FAST_SUITE", "PFGEN_FAST_MODE"


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **others: Any) -> dict[str, Any]:
    """The rewards of completions in the form that OpenRLHF expects.

    A query is the prompt followed by the completion, with special tokens. `labels` are the ids or exact texts of the
    questions (option `--data.label_key` of OpenRLHF), or without a suite the reference answers. The result has tensors
    of 64-bit floats: `rewards`, `scores` with the same values, and the parts of scores and shape in `extra_logs`.

    Raises:
        PfgenError: torch is not installed, `PFGEN_FAST_SUITE` is missing, or a query cannot be scored.
    """
    from pfgen_fast.base.errors import optional
    from pfgen_fast.integrations.openrlhf import reply

    torch = optional("torch", extra="openrlhf", needed_for="reward_func")
    scored = reply(queries, prompts, labels)
    logs = {name: torch.tensor(values) for name, values in scored["extra_logs"].items()}
    rewards = torch.tensor(scored["rewards"])
    return {"rewards": rewards, "scores": rewards.clone(), "extra_logs": logs}


def reply(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    """The rewards of `reward_func` as arrays of NumPy, without torch.

    Example:
        >>> import os
        >>> os.environ[SUITE] = "mini"
        >>> reply(["Q: Why?\\nA: Ice floats.</s>"], ["Q: Why?\\nA:"], ["Q07"])["rewards"]
        array([0.02259])
    """
    settings = settings_of_environment()
    if not {"suite", "metric"} & set(settings):
        raise PfgenError(f"{SUITE} is not set; expected the directory of the suite, or 'mini'")
    rewards = CompletionReward.shared(settings, "completion")
    return scores_of_queries(rewards, queries, prompts, label_values(rewards.key, labels))


if __name__ == "__main__":
    sys.stdout.write(f"{Path(__file__).resolve()}\n")
