"""The steps of checkpoints, and whether runs are checkpoints of one series: then newer minus older is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

from .leaderboard import model_of

STEP = "step"
"""The parameter of checkpoints on the axis of a sweep."""

_STEP_IN_NAME = re.compile(
    r"(?i)(?<![^\W_])(?:global[-_])?(?:checkpoint|ckpt|step|iter|epoch)[-_= ]?([0-9]{1,12})(k?)(?![^\W_]|\.[0-9])"
)


def step_of(config: Mapping[str, Any] | None, name: str) -> tuple[str, int] | None:
    """The series of a checkpoint and its step; None for a run without a step.

    The step is the parameter `step`, or follows a word such as `checkpoint-` or `step=` in the name of the model or of
    the run, or in the parameters `path` and `revision`. The series is the name of the model without the step.
    """
    model, config = model_of(config, name), config or {}
    step = config.get(STEP)
    texts = (model, name, *(str(config.get(key, "")) for key in ("path", "revision")))
    matches = [[*_STEP_IN_NAME.finditer(text)][-1:] for text in texts]
    if type(step) is not int:
        match = next(chain.from_iterable(matches), None)
        if match is None:
            return None
        step = int(match[1]) * (1000 if match[2] else 1)
    if not matches[0]:
        return model, step
    rest = re.sub(r"-[0-9a-f]{7}$", "", model[matches[0][0].end() :])  # the hash of generation.checkpoints
    series = model[: matches[0][0].start()].rstrip("/-_.= ") + ("" if rest.startswith("/") else rest)
    return series or STEP, step


def are_rising(runs: Sequence[tuple[str, Mapping[str, Any] | None]]) -> bool:
    """Whether runs (names, configs) are checkpoints of one series, the older first."""
    steps = [step_of(config, name) for name, config in runs]
    return all(a and b and a[0] == b[0] and a[1] < b[1] for a, b in pairwise(steps))
