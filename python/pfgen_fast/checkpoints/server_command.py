"""Starts a server for a checkpoint with a user's command, and ends it after the checkpoint is scored."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shlex
import shutil
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

_LOOK_SECONDS = 0.25
_NO_LIST_OF_MODELS = (401, 403, 404, 405, 501)
_NOT_READY = (OSError, ValueError, RecursionError, http.client.HTTPException)
_MAX_LIST_BYTES = 1 << 20
_LOG_BYTES = 4096


@dataclass(frozen=True)
class ServerCommand:
    """A command that starts a server.

    In each word, `{path}` becomes the directory of the weights, `{name}` the name of the checkpoint, `{step}` its step,
    and `{port}` a free port.
    """

    words: Sequence[str]  # program and arguments
    seconds: float = 600.0  # time limit for the start

    def __post_init__(self) -> None:
        if os.name == "nt":
            raise EngineError("--serve: not available on Windows, which has no process groups")
        for needed in ("{path}", "{port}"):
            if not any(needed in word for word in self.words):
                raise EngineError(
                    f"--serve: expected {needed} in the command, such as 'vllm serve {{path}} --port {{port}}'"
                )
        if self.words and shutil.which(self.words[0]) is None and "{" not in self.words[0]:
            raise EngineError(f"--serve: the program {in_one_line(self.words[0])} is not found")

    @classmethod
    def of(cls, command: str, *, seconds: float = 600.0) -> ServerCommand:
        """Splits a command into words as a shell does. No shell runs the command."""
        try:
            return cls(tuple(shlex.split(command)), seconds)
        except ValueError as error:
            raise EngineError(f"--serve {in_one_line(command)}: {error}") from None

    @contextlib.contextmanager
    def running(self, checkpoint: Checkpoint, log: Path, *, key: str = "") -> Iterator[RunningServer]:
        """Starts a server for a checkpoint, waits until it replies, and ends it afterwards, even after a kill."""
        port = _free_port()
        values = {"path": checkpoint.weights, "name": checkpoint.folder.name, "step": checkpoint.step, "port": port}
        words = [re.sub(r"\{(\w+)\}", lambda match: str(values.get(match[1], match[0])), word) for word in self.words]
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "wb") as output:
            supervised = [sys.executable, "-I", str(Path(__file__).with_name("supervised.py")), *words]
            process = subprocess.Popen(
                supervised, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
        try:
            server = RunningServer(f"http://127.0.0.1:{port}/v1", process, log)
            server.wait(time.monotonic() + self.seconds, self.seconds, key)
            server.model = server.model or checkpoint.folder.name
            yield server
        finally:
            if process.stdin is not None:
                process.stdin.close()
            process.wait()


@dataclass
class RunningServer:
    """A server for a checkpoint."""

    base_url: str
    process: subprocess.Popen[bytes]
    log: Path
    model: str = ""  # first model that it lists

    @property
    def ending(self) -> str:
        """How the server ended; empty while the server runs."""
        if self.process.poll() is None:
            return ""
        return f"the server ended with code {self.process.returncode}{_last_line(self.log)}"

    def wait(self, deadline: float, seconds: float, key: str) -> None:
        """Waits until the server replies."""
        problem = ""
        while time.monotonic() < deadline:
            if self.ending:
                raise EngineError(self.ending)
            try:
                self.model = _first_model(self.base_url, deadline, key)
                return
            except _NOT_READY as error:  # the server does not listen yet, or is still loading the model
                problem = f" ({in_one_line(error, 200)})"
            time.sleep(_LOOK_SECONDS)
        raise EngineError(f"the server did not reply within {seconds:g} s{problem}{_last_line(self.log)}")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _first_model(base_url: str, deadline: float, key: str) -> str:
    """The first model that a server lists; empty if the list is empty or not available."""
    request = urllib.request.Request(f"{base_url}/models", headers={"Authorization": f"Bearer {key}"} if key else {})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    content = b""
    try:
        with opener.open(request, timeout=5) as reply:
            while part := reply.read1(_MAX_LIST_BYTES):
                content += part
                if time.monotonic() > deadline or len(content) > _MAX_LIST_BYTES:
                    raise ValueError("the list of models is too long, or arrives too slowly")
    except urllib.error.HTTPError as error:
        if error.code in _NO_LIST_OF_MODELS:
            return ""
        raise
    listed = json.loads(content)
    data = listed.get("data") if isinstance(listed, dict) else None
    name = data[0].get("id") if isinstance(data, list) and data and isinstance(data[0], dict) else None
    return name if isinstance(name, str) else ""


def _last_line(log: Path) -> str:
    with open(log, "rb") as opened:
        opened.seek(max(0, log.stat().st_size - _LOG_BYTES))
        lines = [line for line in opened.read().decode(errors="replace").splitlines() if line.strip()]
    last = f"; its last output: {in_one_line(lines[-1].strip(), 300)}" if lines else ""
    return f"{last} (see {log})"
