"""The native index of a suite: made once for each suite and profile, shared by all its scorers."""

from __future__ import annotations

import os
import threading
from typing import Literal
from weakref import WeakKeyDictionary

from ._native import _core
from .errors import SuiteError
from .suite import Suite, check_suite

Profile = Literal["leaderboard", "paper"]

_made: WeakKeyDictionary[Suite, dict[Profile, tuple[_core.References, ...]]] = WeakKeyDictionary()
_making = threading.Lock()


def _forget_lock() -> None:
    """A child that was forked while another thread built an index would wait for that thread for ever."""
    global _making
    _making = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


def references(suite: Suite, profile: Profile, threads: int) -> tuple[_core.References, ...]:
    """The indexed reference sets of each question, in the order of the suite.

    Raises:
        SuiteError: A set has baseline 0 in this profile.
    """
    with _making:
        by_profile = _made.setdefault(suite, {})
        if profile not in by_profile:
            check_suite(suite)
            _check_baselines(suite, profile)
            sets = [list(question.answers.values()) for question in suite]
            by_profile[profile] = tuple(_core.compile(sets, getattr(_core.Profile, profile), threads))
        return by_profile[profile]


def default_threads() -> int:
    """As many threads as this process may use cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _check_baselines(suite: Suite, profile: Profile) -> None:
    """In profile paper answers of 150 and more code points score 0, and a whole set of them has baseline 0."""
    if profile == "leaderboard":
        return  # checked when the suite was loaded
    for question in suite:
        for name, answers in question.answers.items():
            if all(not answer or len(answer) >= 150 for answer in answers):
                raise SuiteError(
                    f"suite {suite.name}, question {question.question_id}: in profile paper the set {name!r} has "
                    "baseline 0, because all its answers are empty or have 150 code points and more"
                )
