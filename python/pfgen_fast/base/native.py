"""The native core and its errors, and values that are safe with threads and forks."""

from __future__ import annotations

import functools
import operator
import os
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any, NoReturn, TypeVar

from .errors import TrialsError


def _is_main_interpreter() -> bool:
    """Whether this is not a sub-interpreter; there, the import of the core would hang."""
    try:
        interpreters = import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    except ImportError:
        return True
    return bool(interpreters.get_current() == interpreters.get_main())


if not _is_main_interpreter():
    raise ImportError("pfgen_fast works only in the main interpreter: use threads or processes")

try:
    from .. import _core as _core
except ImportError as error:
    raise ImportError(
        f"the native core of pfgen_fast is missing or does not load ({error}). Build it with 'pip install .' in a "
        "checkout of pfgen-fast (this needs a C++20 compiler; cmake and ninja are fetched by pip), or reinstall the "
        "package: 'pip install --force-reinstall pfgen-fast'."
    ) from error


COLUMN_ERRORS: tuple[type[Exception], ...] = (_core.BadRow, _core.BadColumn, _core.InvalidAnswer)


def raise_trials_error(error: Exception) -> NoReturn:
    """Raises the `TrialsError` for an error of one of the types in `COLUMN_ERRORS`."""
    row: int | None = None
    if isinstance(error, _core.BadRow):
        column, row, problem = error.args
    elif isinstance(error, _core.BadColumn):
        column, problem = error.args
    else:
        row, byte = error.args
        column, problem = "answers", f"invalid UTF-8 at byte {byte}"
    raise TrialsError(problem, column=column, row=row) from None


class worded(AbstractContextManager[None]):  # noqa: N801 - named as a function, which would be slower
    """Converts `COLUMN_ERRORS` raised in the block to `TrialsError`."""

    def __exit__(self, kind: object, error: object, trace: object, /) -> None:
        """Raises a TrialsError in the place of one of `COLUMN_ERRORS`."""
        if error is not None and isinstance(error, COLUMN_ERRORS):
            raise_trials_error(error)


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


def whole_number(name: str, value: object, *, least: int = 1, most: int = 2**31 - 1) -> int:
    """Checks an integer argument; raises ValueError with its name."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= operator.index(value) <= most:
        raise ValueError(f"{name}: expected a whole number from {least} to {most}, not {value!r}")
    return operator.index(value)


def default_threads() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
