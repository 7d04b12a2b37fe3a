"""The ASGI application of the reward server.

The event loop only receives, counts and sends bytes. Workers decode bodies, score answers and encode replies. A request
that waits for a worker is dropped if its client disconnects or if it has waited for too long.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from ... import __version__
from ...base.errors import PfgenError, RewardError, TrialsError
from ...base.native import run_until
from ...base.untrusted_json import json_bytes
from ...scoring.reply_text import Mode
from ...scoring.scorer import Scorer
from ..completions import CompletionReward
from ..reward import Reward
from .adapters import Handler
from .admission import Gone, Guard, Limits, Receive, Refusal, Room, RoomShare, too_busy
from .request_bodies import JSON, Reply

Send = Callable[[Any], Awaitable[None]]

_OPENAPI = Path(__file__).parents[2] / "data" / "openapi.json"
_log = logging.getLogger(__name__)
_SHARE_OF_QUEUE, _SHARE_OF_ALL = 0.5, 0.9
"""The shares of the time limit after which a worker must have started, and finished; the rest is for the reply."""

_WATCH_AFTER_SECONDS = 0.1
"""Seconds before the server begins to check whether a client has disconnected; most requests are finished earlier."""


def _openapi(signature: str, limits: Limits) -> bytes:
    document = json.loads(_OPENAPI.read_bytes())
    description = f"Rewards of answers. Signature of the scores: {signature}. Limits: {limits}."
    document["info"] |= {"version": __version__, "description": description}
    answers = document["components"]["schemas"]["Answers"]
    answers["maxItems"], answers["items"]["maxLength"] = limits.n_answers, limits.n_code_points
    return json_bytes(document)


class Application:
    """The object that uvicorn calls for each request."""

    def __init__(
        self, source: Scorer | Reward, guard: Guard, limits: Limits, *, mode: Mode = "completion", workers: int = 1
    ) -> None:
        self.room = Room(limits)
        self._limits, self._guard = limits, guard
        self._workers = ThreadPoolExecutor(workers, thread_name_prefix="pfgen-score")
        reward = source if isinstance(source, Reward) else Reward(source)
        self._handler, document = Handler(CompletionReward(reward, mode), limits), _openapi(reward.signature, limits)
        self._shown: dict[str, Callable[[], Reply]] = {
            "/healthz": self._health,
            "/openapi.json": lambda: Reply(document),
        }

    def close(self) -> None:
        """Stops the workers and drops the requests that wait for them."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answers a request."""
        path = scope["path"]
        with RoomShare(self.room) as place:
            reply, refusal = None, None
            try:
                reply = await self._reply(scope, receive, place)
            except Gone:
                pass
            except Refusal as error:
                refusal = error
            except (RewardError, TrialsError) as error:
                refusal = Refusal(400, str(error))
            except asyncio.CancelledError:  # by a second signal
                refusal = Refusal(503, "the server shuts down", {"Connection": "close"})
            except Exception as error:
                _log.error("%s: %s", path, error, exc_info=None if isinstance(error, PfgenError) else error)
                refusal = Refusal(500, "the server failed; see its log for the cause")
            if refusal is not None:
                content = json_bytes({"error": refusal.sentence}, is_compact=True)
                reply = Reply(content, status=refusal.status, headers=refusal.headers)
            if reply is not None:
                place.hold(len(reply.content))
                await _send(reply, send)

    def _health(self) -> Reply:
        return Reply(
            json_bytes({"status": "ok", "requests": self.room.n_requests, "bytes": self.room.n_bytes}, is_compact=True)
        )

    async def _reply(self, scope: Mapping[str, Any], receive: Receive, place: RoomShare) -> Reply:
        path, headers = scope["path"], _headers(scope)
        try:
            self._guard.check(headers, is_open=path == "/healthz")
            posted = self._handler.adapters
            if path not in posted and path not in self._shown:
                raise Refusal(404, f"unknown path; expected one of {', '.join((*posted, *self._shown))}")
            methods = ("POST",) if path in posted else ("GET", "HEAD")
            if scope["method"] not in methods:
                raise Refusal(405, f"{path} requires {methods[0]}", {"Allow": ", ".join(methods)})
            if path in self._shown:
                return self._shown[path]()
            # Pages of other origins cannot send this type without a preflight.
            if headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
                raise Refusal(415, f"Content-Type: expected {JSON}")
        except Refusal as refusal:
            refusal.headers = {**refusal.headers, "Connection": "close"}  # because the body is not read
            raise
        begin = time.monotonic()
        body = await place.body(headers, receive)
        return await self._worked(partial(self._handler, path, body), receive, place, begin)

    async def _worked(self, work: Callable[[], Reply], receive: Receive, place: RoomShare, begin: float) -> Reply:
        cancelled = threading.Event()
        submitted = self._workers.submit(run_until, cancelled.is_set, work)
        future = asyncio.wrap_future(submitted)
        place.keep_until(future)
        done, _ = await asyncio.wait((future,), timeout=_WATCH_AFTER_SECONDS)
        if not done:
            leaving = asyncio.ensure_future(receive())  # after the body, the only message is the disconnect
            try:
                for share in (_SHARE_OF_QUEUE, _SHARE_OF_ALL):
                    left = begin + share * self._limits.seconds - time.monotonic()
                    await asyncio.wait((future, leaving), timeout=max(left, 0), return_when=asyncio.FIRST_COMPLETED)
                    if future.done():
                        break
                    if submitted.cancel():  # succeeds only if no worker has started
                        future.cancel()
                    if leaving.done():
                        raise Gone
                    if future.done():
                        raise too_busy("the request has waited for too long; try again later", 503)
                else:
                    raise Refusal(413, f"scoring takes more than {self._limits.seconds:g} s; send smaller batches")
            finally:
                cancelled.set()  # ends comparisons that may take minutes
                leaving.cancel()
        return future.result()


def _headers(scope: Mapping[str, Any]) -> dict[str, str]:
    """The headers. Headers with the same name are joined, so a request with two hosts is refused."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


async def _send(reply: Reply, send: Send) -> None:
    headers = {"Content-Type": reply.kind, "Content-Length": str(len(reply.content)), **_PROTECTION, **reply.headers}
    encoded = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": encoded})
    await send({"type": "http.response.body", "body": reply.content, "more_body": True})
    await send({"type": "http.response.body", "body": b""})  # waits until most of the content is sent


_PROTECTION = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
