"""The number of threads to use, and what threads share."""

from __future__ import annotations

import functools
import operator
import os
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

Value = TypeVar("Value")

_MAX_THREADS = 1024


class cached_property(functools.cached_property[Value]):  # noqa: N801 - named as the one that it replaces
    """Without the lock of Python before 3.12, which stays locked in a process that is forked meanwhile."""

    def __init__(self, function: Callable[[Any], Value]) -> None:
        super().__init__(function)
        self.lock = nullcontext()


def checked_threads(threads: int | None) -> int:
    """Validates a number of threads; None means one for each core."""
    n = default_threads() if threads is None else operator.index(threads)
    if not 1 <= n <= _MAX_THREADS:
        raise ValueError(f"threads: expected 1 to {_MAX_THREADS}, not {threads}")
    return n


def default_threads() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
