"""Reward servers in separate processes, and connections to them that send any bytes."""

import atexit
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

HTTP = httpx.Client(verify=False, trust_env=False, timeout=60)
atexit.register(HTTP.close)
SECONDS = 60
"""How long a test waits for what must happen at once; never waited for in full."""

TOKEN = "a-token-of-these-tests-0123456789"

_WITH_LIMITS = """
import json, sys
from pfgen_fast import Scorer
from pfgen_fast.rewards.server.admission import Limits
from pfgen_fast.rewards.server.reward_server import serve
sys.exit(not serve(Scorer("mini", threads=1), port=0, limits=Limits(**json.loads(sys.argv[1])), workers=1))
"""


@dataclass(frozen=True)
class RewardServer:
    process: subprocess.Popen[str]
    line: str
    url: str

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)

    def send(self, content: bytes) -> bytes:
        """Sends bytes over a new connection, and returns all that comes until the server closes it."""
        with self.connect() as connection:
            with contextlib.suppress(ConnectionError):  # the server may have heard enough
                connection.sendall(content)
            return received(connection)

    def wait_until_it_listens_no_more(self) -> None:
        def is_refused() -> bool:
            try:
                self.connect().close()
            except ConnectionError:
                return True
            return False

        wait_until(is_refused)


def wait_until(is_true: Any) -> None:
    """Waits for something that must happen soon."""
    end = time.monotonic() + SECONDS
    while not is_true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def received(connection: socket.socket) -> bytes:
    """All bytes until the other side closes the connection."""
    pieces = []
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(1 << 16):
            pieces.append(piece)
    return b"".join(pieces)


def post(body: bytes | str, path: str = "/reward", *, close: bool = True, **headers: str) -> bytes:
    """A request, whose headers may be any; `Host` is missing unless it is given."""
    content = body if isinstance(body, bytes) else body.encode()
    named = {"Content_Type": "application/json", "Content_Length": str(len(content)), **headers}
    if close:
        named["Connection"] = "close"
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items() if value)
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + content


def parsed(reply: bytes) -> tuple[int, dict[str, Any]]:
    """The status and the JSON of a reply."""
    head, _, body = reply.partition(b"\r\n\r\n")
    match = re.match(rb"HTTP/1\.1 (\d+)", head)
    assert match, reply[:200]
    return int(match[1]), json.loads(body)


@contextlib.contextmanager
def serving(*options: object, env: Mapping[str, str] | None = None) -> Iterator[RewardServer]:
    """The command `serve` on a free port, which must end well after SIGTERM."""
    command = [sys.executable, "-m", "pfgen_fast", "serve", "--port", "0", *map(str, options)]
    with _running(command, env or {}) as server:
        yield server


@contextlib.contextmanager
def serving_within(**limits: float) -> Iterator[RewardServer]:
    """A server of the packaged suite with one worker and other limits."""
    with _running([sys.executable, "-c", _WITH_LIMITS, json.dumps(limits)], {}) as server:
        yield server


@contextlib.contextmanager
def _running(command: list[str], env: Mapping[str, str]) -> Iterator[RewardServer]:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **env}
    )
    try:
        line = process.stdout.readline()
        if not line:
            raise AssertionError(process.stderr.read())
        yield RewardServer(process, line, re.match(r"http://\S+", line)[0])
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        process.communicate()
