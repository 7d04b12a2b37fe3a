"""The collector of cycles, paused while very many objects are made of which none is in a cycle.

It would go through all of them again and again, which takes a third of the time of reading a hundred thousand rows.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Pauses the collector within a context, unless it is paused already; what is dropped is freed all the same.

    Threads may overlap: whoever paused it starts it again.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
