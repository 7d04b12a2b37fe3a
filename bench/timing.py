"""Times of work: sides of a ratio take turns, and the fastest of each counts, so that load flatters neither."""

from __future__ import annotations

import time
from collections.abc import Callable

Work = Callable[[], object]


def seconds(work: Work) -> float:
    """How long one call takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def take_turns(rounds: int, *sides: Work) -> list[float]:
    """The fastest time of each side, of so many rounds in which each is called once."""
    times = [[seconds(side) for side in sides] for _ in range(rounds)]
    return [min(of_side) for of_side in zip(*times, strict=True)]
