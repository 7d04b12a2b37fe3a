"""Reading ahead and writing behind, each in a thread that ends with the block that began it.

One item is made while one is used, and no more, so memory stays flat.
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
    """Runs a generator in a thread; the block gets its items, and its error after them."""

    def taken() -> Iterator[T]:
        made = thread.submit(next, items, _END)
        while (item := made.result()) is not _END:
            made = thread.submit(next, items, _END)
            yield item
            del item  # it need not stay in memory while the next one is waited for

    with contextlib.closing(items), ThreadPoolExecutor(1, "pfgen-fast reader") as thread:
        yield taken()


@contextlib.contextmanager
def writing_behind(write: Callable[P, None]) -> Iterator[Callable[P, None]]:
    """Runs a function in a thread for each given item; its error is raised at the next item or at the end."""
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
