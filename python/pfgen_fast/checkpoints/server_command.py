"""A user's command that starts a server for a checkpoint, and is ended when the checkpoint is scored."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import EngineError
from ..files.untrusted_text import in_one_line
from .found import Checkpoint

START_SECONDS = 600.0
"""How long a server may take to start by default."""

_LOOK_SECONDS = 0.25
_NO_LIST_OF_MODELS = (404, 405, 501)
_MAX_LIST_BYTES = 1 << 20
_LOG_BYTES = 4096


@dataclass(frozen=True)
class ServerCommand:
    """A command that starts a server.

    Attributes:
        words: The program and its arguments. In each, `{path}` becomes the directory of the weights, `{name}` the name
            of the checkpoint, `{step}` its step, and `{port}` a free port.
        seconds: How long the server may take to start.

    Raises:
        EngineError: The command lacks `{path}` or `{port}`, or the system has no process groups.

    Example:
        >>> ServerCommand.of("vllm serve {path} --port {port}").words
        ('vllm', 'serve', '{path}', '--port', '{port}')
    """

    words: Sequence[str]
    seconds: float = START_SECONDS

    def __post_init__(self) -> None:
        if os.name == "nt":
            raise EngineError("--serve: not available on Windows, which has no process groups")
        for needed in ("{path}", "{port}"):
            if not any(needed in word for word in self.words):
                raise EngineError(
                    f"--serve: expected {needed} in the command, such as 'vllm serve {{path}} --port {{port}}'"
                )

    @classmethod
    def of(cls, command: str, *, seconds: float = START_SECONDS) -> ServerCommand:
        """Splits a command into words as a shell does; no shell runs it."""
        try:
            return cls(tuple(shlex.split(command)), seconds)
        except ValueError as error:
            raise EngineError(f"--serve {in_one_line(command)}: {error}") from None

    @contextlib.contextmanager
    def running(self, checkpoint: Checkpoint, log: Path) -> Iterator[tuple[str, str]]:
        """Starts a server for a checkpoint; yields its base URL and the name of its model when it replies.

        The output of the server is written to `log`. At the end, also if this process is killed, the server is ended.
        """
        port = _free_port()
        values = {"path": str(checkpoint.weights), "name": checkpoint.folder.name, "step": str(checkpoint.step)}
        words = [_filled(word, {**values, "port": str(port)}) for word in self.words]
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "wb") as output:
            supervised = [sys.executable, "-I", str(Path(__file__).with_name("supervised.py")), *words]
            process = subprocess.Popen(
                supervised, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
        try:
            base_url = f"http://127.0.0.1:{port}/v1"
            yield base_url, self._model_of(base_url, process, log) or checkpoint.folder.name
        finally:
            if process.stdin is not None:
                process.stdin.close()
            process.wait()

    def _model_of(self, base_url: str, process: subprocess.Popen[bytes], log: Path) -> str | None:
        """Waits until the server replies; returns the name of its first model, if it lists any."""
        deadline = time.monotonic() + self.seconds
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise EngineError(f"the server ended with code {process.returncode}{_last_line(log)}")
            with contextlib.suppress(OSError, ValueError):  # it does not listen yet, or still loads its model
                return _first_model(base_url)
            time.sleep(_LOOK_SECONDS)
        raise EngineError(f"the server did not reply within {self.seconds:g} s{_last_line(log)}")


def _filled(word: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _first_model(base_url: str) -> str | None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{base_url}/models", timeout=5) as reply:
            listed = json.loads(reply.read(_MAX_LIST_BYTES))
    except urllib.error.HTTPError as error:
        if error.code in _NO_LIST_OF_MODELS:
            return None
        raise
    data = listed.get("data") if isinstance(listed, dict) else None
    name = data[0].get("id") if isinstance(data, list) and data and isinstance(data[0], dict) else None
    return name if isinstance(name, str) and name else None


def _last_line(log: Path) -> str:
    with open(log, "rb") as opened:
        opened.seek(max(0, log.stat().st_size - _LOG_BYTES))
        lines = [line for line in opened.read().decode(errors="replace").splitlines() if line.strip()]
    last = f", and said: {in_one_line(lines[-1].strip(), 300)}" if lines else ""
    return f"{last} (see {log})"
