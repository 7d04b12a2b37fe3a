"""The engine `manual`: a person reads each prompt on the terminal and types the answer.

The prompts are written to stderr, because results are written to stdout.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any

from ...base.errors import EngineError
from ...base.untrusted_text import harmless
from ...scoring.reply_text import Mode
from ...suite.suite import Suite
from ..prompts import Request
from . import Sampling

MAX_CODE_POINTS = 1 << 20
"""The maximum length of a line."""


class ManualEngine:
    """Shows prompts, and reads a line from stdin for each."""

    name = "manual"

    def __init__(self, *, suite: Suite | None, model: str, mode: Mode, sampling: Sampling) -> None:
        self.parameters: Mapping[str, Any] = dict.fromkeys(("temperature", "top_p", "top_k"))
        self.trouble = ""

    async def answers(self, requests: Sequence[Request]) -> AsyncGenerator[tuple[int, str], None]:
        """Yields the typed answers; after an empty line, the request is repeated in the next round."""
        for index, request in enumerate(requests):
            with _interruptible():
                _show(request, index + 1, len(requests))
                line = _typed_line(request)
            if not line.strip():
                self.trouble = "the line is empty"
            yield index, line

    async def close(self) -> None:
        """Does nothing; there are no resources to release."""


def _typed_line(request: Request) -> str:
    """A line from stdin; raises EngineError if a complete line cannot be read. Earlier answers are kept."""
    try:
        line = sys.stdin.readline(MAX_CODE_POINTS) if sys.stdin else ""
    except UnicodeDecodeError:
        problem = f"the typed line is not text in {sys.stdin.encoding}"
    else:
        if line.endswith("\n") or 0 < len(line) < MAX_CODE_POINTS:
            return line
        problem = f"the line has more than {MAX_CODE_POINTS:,} code points" if line else "the input ended"
    raise EngineError(f"{request.name}: {problem}; run the same command again to continue with this question")


def _show(request: Request, number: int, total: int) -> None:
    head = f"{request.name} ({number} of {total})"
    messages = request.prompt.messages
    text = "\n\n".join(f"[{turn['role']}]\n{turn['content']}" for turn in messages) if messages else request.prompt.text
    print(f"{'=' * 80}\n{head}\n{'-' * 80}\n{harmless(text)}\n", file=sys.stderr)
    print("Answer in one line (empty: later): ", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Lets Ctrl-C end the read at once; asyncio would wait for the end of the line."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
