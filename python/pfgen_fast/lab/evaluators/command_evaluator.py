"""A program as an evaluator, `command:PROGRAM ...`: one process for each call, with JSON Lines as input and output.

The program reads `{"row", "id", "question", "context", "text"}` and writes `{"row", "scores": {...}}`, in any order.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from ...base.errors import DiscernmentError, TrialsError
from ...base.file_reading import MAX_LINE_BYTES, file_sha1
from ...base.journal import json_line
from ...base.untrusted_json import Fault, checked, count, entries, member, parse_json
from ...base.untrusted_text import in_one_line, terminal_text
from .evaluator import Item, score_of
from .function_evaluator import OutsideEvaluator, Receive, Request, Scores

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


_HASHED_BYTES = 1 << 26
"""The maximum size of hashed files; of larger files in a command, such as models, the signature has only the size."""

_GRACE_SECONDS = 10.0  # how long a program may run after it has scored all texts


class CommandEvaluator(OutsideEvaluator):
    """A program that scores texts."""

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        name: str | None = None,
        version: str = "",
        time_limit: float | None = None,
        show: Callable[[str], None] | None = None,
        **options: Any,
    ) -> None:
        self._command = _split(command)
        super().__init__(name or shlex.join(self._command), **options)
        if time_limit is not None and not 0 < time_limit < math.inf:
            raise DiscernmentError(f"{self._where}: time limit: expected a number of seconds above 0, not {time_limit}")
        self._time_limit, self._show = time_limit, show or _to_stderr
        files = [_file_hash(argument, is_program=not place) for place, argument in enumerate(self._command)]
        self._identity = "command:" + json.dumps([self._command, files, version], ensure_ascii=False)

    @property
    def identity(self) -> str:
        """The command, the hashes of the files in it, and the version."""
        return self._identity

    def _seen(self, item: Item) -> Sequence[object]:
        return (item.id, item.question, item.context)

    def _ask(self, requests: Sequence[Request], receive: Receive) -> None:
        try:
            program = Program(self._command, _lines(requests), self._show)
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or error
            raise DiscernmentError(f"{self._where}: cannot be started: {problem}") from None
        with program:
            _Conversation(self._where, requests, receive, self._time_limit).hold(program)


class _Conversation:
    """The replies of a program in one call."""

    def __init__(self, where: str, requests: Sequence[Request], receive: Receive, time_limit: float | None) -> None:
        self._where, self._requests, self._receive, self._time_limit = where, requests, receive, time_limit
        self._missing = dict.fromkeys(range(len(requests)))
        self._deadline: float | None = None

    def hold(self, program: Program) -> None:
        """Receives scores until the program ends; raises an error if scores are missing."""
        self._wait_anew()
        try:
            number = 0
            while line := program.line(self._deadline):
                number += 1
                if line.strip():
                    self._take(line, f"{self._where}, line {number:,} of its output")
                elif self._deadline is not None and time.monotonic() > self._deadline:
                    raise TimeoutError
            code = program.exit_code(self._deadline)
        except TimeoutError:
            if self._missing:
                problem = f"no score for {self._time_limit:g} seconds, which is the time limit"
                raise DiscernmentError(f"{self._where}, {self._first}: {problem}") from None
            return
        if self._missing:
            counts = f"{len(self._missing):,} of {len(self._requests):,} texts have no scores"
            raise DiscernmentError(f"{self._where}, {self._first}: {_ended(code)}, but {counts}")
        if code:
            scored = f"all {len(self._requests):,} texts"
            raise DiscernmentError(f"{self._where}: {_ended(code)} after it had scored {scored}; expected 0")

    @property
    def _first(self) -> str:
        """The first row without scores."""
        place = next(iter(self._missing))
        return f"row {place} (item {in_one_line(self._requests[place].item.id)})"

    def _take(self, line: bytes, where: str) -> None:
        if len(line) > MAX_LINE_BYTES:
            raise DiscernmentError(f"{where}: longer than {MAX_LINE_BYTES >> 20} MiB, which is the limit")
        value = parse_json(line, where, error=DiscernmentError)
        row, scores = checked(value, self._reply, where, error=DiscernmentError)
        del self._missing[row]
        self._receive(row, scores)
        self._wait_anew()

    def _reply(self, value: Any) -> tuple[int, Scores]:
        return member(value, "row", self._row), member(value, "scores", lambda scores: entries(scores, score_of))

    def _row(self, value: Any) -> int:
        row = count(value)
        if row >= len(self._requests):
            raise Fault(f"there is no row {row}; expected a row from 0 to {len(self._requests) - 1}")
        if row not in self._missing:
            raise Fault(f"scores of row {row} for the second time; expected one line for each row")
        return row

    def _wait_anew(self) -> None:
        seconds = self._time_limit if self._missing else _GRACE_SECONDS
        self._deadline = None if seconds is None else time.monotonic() + seconds


def _lines(requests: Sequence[Request]) -> Iterator[bytes]:
    for row, request in enumerate(requests):
        item = request.item
        asked = {"row": row, "id": item.id, "question": item.question, "context": item.context, "text": request.text}
        yield json_line(asked)


def _split(command: str | Sequence[str]) -> list[str]:
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise DiscernmentError(f"evaluator command:{in_one_line(command)}: not a command: {error}") from None
    if not words:
        raise DiscernmentError("evaluator command: expected a program, as in command:./score.sh")
    return words


def _file_hash(argument: str, *, is_program: bool) -> str | None:
    """The hash of a file in a command, or the size of a large file; None if the argument is not a file."""
    path = Path(argument)
    if is_program and path.name == argument:  # a program on the PATH, of which other machines may have other builds
        return None
    try:
        if not path.is_file():
            return None
        n_bytes = path.stat().st_size
        return file_sha1(path) if n_bytes <= _HASHED_BYTES else f"{n_bytes} bytes"
    except (OSError, ValueError, TrialsError):
        return None


def _ended(code: int) -> str:
    if code >= 0:
        return f"exited with {code}"
    try:
        return f"was ended by {signal.Signals(-code).name} (exit code {code})"
    except ValueError:
        return f"was ended by the signal {-code} (exit code {code})"


def _to_stderr(line: str) -> None:
    if sys.stderr is not None:
        print(line, file=sys.stderr)
