"""Reinforcement learning with OpenRLHF: a file with `reward_func`, which it loads by its path.

    --reward.remote_url "$(python -m pfgen_fast.integrations.openrlhf)"

OpenRLHF passes no settings to it, so they are in the environment: `PFGEN_FAST_SUITE` is the suite, `PFGEN_FAST_MODE`
the kind of prompts. The file is loaded under a name of OpenRLHF's, outside of its package, and may be sent to workers
as it is, so it keeps nothing itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pfgen_fast.errors import PfgenError
from pfgen_fast.generation.prompts import check_mode
from pfgen_fast.scoring.scorer import Scorer
from pfgen_fast.serving.openrlhf import scores_of_queries

SUITE, MODE = "PFGEN_FAST_SUITE", "PFGEN_FAST_MODE"


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **others: Any) -> dict[str, Any]:
    """The rewards of completions as OpenRLHF expects them.

    A query is a whole text: the prompt and the completion, with special tokens. `labels` are the ids or exact texts of
    the questions (OpenRLHF's `--data.label_key`). The result has tensors of 64-bit floats: `rewards`, equal `scores`,
    and in `extra_logs` the parts of the scores.

    Raises:
        PfgenError: torch is not installed, `PFGEN_FAST_SUITE` is missing, or a query cannot be scored.
    """
    from pfgen_fast.files.optional import optional
    from pfgen_fast.integrations.openrlhf import reply

    torch = optional("torch", extra="openrlhf", needed_for="reward_func")
    found = reply(queries, prompts, labels)
    logs = {name: torch.tensor(values) for name, values in found["extra_logs"].items()}
    rewards = torch.tensor(found["rewards"])
    return {"rewards": rewards, "scores": rewards.clone(), "extra_logs": logs}


def reply(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    """The rewards of `reward_func` as arrays of NumPy, which need no torch.

    Example:
        >>> os.environ[SUITE] = "mini"
        >>> reply(["Q: Why?\\nA: Ice floats.</s>"], ["Q: Why?\\nA:"], ["Q07"])["rewards"]
        array([0.02259])
    """
    suite, mode = os.environ.get(SUITE), os.environ.get(MODE, "completion")
    if suite is None:
        raise PfgenError(f"{SUITE} is not set; expected the folder of the suite, or 'mini'")
    check_mode(mode)
    return scores_of_queries(_scorer(suite), queries, prompts, labels, mode)  # type: ignore[arg-type]


@cache
def _scorer(suite: str) -> Scorer:
    return Scorer(suite)


if __name__ == "__main__":
    sys.stdout.write(f"{Path(__file__).resolve()}\n")
