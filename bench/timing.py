"""Timing: the sides of a ratio take turns, and the fastest time of each counts, so that load favors neither."""

from __future__ import annotations

import time
from collections.abc import Callable

Work = Callable[[], object]
Clock = Callable[[], float]


def seconds(work: Work, clock: Clock = time.perf_counter) -> float:
    """The seconds that one call takes."""
    begin = clock()
    work()
    return clock() - begin


def take_turns(rounds: int, *sides: Work, clock: Clock = time.perf_counter) -> list[float]:
    """The fastest time of each side over several rounds, in each of which every side is called once.

    For work on one thread, `time.process_time` measures what it would take on a machine without other load.
    """
    times = [[seconds(side, clock) for side in sides] for _ in range(rounds)]
    return [min(of_side) for of_side in zip(*times, strict=True)]
