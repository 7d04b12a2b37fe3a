"""Servers of models on loopback: one whose replies each test defines, which may break the protocol, and Anthropic's.

`anthropic_service` checks requests as strictly as the Messages API is documented to, and replies with all that a reply
may hold.
"""

import contextlib
import hashlib
import importlib.util
import json
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

if importlib.util.find_spec("sniffio") is None:
    # httpcore tries to import it several times in each request, which would look through all of sys.path.
    sys.modules["sniffio"] = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    number: int  # of earlier requests
    again: int  # the number of earlier requests with the same question

    @property
    def prompt(self) -> str:
        messages = self.body.get("messages") or [{"content": ""}]
        return self.body["prompt"] if "prompt" in self.body else messages[-1]["content"]

    @property
    def question(self) -> str:
        return self.prompt.removesuffix("\nA:").rsplit("Q: ", 1)[-1]


@dataclass(frozen=True)
class Reply:
    """A reply; the connection ends after `n_bytes` of the body, or after `pieces`, which are sent one by one."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    n_bytes: int | None = None
    pieces: Iterable[bytes] | None = None
    has_head: bool = True  # whether status and headers are sent before the pieces


def answering(text: str, finish_reason: str = "stop") -> Reply:
    choice = {
        "index": 0,
        "finish_reason": finish_reason,
        "text": text,
        "message": {"role": "assistant", "content": text},
    }
    return Reply(json.dumps({"object": "chat.completion", "choices": [choice]}).encode())


def refusing(status: int, message: str, **headers: str) -> Reply:
    return Reply(json.dumps({"error": {"message": message}}).encode(), status, headers)


def echo(request: Request) -> Reply:
    """Replies with an answer that depends only on the request."""
    digest = hashlib.sha1(f"{request.prompt}{request.body['seed']}".encode()).hexdigest()
    return answering(f"{request.question} {digest}")


class Gate:
    """Lets some requests through and holds the others until it is opened, so a client stops at a chosen request."""

    def __init__(self, n_requests: int) -> None:
        self.reached = threading.Event()  # set when the first request is held
        self._opened = threading.Event()
        self._n_left = n_requests
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Called by a server for each request."""
        with self._lock:
            self._n_left -= 1
            if self._n_left >= 0:
                return
        self.reached.set()
        self._opened.wait(60)

    def open(self) -> None:
        """Lets all requests through."""
        self._opened.set()


@dataclass
class Server:
    base_url: str
    requests: list[Request]

    @property
    def paths(self) -> set[str]:
        return {request.path for request in self.requests}


@contextlib.contextmanager
def serving(behave: Callable[[Request], Reply]) -> Iterator[Server]:
    requests: list[Request] = []
    asked: Counter[tuple[str, str]] = Counter()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # sends head and body together; separate packets would wait for an acknowledgement

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            body = json.loads(content) if content else {}
            with lock:
                request = Request(self.path, dict(self.headers), body, len(requests), 0)
                key = (request.prompt, str(body.get("messages")))
                request = replace(request, again=asked[key])
                asked[key] += 1
                requests.append(request)
            reply = behave(request)
            with contextlib.suppress(OSError):  # the client has disconnected
                if reply.has_head:
                    self.send_head(reply)
                if reply.pieces is None:
                    self.wfile.write(reply.body[: reply.n_bytes])
                for piece in reply.pieces or ():
                    self.wfile.write(piece)
                    self.wfile.flush()
                self.wfile.flush()
                if reply.n_bytes is not None or reply.pieces is not None:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)

        def send_head(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name.replace("_", "-"), value)
            if reply.pieces is None:
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128  # the usual 5 are fewer than connect at once, and the others may be reset

        def handle_error(self, request: object, client_address: object) -> None:
            pass  # the client was killed

    with Quiet(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield Server(f"http://127.0.0.1:{server.server_address[1]}/v1", requests)
        finally:
            server.shutdown()
            thread.join()


KEY = "the-key"
_NEWER_VERSION = "2026-10-21"  # refuses all parameters of sampling

_MESSAGE_FIELDS = {
    *("model", "max_tokens", "messages", "system", "temperature", "top_p", "top_k", "stop_sequences", "thinking"),
    *("stream", "metadata", "output_config"),
}


def anthropic_error(status: int, kind: str, message: str, **headers: str) -> Reply:
    """An error as Anthropic's servers send it."""
    error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return Reply(json.dumps(error).encode(), status, headers)


def message(body: dict[str, Any], text: str, cached: int = 0) -> dict[str, Any]:
    """A message as Claude's server sends it, with a block of reasoning if that was asked for."""
    content: list[dict[str, Any]] = []
    if body.get("thinking", {}).get("type") in ("enabled", "adaptive"):
        content.append({"type": "thinking", "thinking": "Hm, what floats?", "signature": "sig"})
        content.append({"type": "redacted_thinking", "data": "secret"})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": f"{body['model']}-20990101",
        "content": [*content, {"type": "text", "text": text, "citations": None}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 100 - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": 20,
        },
    }


def fault_of_message(body: dict[str, Any], *, refuses_sampling: bool = False) -> str:
    """What the Messages API says against a request; `""` if nothing."""
    for name in sorted(set(body) - _MESSAGE_FIELDS):
        return f"{name}: Extra inputs are not permitted"
    if not isinstance(body.get("max_tokens"), int) or not body.get("messages"):
        return "max_tokens: Field required"
    if any(item["role"] not in ("user", "assistant") for item in body["messages"]):
        return "messages: Unexpected role; the Messages API accepts a top-level `system` parameter"
    if not 0 <= body.get("temperature", 1) <= 1:
        return "temperature: range: 0..1"
    if any(not text.strip() for text in body.get("stop_sequences", [])):
        return "stop_sequences: each stop sequence must contain non-whitespace"
    thinking = body.get("thinking", {"type": "disabled"})
    if thinking["type"] == "enabled" and not 1024 <= thinking["budget_tokens"] < body["max_tokens"]:
        return "max_tokens must be greater than thinking.budget_tokens"
    if thinking["type"] != "disabled" and body.get("temperature", 1) != 1:
        return "temperature may only be set to 1 when thinking is enabled"
    if refuses_sampling and {"temperature", "top_p", "top_k"} & set(body):
        return "sampling parameters are not supported for this model"
    return ""


def anthropic_service(request: Request) -> Reply:
    """The Messages API; to be given to `serving`."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    if KEY not in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")):
        return anthropic_error(401, "authentication_error", "invalid x-api-key")
    if headers.get("anthropic-version") not in ("2023-06-01", _NEWER_VERSION):
        return anthropic_error(400, "invalid_request_error", "anthropic-version: header is required")
    if request.path.partition("?")[0] != "/v1/messages":
        return anthropic_error(404, "not_found_error", "no such thing")
    is_newer = headers["anthropic-version"] == _NEWER_VERSION
    if fault := fault_of_message(request.body, refuses_sampling=is_newer):
        return anthropic_error(400, "invalid_request_error", fault)
    return Reply(json.dumps(message(request.body, f"About {request.question}", cached=30)).encode())
