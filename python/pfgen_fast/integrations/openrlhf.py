"""Reinforcement learning with OpenRLHF, which loads `reward_func` from this file by its path.

    --reward.remote_url "$(python -m pfgen_fast.integrations.openrlhf)"

OpenRLHF passes no settings to the function, so the settings are environment variables: `PFGEN_FAST_SUITE` is the suite,
`PFGEN_FAST_MODE` is the kind of prompts, and `PFGEN_FAST_SHAPE` is the shape of the reward. OpenRLHF loads the file
outside of its package and may pickle the function by value, so the function has no state.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pfgen_fast.base.errors import PfgenError
from pfgen_fast.rewards.reward import Reward
from pfgen_fast.rewards.server.request_bodies import scores_of_queries
from pfgen_fast.scoring.reply_text import check_mode

SUITE, MODE, SHAPE = "PFGEN_FAST_SUITE", "PFGEN_FAST_MODE", "PFGEN_FAST_SHAPE"


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **others: Any) -> dict[str, Any]:
    """The rewards of completions in the form that OpenRLHF expects.

    A query is the prompt followed by the completion, with special tokens. `labels` are the ids or exact texts of the
    questions (option `--data.label_key` of OpenRLHF). The result has tensors of 64-bit floats: `rewards`, `scores` with
    the same values, and the parts of the scores and of the shape in `extra_logs`.

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
        >>> os.environ[SUITE] = "mini"
        >>> reply(["Q: Why?\\nA: Ice floats.</s>"], ["Q: Why?\\nA:"], ["Q07"])["rewards"]
        array([0.02259])
    """
    suite, mode = os.environ.get(SUITE), os.environ.get(MODE, "completion")
    if suite is None:
        raise PfgenError(f"{SUITE} is not set; expected the directory of the suite, or 'mini'")
    check_mode(mode)
    return scores_of_queries(_reward(suite, os.environ.get(SHAPE)), queries, prompts, labels, mode)  # type: ignore[arg-type]


@cache
def _reward(suite: str, shape: str | None) -> Reward:
    return Reward(suite, shape)


if __name__ == "__main__":
    sys.stdout.write(f"{Path(__file__).resolve()}\n")
