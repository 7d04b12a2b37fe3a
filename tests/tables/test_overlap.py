"""Reading ahead and writing behind: the order stays, errors arrive, and no thread outlives its block."""

import threading
import time
from concurrent.futures import Future

import pytest
from pfgen_fast.tables.streaming import reading_ahead, writing_behind


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def numbers(n: int, created: list[int], error: Exception | None = None):
    for number in range(n):
        created.append(number)
        yield number
    if error is not None:
        raise error


def test_items_that_are_read_ahead_come_in_order_and_an_error_after_them():
    with reading_ahead(numbers(1000, [])) as items:
        assert list(items) == list(range(1000))
    taken = []
    with pytest.raises(ZeroDivisionError), reading_ahead(numbers(3, [], ZeroDivisionError())) as items:
        taken.extend(items)
    assert taken == [0, 1, 2]


def test_one_item_is_made_while_one_is_used():
    created: list[int] = []
    begun = threading.Event()

    def items():
        for number in numbers(10, created):
            if number == 1:
                begun.set()
            yield number

    with reading_ahead(items()) as taken:
        next(taken)
        assert begun.wait(60)  # the next one is made although nobody has asked for it
        assert created == [0, 1]


def test_leaving_the_block_closes_the_generator():
    closed = threading.Event()

    def items():
        try:
            yield from range(10)
        finally:
            closed.set()

    with reading_ahead(items()) as taken:
        next(taken)
    assert closed.is_set()
    with reading_ahead(numbers(1, [], ZeroDivisionError())) as taken:
        assert next(taken) == 0  # nobody asks for more, so there is no error


def test_an_error_of_the_writer_arrives_however_late():
    def write(number: int) -> None:
        if number == 3:
            raise OSError("disk full")

    for numbers in (range(1000), [3]):
        with pytest.raises(OSError, match="disk full"), writing_behind(write) as give:
            list(map(give, numbers))


def test_an_interrupt_while_the_last_items_are_written_waits_for_the_writer(monkeypatch):
    """What the writer writes to is closed after the block, so it must not be at it any more."""
    begun, finished = threading.Event(), threading.Event()

    def interrupted(written):
        monkeypatch.undo()
        begun.wait(10)
        raise KeyboardInterrupt

    def write(item):
        begun.set()
        time.sleep(0.05)
        finished.set()

    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt), writing_behind(write) as give:
        give(1)
    assert finished.is_set()
