"""A program as an evaluator, `command:PROGRAM ...`: one process for each call, with JSON Lines as input and output.

The program reads `{"row", "id", "question", "context", "text"}` and writes `{"row", "scores": {...}}`, in any order.
Its stderr is not touched.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from ...base.errors import DiscernmentError, TrialsError
from ...base.file_reading import MAX_LINE_BYTES, file_sha1
from ...base.journal import json_line
from ...base.untrusted_json import Fault, checked, count, entries, member, parse_json
from ...base.untrusted_text import in_one_line
from .evaluator import score_of
from .function_evaluator import OutsideEvaluator, Receive, Request, Scores

_HASHED_BYTES = 1 << 26
"""The maximum size of hashed files; of larger files in a command, such as models, the signature has only the size."""

_GRACE_SECONDS = 10.0  # how long a program may run after it has scored all texts
_PATIENCE_SECONDS = 2.0  # how long a process may take to end before it is killed


class CommandEvaluator(OutsideEvaluator):
    """A program that scores texts; it is ended if it gives no score for `time_limit` seconds."""

    def __init__(self, command: str, *, name: str | None = None, time_limit: float | None = None, **options: Any):
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise DiscernmentError(f"evaluator command:{in_one_line(command)}: not a command: {error}") from None
        if not self._command:
            raise DiscernmentError("evaluator command: expected a program, as in command:./score.sh")
        files = [_file_hash(argument, is_program=not place) for place, argument in enumerate(self._command)]
        identity = "command:" + json.dumps([self._command, files], ensure_ascii=False)
        super().__init__(name or command, identity, **options)
        if time_limit is not None and not 0 < time_limit < math.inf:
            raise DiscernmentError(f"{self._where}: time limit: expected a number of seconds above 0, not {time_limit}")
        self._time_limit = time_limit

    def _ask(self, requests: Sequence[Request], receive: Receive) -> None:
        missing = dict.fromkeys(range(len(requests)))

        def reply(value: Any) -> tuple[int, Scores]:
            row = member(value, "row", count)
            if row not in missing:
                problem = "scores for the second time" if row < len(requests) else f"expected below {len(requests)}"
                raise Fault(f"row {row}: {problem}")
            return row, member(value, "scores", lambda scores: entries(scores, score_of))

        with tempfile.TemporaryFile() as texts:
            texts.writelines(map(_line, range(len(requests)), requests))
            texts.seek(0)
            with self._running(texts) as (stdout, process, clock):
                lines = iter(partial(stdout.readline, MAX_LINE_BYTES + 1), b"")
                for number, line in enumerate(lines, start=1):
                    if line.strip():
                        where = f"{self._where}, line {number:,} of its output"
                        if len(line) > MAX_LINE_BYTES:
                            raise DiscernmentError(
                                f"{where}: longer than {MAX_LINE_BYTES >> 20} MiB, which is the limit"
                            )
                        value = parse_json(line, where, error=DiscernmentError)
                        row, scores = checked(value, reply, where, error=DiscernmentError)
                        del missing[row]
                        receive(row, scores)
                        clock.restart(self._time_limit if missing else _GRACE_SECONDS)
                code = process.wait()
        if missing:
            problem = f"exited with {code}, but {len(missing):,} of {len(requests):,} texts have no scores"
            if clock.has_expired:
                problem = f"no score for {self._time_limit:g} seconds, which is the time limit"
            raise DiscernmentError(f"{self._where}, {requests[next(iter(missing))]}: {problem}")

    @contextlib.contextmanager
    def _running(self, texts: IO[bytes]) -> Iterator[tuple[IO[bytes], subprocess.Popen[bytes], _Clock]]:
        """Runs the program, and ends it with the context."""
        try:
            process = subprocess.Popen(self._command, stdin=texts, stdout=subprocess.PIPE, start_new_session=True)
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or error
            raise DiscernmentError(f"{self._where}: cannot be started: {problem}") from None
        clock = _Clock(process, self._time_limit)
        try:
            assert process.stdout is not None
            with process.stdout:
                yield process.stdout, process, clock
        finally:
            clock.stop()
            if process.returncode is None:
                _end(process)


class _Clock(threading.Thread):
    """Ends a process when its time has passed."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float | None) -> None:
        super().__init__(daemon=True)
        self._process, self._is_over, self.has_expired = process, threading.Event(), False
        self.restart(seconds)
        self.start()

    def restart(self, seconds: float | None) -> None:
        """Gives the process this time from now on; None for no limit."""
        self._deadline = time.monotonic() + (threading.TIMEOUT_MAX / 2 if seconds is None else seconds)

    def stop(self) -> None:
        """Ends the thread."""
        self._is_over.set()
        self.join()

    def run(self) -> None:
        """Waits for the deadline, which may move."""
        # Looks at the deadline several times a second, because a restart may bring it nearer.
        while not self._is_over.wait(min(0.2, max(0.0, self._deadline - time.monotonic()))):
            if time.monotonic() >= self._deadline:
                self.has_expired = True
                _end(self._process)
                return


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the processes of a group; those that ignore this are killed."""
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the group has ended
            if hasattr(os, "killpg"):
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE_SECONDS)


def _line(row: int, request: Request) -> bytes:
    item = request.item
    asked = {"row": row, "id": item.id, "question": item.question, "context": item.context, "text": request.text}
    return json_line(asked)


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
