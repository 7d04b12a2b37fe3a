"""Sends requests to a server, retries them and reads the replies, for all protocols.

The server is not trusted: a reply has a time limit and a maximum length, and is not decompressed. The key comes from an
environment variable, and is only written to the header of requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import email.utils
import http.cookiejar
import json
import os
import random
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from ...base.errors import EngineError, optional
from ...base.untrusted_text import in_one_line
from ..events import Events, Trouble
from ..prompts import Request
from ..protocol import NoAnswer, RawReply, ServerForm
from .engine import Engine

if TYPE_CHECKING:
    import ssl

    import httpx

MAX_REPLY_BYTES = 1 << 21
"""The maximum length of a reply. Any answer with its reasoning is shorter; decoded JSON of this length takes 60 MiB."""

_OF_SCHEMAS = re.compile(r"response_?format|json_?schema|output_config|response_?mime_?type", re.IGNORECASE)
"""Names that only occur in refusals of a JSON schema."""

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_CONNECT_SECONDS = 10.0
_LONGEST_PAUSE_SECONDS = 600.0
_LONGEST_BACKOFF_SECONDS = 30.0
_FAILURES_AT_FIRST, _FAILURES_LATER = 10, 100
_WORTH_ANOTHER_TRY = {409, 425}
_LEAST_SECRET_LENGTH = 8
"""The minimum length of a key that is hidden in messages. Shorter keys are placeholders that may occur in any text."""


@cache
def _certificates() -> ssl.SSLContext:
    """The trusted certificates. They are read only once, because reading is slow."""
    import httpx

    return httpx.create_ssl_context()


@dataclass(frozen=True)
class ServerConnection:
    """The options of a connection to a server."""

    base_url: str | None = None  # address including `/v1`; None for the default address of the engine
    key_env: str | None = None  # environment variable that holds the key; None for the default of the engine
    concurrency: int = 16  # maximum number of concurrent requests
    timeout: float = 120.0  # seconds within which the whole reply must arrive
    retries: int = 5  # maximum number of retries after failures that may be temporary
    backoff: float = 0.5  # seconds before the first retry; doubles with each retry


@dataclass(frozen=True)
class _Reply:
    """A server's reply; `fault` is the reason why its content was not read."""

    status: int
    retry_after: str
    content: bytes
    fault: str = ""


