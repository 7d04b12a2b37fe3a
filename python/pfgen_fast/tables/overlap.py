"""Reads ahead and writes behind in threads that end with their `with` block.

At most one item is prepared while another item is in use, so memory use is constant.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_END: Any = object()


@contextlib.contextmanager
def reading_ahead(items: Generator[T, None, None]) -> Iterator[Iterator[T]]:
    """Runs a generator in a thread and yields an iterator over its items; an error is raised after the last item."""

    def taken() -> Iterator[T]:
        made = thread.submit(next, items, _END)
        while (item := made.result()) is not _END:
            made = thread.submit(next, items, _END)
            yield item
            del item  # frees its memory before the next item arrives

    with contextlib.closing(items), ThreadPoolExecutor(1, "pfgen-fast reader") as thread:
        yield taken()


@contextlib.contextmanager
def writing_behind(write: Callable[P, None]) -> Iterator[Callable[P, None]]:
    """Yields a function that calls `write` in a thread; an error is raised at the next call or at the end."""
    written: Future[None] | None = None

    def give(*item: P.args, **options: P.kwargs) -> None:
        nonlocal written
        if written is not None:
            written.result()
        written = thread.submit(write, *item, **options)

    with ThreadPoolExecutor(1, "pfgen-fast writer") as thread:
        yield give
        if written is not None:
            written.result()
