"""A judge, its server and its requests; the key of a request is a hash of everything that its reply depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from ..files.journal import json_line
from ..files.untrusted_text import utf8
from ..generation.batch_api import request_form
from ..generation.engines import ModelEngine, Sampling, open_engine
from ..generation.prompts import Message, Prompt, Request
from ..generation.protocol import ServerForm

MAX_REQUEST_BYTES = 4 << 20
"""The longest request in a file of replies, beyond the input of any judge."""

_MOST_BYTES = 6
"""The most bytes that a character takes in JSON, as an escape."""


@dataclass(frozen=True)
class RequestOptions:
    """How requests to a model are written.

    Attributes:
        engine: The engine whose protocol the server has, such as `openai`, `anthropic` or `gemini-native`.
        options: The engine's options that shape requests, such as `omit`, `extra_body` or `reasoning_effort`.

    Raises:
        EngineError: The engine asks no server, or an option is unknown or invalid.

    Example:
        >>> RequestOptions("anthropic", {"omit": ["temperature"], "thinking_budget": 2048}).shaping
        {'omit': ['temperature'], 'thinking_budget': 2048, 'engine': 'anthropic'}
    """

    engine: str = "openai"
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        _ = self.form("", Sampling())

    def form(self, model: str, sampling: Sampling) -> ServerForm:
        """The requests to a model."""
        return request_form(self.engine, model, "chat", sampling, self.options)

    @cached_property
    def shaping(self) -> dict[str, Any]:
        """What differs from usual requests to a server with the OpenAI protocol."""
        parameters = self.form("", Sampling()).parameters
        engine = {} if self.engine == "openai" else {"engine": self.engine}
        return {name: value for name, value in parameters.items() if value is not None} | engine


@dataclass(frozen=True)
class Judge:
    """A model that is asked to judge, with its sampling parameters.

    Attributes:
        model: The model's name on the server.
        temperature: The sampling temperature; 0 takes the most likely token.
        max_tokens: The maximum number of tokens in a reply.
        options: How requests are written.

    Example:
        >>> request = Judge("org/judge").request("Is ice lighter than water?", seed=1, name="question 1")
        >>> request.prompt.messages, request.key[:8]
        (({'role': 'user', 'content': 'Is ice lighter than water?'},), '2fe78060')
    """

    model: str
    temperature: float = 0.0
    max_tokens: int = 300
    options: RequestOptions = field(default_factory=RequestOptions)

    @property
    def signature(self) -> str:
        """All that shapes replies besides the model, as a part of signatures."""
        shaping = f"|request:{_sorted_json(self.options.shaping)}" if self.options.shaping else ""
        temperature = "none" if self.sent_temperature is None else f"{self.sent_temperature:g}"
        return f"temperature:{temperature}|max_tokens:{self.max_tokens}{shaping}"

    @property
    def sent_temperature(self) -> float | None:
        """The temperature in requests; None if it is left out."""
        return None if "temperature" in self.options.options.get("omit", ()) else self.sampling.temperature

    @property
    def most_tokens(self) -> int:
        """The maximum number of tokens in a reply, those of a budget for reasoning included."""
        return self.max_tokens + (self.options.options.get("thinking_budget") or 0)

    @property
    def sampling(self) -> Sampling:
        """The sampling parameters as engines take them."""
        return Sampling(max_tokens=self.max_tokens, temperature=self.temperature, top_p=1.0, stop=())

    @cached_property
    def form(self) -> ServerForm:
        """The requests to the judge."""
        return self.options.form(self.model, self.sampling)

    def request(
        self,
        content: str,
        *,
        seed: int,
        name: str,
        system: str | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> JudgeRequest:
        """Creates a request with a single user message.

        Args:
            content: The message. Lone surrogates, which cannot be sent, become escapes.
            seed: The sampling seed.
            name: The name of the request in error messages.
            system: A system message that precedes it.
            schema: The JSON schema that the server is to apply to the reply.
        """
        messages: list[Message] = [] if system is None else [{"role": "system", "content": _encodable(system)}]
        messages.append({"role": "user", "content": _encodable(content)})
        return JudgeRequest(Prompt(messages=tuple(messages)), seed, name, self, schema=schema)


@dataclass(frozen=True)
class JudgeRequest(Request):
    """A single request to a judge.

    Attributes:
        judge: The judge.
    """

    judge: Judge

    @property
    def messages(self) -> list[Message]:
        """The messages that are sent."""
        return list(self.prompt.messages or ())

    @cached_property
    def key(self) -> str:
        """SHA-256 of everything that the reply depends on."""
        sampling = self.judge.sampling
        parts = [self.judge.model, self.messages, self.judge.sent_temperature, sampling.max_tokens, self.seed]
        parts += [_sorted_json(self._shaping)] if self._shaping else []
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()

    def record(self) -> dict[str, Any]:
        """The request in the form in which it is stored with its reply, for audits."""
        sampling = self.judge.sampling
        parameters = {"temperature": self.judge.sent_temperature, "max_tokens": sampling.max_tokens, "seed": self.seed}
        return {"model": self.judge.model, "messages": self.messages, "parameters": {**parameters, **self._shaping}}

    @property
    def _shaping(self) -> dict[str, Any]:
        """What differs from usual requests."""
        shaping = self.judge.options.shaping
        return shaping if self.schema is None else {**shaping, "schema": self.schema}


def is_too_long(request: JudgeRequest) -> bool:
    """Whether a request would take more than `MAX_REQUEST_BYTES` in a file of replies; such a request is not sent."""
    n_characters = sum(len(message["content"]) for message in request.messages)
    return _MOST_BYTES * n_characters > MAX_REQUEST_BYTES and len(json_line(request.record())) > MAX_REQUEST_BYTES


def _sorted_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _encodable(text: str) -> str:
    encodable = utf8(text).decode()
    # The same object where nothing changes: the requests for several ratings of a text share one long prompt.
    return text if encodable == text else encodable


@dataclass(frozen=True)
class Server:
    """A server and its connection options.

    Attributes:
        base_url: The server's address including `/v1`; by default that of the judge's engine, for `openai`
            OPENAI_BASE_URL or OpenAI's.
        key_env: The environment variable that holds the key; by default that of the engine, such as OPENAI_API_KEY.
        concurrency: The maximum number of concurrent requests.
        timeout: Seconds within which the whole reply must arrive.
        retries: The maximum number of retries of a failed request.
        backoff: Seconds before the first retry; doubles with each retry.
        requests_per_minute: The maximum number of requests in a minute; None for no limit.
        tokens_per_minute: The maximum number of tokens in a minute; None for no limit.
    """

    base_url: str | None = None
    key_env: str | None = None
    concurrency: int = 16
    timeout: float = 120.0
    retries: int = 5
    backoff: float = 0.5
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def engine(self, judge: Judge) -> ModelEngine:
        """Opens the engine that asks a judge."""
        options = {**judge.options.options, **vars(self)}
        return cast(
            ModelEngine,
            open_engine(judge.options.engine, model=judge.model, mode="chat", sampling=judge.sampling, **options),
        )