class ServerEngine(Engine):
    """Sends concurrent requests to a server."""

    def __init__(
        self, form: ServerForm, connection: ServerConnection, url: str, key_env: str, *, needs_key: bool
    ) -> None:
        for option, least in (("concurrency", 1), ("timeout", 0.001), ("retries", 0)):
            if not getattr(connection, option) >= least:
                raise EngineError(f"{option}: expected at least {least}, not {getattr(connection, option)}")
        self.parameters: Mapping[str, Any] = form.parameters
        self.events: Events = Events()
        self._form, self._connection, self._url, self._key_env = form, connection, _checked_url(url), key_env
        self._key = _checked_key(key_env, is_needed=needs_key)
        self._client: httpx.AsyncClient | None = None
        self._has_answered = False
        self._failures_in_a_row = 0
        self._pause_until = 0.0

    async def answers(self, requests: Sequence[Request]) -> AsyncGenerator[tuple[int, RawReply | None], None]:
        """Yields the answers when they arrive."""
        arrived: asyncio.Queue[tuple[int, RawReply | None] | Exception] = asyncio.Queue()
        todo = iter(enumerate(requests))

        async def work() -> None:
            try:
                for index, request in todo:
                    arrived.put_nowait((index, await self._answer(request)))
            except Exception as error:  # raised below, after the earlier answers
                arrived.put_nowait(error)

        workers = [asyncio.create_task(work()) for _ in range(min(self._connection.concurrency, len(requests)))]
        try:
            for _ in requests:
                item = await arrived.get()
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def close(self) -> None:
        """Closes all connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _answer(self, request: Request) -> RawReply | None:
        """The reply to one request; None without a usable reply."""
        import httpx

        path, body = self._form.path_and_body(request)
        for attempt in range(self._connection.retries + 1):
            await self._pause()
            wait = min(self._connection.backoff * 2**attempt, _LONGEST_BACKOFF_SECONDS) * random.uniform(0.5, 1)
            try:
                reply = await self._post(path, body)
            except TimeoutError:
                trouble, problem = Trouble.TIMEOUT, f"no complete reply within {self._connection.timeout:g} s"
            except httpx.HTTPError as error:
                trouble = Trouble.TIMEOUT if isinstance(error, httpx.TimeoutException) else Trouble.CONNECTION
                problem = self._shown(str(error) or type(error).__name__)
                if not self._has_answered and isinstance(
                    error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError | httpx.UnsupportedProtocol
                ):
                    self._fail(f"cannot be reached: {problem}")
            else:
                if 200 <= reply.status < 300:
                    return self._read(reply)
                trouble = _trouble_of(reply.status)
                problem = f"HTTP {reply.status}: {reply.fault or self._message_in(reply.content)}"
                if trouble is Trouble.REFUSAL:
                    self._refused(reply.status, problem, request)
                    return None
                self._check_final(problem)
                wait = max(wait, self._asked_pause(reply))
            is_last = attempt == self._connection.retries
            self.events.add(trouble, problem if is_last else f"{problem}; next try in {wait:.3g} s")
            if not is_last:
                self.events.n_retries += 1
                await asyncio.sleep(wait)
        self._missing(problem)
        return None

    async def _post(self, path: str, body: Mapping[str, Any]) -> _Reply:
        import anyio  # comes with httpx; before Python 3.12, asyncio.wait_for may swallow a cancellation

        self._client = self._client or self._make_client()
        content = bytearray()
        with anyio.fail_after(self._connection.timeout):
            async with self._client.stream("POST", self._url + path, json=body) as response:
                status, retry_after = response.status_code, response.headers.get("Retry-After", "")
                encoding = response.headers.get("Content-Encoding", "").strip().lower()
                if encoding not in ("", "identity"):  # decompressed kilobytes may become gigabytes
                    fault = f"the reply is compressed ({in_one_line(encoding)}), which was not requested"
                    return _Reply(status, retry_after, b"", fault)
                async for part in response.aiter_raw():
                    content += part
                    if len(content) > MAX_REPLY_BYTES:
                        fault = f"the reply is longer than {MAX_REPLY_BYTES:,} bytes, which is the limit"
                        return _Reply(status, retry_after, b"", fault)
        return _Reply(status, retry_after, bytes(content))

    def _make_client(self) -> httpx.AsyncClient:
        import httpx

        no_cookies = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=()))
        return httpx.AsyncClient(
            headers={"Accept-Encoding": "identity", **self._form.headers(self._key)},
            cookies=no_cookies,  # cookies could grow without limit
            timeout=httpx.Timeout(self._connection.timeout, connect=min(self._connection.timeout, _CONNECT_SECONDS)),
            limits=httpx.Limits(max_connections=self._connection.concurrency),
            verify=_certificates(),
            mounts={f"all://{name}": None for name in _LOOPBACK},  # no proxy reaches a server on this machine
        )

    def _read(self, reply: _Reply) -> RawReply | None:
        """The reply in the body of a successful response."""
        if reply.fault:
            self.events.add(Trouble.UNUSABLE, reply.fault)
            self._missing(reply.fault)
            return None
        self._has_answered = True
        self._failures_in_a_row = 0
        try:
            decoded = json.loads(reply.content)
            self.events.add_usage(self._form.usage_in(decoded))
            raw = self._form.raw_reply(decoded)
        except NoAnswer as problem:
            self._unusable(Trouble.UNUSABLE, f"the reply {problem}: {self._shown(reply.content)}")
            return None
        except (ValueError, RecursionError):
            self._unusable(Trouble.UNUSABLE, f"the reply is not JSON: {self._shown(reply.content)}")
            return None
        if raw.is_unfinished:  # the caller decides whether this counts as an answer
            self.trouble = f"{self._url}: the reasoning took all tokens: raise --reasoning-tokens or --max-tokens"
        elif not raw.text.strip():
            at_limit = " and ended at the limit of tokens: raise --max-tokens" if raw.details.is_cut else ""
            self._unusable(Trouble.EMPTY, f"the answer is empty{at_limit}")
        return raw

    def _unusable(self, trouble: Trouble, problem: str) -> None:
        self.trouble = f"{self._url}: {problem}"
        self.events.add(trouble, problem)

    def _refused(self, status: int, problem: str, request: Request) -> None:
        """Raises an error if a refusal concerns all requests; counts it if it may concern only this request."""
        if status in (401, 403):
            key = f"the key in {self._key_env} was refused" if self._key else f"a key is needed in {self._key_env}"
            self._fail(f"{key}: {problem}")
        if status == 404:
            self._fail(f"there is no such model, or the server has no {self._form.mode} requests: {problem}")
        self._check_final(problem)
        if not self._has_answered and request.schema is not None and _OF_SCHEMAS.search(problem):
            self._fail(f"refuses a request with a JSON schema: {problem}; leave out --structured")
        if not self._has_answered and (refused := self._form.refused_parameter(problem)):
            self._fail(f"refuses a parameter: {problem}; {refused}")
        if not (self._has_answered or any(text in problem for text in self._form.refusals_of_one)):
            self._fail(f"refuses requests of mode {self._form.mode}: {problem}")
        self.events.add(Trouble.REFUSAL, problem)
        self._missing(problem)

    def _check_final(self, problem: str) -> None:
        """Raises an error if the server will refuse all further requests, such as without credit."""
        if any(text in problem for text in self._form.final_refusals):
            self._fail(problem)

    def _missing(self, problem: str) -> None:
        self.trouble = f"{self._url}: {problem}"
        self.events.n_given_up += 1
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= (_FAILURES_LATER if self._has_answered else _FAILURES_AT_FIRST):
            self._fail(f"{self._failures_in_a_row} requests in a row have failed, the last with {problem}")

    def _fail(self, problem: str) -> NoReturn:
        raise EngineError(f"{self._url}, model {in_one_line(self._form.model)}: {problem}")

    def _asked_pause(self, reply: _Reply) -> float:
        """The pause in seconds that the server demands of all requests."""
        seconds = _seconds(reply.retry_after)
        if seconds > _LONGEST_PAUSE_SECONDS:
            self._fail(f"asks to wait for {seconds:.0f} s; run the same command again later to continue")
        now = asyncio.get_running_loop().time()
        until = max(self._pause_until, now + seconds)
        self.events.paused_seconds += until - max(self._pause_until, now)
        self._pause_until = until
        return seconds

    async def _pause(self) -> None:
        pause = self._pause_until - asyncio.get_running_loop().time()
        if pause > 0:
            # The random part prevents that all requests start at the same time after the pause.
            await asyncio.sleep(pause + random.uniform(0, self._connection.backoff))

    def _message_in(self, content: bytes) -> str:
        """The message in the body of a refusal, in one line."""
        try:
            message = _message_of(json.loads(content))
            return self._shown(message if isinstance(message, str) else json.dumps(message, ensure_ascii=False))
        except (ValueError, RecursionError):
            return self._shown(content)

    def _shown(self, text: str | bytes) -> str:
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        if len(self._key) >= _LEAST_SECRET_LENGTH:  # servers may repeat the key in error messages
            text = re.sub(rf"(?<!\w){re.escape(self._key)}(?!\w)", "[key]", text)
        return in_one_line(" ".join(text.split()), 300) or "(nothing)"


def _trouble_of(status: int) -> Trouble:
    """The kind of an unsuccessful HTTP status. Every kind except refusals may be temporary."""
    if status in (408, 429):
        return Trouble.TIMEOUT if status == 408 else Trouble.RATE_LIMIT
    return Trouble.SERVER_ERROR if status >= 500 or status in _WORTH_ANOTHER_TRY else Trouble.REFUSAL


def _message_of(reply: Any) -> Any:
    """The message in a decoded refusal; the whole refusal if it has no message."""
    if isinstance(reply, list) and len(reply) == 1:  # Google's servers put an error into a list
        (reply,) = reply
    if not isinstance(reply, dict):
        return reply
    message = reply.get("error") or reply.get("detail") or reply.get("message") or reply
    if isinstance(message, dict) and isinstance(message.get("message"), str):
        code = message.get("code")
        return message["message"] + (f" ({code})" if isinstance(code, str) else "")
    return message


def _checked_url(text: str) -> str:
    httpx = optional("httpx", extra="openai", needed_for="an engine that asks a server", error=EngineError)
    if "@" in text or "?" in text:  # the message does not repeat the address, which may contain a secret
        raise EngineError(
            "base URL: expected an address without user, password and query; put the key into an environment variable"
        )
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host:
        shown = in_one_line(text, 200)
        raise EngineError(f"base URL: expected an address such as http://localhost:8000/v1, not {shown}")
    return text.rstrip("/")


def _checked_key(variable: str, *, is_needed: bool) -> str:
    key = os.environ.get(variable, "").strip()
    if not key and is_needed:
        raise EngineError(f"the variable {variable} is empty or not set; put the key into it")
    if not (key.isascii() and key.isprintable()) and key:
        raise EngineError(f"the variable {variable} has characters that cannot be part of a key")
    return key


def _seconds(retry_after: str) -> float:
    """The seconds in a Retry-After header, which has either a number of seconds or a date."""
    with contextlib.suppress(ValueError):
        seconds = float(retry_after)
        return max(seconds, 0.0) if seconds == seconds else 0.0
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        date = email.utils.parsedate_to_datetime(retry_after)
        if date.tzinfo is None:
            date = date.replace(tzinfo=datetime.timezone.utc)
        return max((date - datetime.datetime.now(datetime.timezone.utc)).total_seconds(), 0.0)
    return 0.0
