"""A time limit for the search of a pattern.

Python's `re` checks for signals while it searches, so a timer can end a search. This works only in the main thread, and
only on systems with `signal.setitimer`. On Windows and in other threads, there is no limit.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TypeVar

from ..base.errors import PatternTimeout

T = TypeVar("T")

PATTERN_SECONDS = 10.0
"""The limit of commands for the search of one pattern in one answer; a usual search takes microseconds."""

_LOOKS = 10  # number of checks within the limit
WHY = "nested repeats, or many repeats in a row, can match in exponentially many ways"


class _Overdue(Exception):
    """Raised within a search that has taken too long."""


def searched(search: Callable[[str], T], text: str, where: str) -> T:
    """Returns `search(text)`; raises PatternTimeout if the search exceeds the limit of `pattern_time_limit`."""
    try:
        return search(text)
    except _Overdue as overdue:
        raise PatternTimeout(f"{where} takes longer than {overdue} on one answer: {WHY}") from None


def can_be_limited() -> bool:
    """Whether a search can be ended here."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


@contextlib.contextmanager
def pattern_time_limit(seconds: float = PATTERN_SECONDS) -> Iterator[None]:
    """Within this context, a scorer that searches one pattern in one answer for longer raises PatternTimeout.

    Scorers set no limit themselves, because a timer and its signal (SIGALRM) belong to the program. The context
    restores both; it does nothing outside the main thread and on systems without such timers (Windows). It does not
    slow scoring.
    """
    if not can_be_limited():
        yield
        return
    watched: FrameType | None = None  # the search at the last check; Python cannot reuse a frame while it is referenced
    since = 0.0

    def look(number: int, frame: FrameType | None) -> None:
        nonlocal watched, since
        if frame is None or frame.f_code is not searched.__code__:
            watched = None
        elif frame is not watched:
            watched, since = frame, time.monotonic()
        elif time.monotonic() - since >= seconds:
            watched = None  # the timer must not interrupt the handling of the error
            raise _Overdue(f"{seconds:g} s")

    former = signal.signal(signal.SIGALRM, look)
    begun = time.monotonic()
    delay, interval = signal.setitimer(signal.ITIMER_REAL, seconds / _LOOKS, seconds / _LOOKS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        watched = None
        signal.signal(signal.SIGALRM, former)
        if delay:
            signal.setitimer(signal.ITIMER_REAL, max(delay - (time.monotonic() - begun), 1e-3), interval)
