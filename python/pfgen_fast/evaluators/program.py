"""A process that reads and writes lines at the same time, in a process group that ends with its context.

The processes that it has started therefore end too, also after a time limit or Ctrl-C.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import IO, TYPE_CHECKING, cast

from ..files.reading import MAX_LINE_BYTES
from ..files.untrusted_text import terminal_text

if TYPE_CHECKING:
    from typing_extensions import Self

_STDERR_BYTES = 1 << 13  # maximum length of a shown line of stderr; longer lines are split

_LINES_AHEAD = 256
_PATIENCE_SECONDS = 2.0  # how long a process may take to end before it is killed


class Program:
    """A running process, which ends with the context."""

    def __init__(self, command: Sequence[str], lines: Iterable[bytes], show: Callable[[str], None]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._stdin, self._stdout, self._stderr = (cast("IO[bytes]", pipe) for pipe in pipes)
        self._lines, self._show = lines, show
        self._read: queue.Queue[bytes] = queue.Queue(_LINES_AHEAD)
        self._is_ending = threading.Event()
        work = (self._write_stdin, self._read_stdout, self._show_stderr)
        self._threads = [threading.Thread(target=target, daemon=True) for target in work]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process.returncode is None:
            self._end()
        self._is_ending.set()
        for thread in self._threads:
            # Only a process outside of the group could still keep a pipe open, and a thread waiting.
            thread.join(_PATIENCE_SECONDS)

    def line(self, deadline: float | None) -> bytes:
        """The next line of its output, cut after `MAX_LINE_BYTES + 1` bytes; empty at the end of the output."""
        try:
            return self._read.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise TimeoutError from None

    def exit_code(self, deadline: float | None) -> int:
        """Waits for the end of the process; the exit code is negative if a signal ended it."""
        try:
            return self._process.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TimeoutError from None

    def _end(self) -> None:
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE_SECONDS)
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))  # ends processes that ignored SIGTERM
        self._process.wait()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the group has ended
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, number)
            else:
                self._process.send_signal(number)

    def _write_stdin(self) -> None:
        # A program may end before it has read all lines.
        with contextlib.suppress(OSError), self._stdin:
            for line in self._lines:
                self._stdin.write(line)

    def _read_stdout(self) -> None:
        with self._stdout:
            is_open = True
            while is_open:
                line = self._stdout.readline(MAX_LINE_BYTES + 1)
                is_open = bool(line) and self._put(line)
            self._put(b"")

    def _put(self, line: bytes) -> bool:
        """Adds a line to the queue; returns False if the context ends before the queue has space."""
        while not self._is_ending.is_set():
            with contextlib.suppress(queue.Full):
                self._read.put(line, timeout=0.1)
                return True
        return False

    def _show_stderr(self) -> None:
        with self._stderr:
            while line := self._stderr.readline(_STDERR_BYTES):
                # A progress bar writes several states into a line; only the last is shown.
                states = [state for state in line.decode("utf-8", "replace").rstrip("\r\n").split("\r") if state]
                self._show(terminal_text(states[-1]) if states else "")
