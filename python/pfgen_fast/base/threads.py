"""The number of threads, locks and lazy values that are safe with threads and forks, and cancelled calls."""

from __future__ import annotations

import functools
import operator
import os
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

Value = TypeVar("Value")

_MAX_THREADS = 1024
_calls = threading.local()


class Cancelled(Exception):
    """Another thread has ended this call."""


def run_until(is_cancelled: Callable[[], bool], work: Callable[[], Value]) -> Value:
    """Calls `work`; a long native call in it raises Cancelled when `is_cancelled` returns true."""
    _calls.is_cancelled = is_cancelled
    try:
        return work()
    finally:
        del _calls.is_cancelled


def check_cancelled() -> None:
    """Raises Cancelled if the call of `run_until` in this thread was cancelled."""
    is_cancelled = getattr(_calls, "is_cancelled", None)
    if is_cancelled is not None and is_cancelled():
        raise Cancelled


class cached_property(functools.cached_property[Value]):  # noqa: N801 - has the name of the class that it replaces
    """A cached property without the lock of Python before 3.12, which a forked process could inherit locked."""

    def __init__(self, function: Callable[[Any], Value]) -> None:
        super().__init__(function)
        self.lock = nullcontext()


class ForkSafeLock:
    """A lock that is new in a forked child, because the thread that holds the old lock does not exist there."""

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def checked_threads(threads: int | None) -> int:
    """Validates a number of threads; None means one for each core."""
    n = default_threads() if threads is None else operator.index(threads)
    if isinstance(threads, bool) or not 1 <= n <= _MAX_THREADS:
        raise ValueError(f"threads: expected 1 to {_MAX_THREADS}, not {threads}")
    return n


def default_threads() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
