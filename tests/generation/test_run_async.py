"""Coroutines run to their end where an event loop is running, as in notebooks, and end with Ctrl-C there too."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import threading

import pytest
from pfgen_fast.generation.engines import run_async
from pfgen_fast.generation.generating import Generation

SETTING = contextvars.ContextVar("SETTING", default="unset")


def test_a_run_is_generated_within_a_running_loop(mini, tmp_path):
    async def cell():
        return Generation.of("ngram").run(mini, trials=2, output=tmp_path)

    assert asyncio.run(cell()).n_new == 16


def test_ctrl_c_cancels_the_work():
    ended = threading.Event()

    async def work():
        try:
            threading.Timer(0.1, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT]).start()
            await asyncio.sleep(60)
        finally:
            ended.set()

    async def cell():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with pytest.raises(KeyboardInterrupt):
            run_async(work())

    asyncio.run(cell())
    assert ended.is_set()
