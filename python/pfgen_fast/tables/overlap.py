"""Reading ahead and writing behind, each in a thread that ends with the block that began it.

One item is made while one is used, and no more, so memory stays flat. An error of a thread is raised where its
items are taken or given.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class _Lane(Generic[T]):
    """Hands items from one thread to another, one at a time; either side can close it."""

    def __init__(self) -> None:
        self._items: list[T] = []
        self._is_idle = True
        self._changed = threading.Condition()
        self._is_ended = self._is_closed = False
        self._error: BaseException | None = None

    def put(self, item: T) -> bool:
        """Waits until the taker has done with the last item and gives it one; false if it takes no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_idle or self._is_closed)
            if self._is_closed:
                return False
            self._items.append(item)
            self._is_idle = False
            self._changed.notify_all()
            return True

    def end(self, error: BaseException | None = None) -> None:
        """Says that no more items come, perhaps because of an error, which the taker gets after the last item."""
        with self._changed:
            self._is_ended, self._error = True, self._error or error
            self._changed.notify_all()

    def close(self, error: BaseException | None = None) -> None:
        """Says that no more items are taken, perhaps because of an error."""
        with self._changed:
            self._is_closed, self._error = True, self._error or error
            self._items.clear()
            self._changed.notify_all()

    @property
    def error(self) -> BaseException | None:
        """Why the other side stopped, if it failed."""
        return self._error

    def __iter__(self) -> Iterator[T]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._items or self._is_ended or self._is_closed)
                if not self._items:
                    return
                item = self._items.pop()
            yield item
            del item
            with self._changed:
                self._is_idle = True
                self._changed.notify_all()


@contextlib.contextmanager
def reading_ahead(items: Generator[T, None, None]) -> Iterator[Iterator[T]]:
    """Runs a generator in a thread; the block gets its items, and its error after them."""
    lane: _Lane[T] = _Lane()

    def read() -> None:
        try:
            with contextlib.closing(items):
                while lane.put(next(items)):
                    pass
        except StopIteration:
            lane.end()
        except BaseException as error:
            lane.end(error)

    def taken() -> Iterator[T]:
        yield from lane
        if lane.error is not None:
            raise lane.error

    thread = threading.Thread(target=read, name="pfgen-fast reader", daemon=True)
    thread.start()
    try:
        yield taken()
    finally:
        lane.close()
        thread.join()


@contextlib.contextmanager
def writing_behind(write: Callable[[T], None]) -> Iterator[Callable[[T], None]]:
    """Runs a function in a thread for each item that the block gives; all are written when the block ends.

    If the block fails, what waits is not written.
    """
    lane: _Lane[T] = _Lane()

    def work() -> None:
        try:
            for item in lane:
                write(item)
        except BaseException as error:
            lane.close(error)

    def give(item: T) -> None:
        if not lane.put(item) and lane.error is not None:
            raise lane.error

    thread = threading.Thread(target=work, name="pfgen-fast writer", daemon=True)
    thread.start()
    try:
        yield give
        lane.end()
        thread.join()  # here too, so that an interrupt of this waiting ends the writing before the block is left
    except BaseException:
        lane.close()
        raise
    finally:
        thread.join()
    if lane.error is not None:
        raise lane.error
