"""A judge, its server and its requests; the key of a request is a hash of everything that its reply depends on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from ..files.journal import json_line
from ..files.untrusted_text import utf8
from ..generation.engines import ModelEngine, Sampling, open_engine
from ..generation.prompts import Message, Prompt, Request

MAX_REQUEST_BYTES = 4 << 20
"""The longest request in a file of replies, beyond the input of any judge."""

_MOST_BYTES = 6
"""The most bytes that a character takes in JSON, as an escape."""


@dataclass(frozen=True)
class Judge:
    """A model that is asked to judge, with its sampling parameters.

    Attributes:
        model: The model's name on the server.
        temperature: The sampling temperature; 0 takes the most likely token.
        max_tokens: The maximum number of tokens in a reply.

    Example:
        >>> request = Judge("org/judge").request("Is ice lighter than water?", seed=1, name="question 1")
        >>> request.prompt.messages, request.key[:8]
        (({'role': 'user', 'content': 'Is ice lighter than water?'},), '2fe78060')
    """

    model: str
    temperature: float = 0.0
    max_tokens: int = 300

    @property
    def sampling(self) -> Sampling:
        """The sampling parameters as engines take them."""
        return Sampling(max_tokens=self.max_tokens, temperature=self.temperature, top_p=1.0, stop=())

    def request(self, content: str, *, seed: int, name: str, system: str | None = None) -> JudgeRequest:
        """Creates a request with a single user message.

        Args:
            content: The message. Lone surrogates, which cannot be sent, become escapes.
            seed: The sampling seed.
            name: The name of the request in error messages.
            system: A system message that precedes it.
        """
        messages: list[Message] = [] if system is None else [{"role": "system", "content": _encodable(system)}]
        messages.append({"role": "user", "content": _encodable(content)})
        return JudgeRequest(Prompt(messages=tuple(messages)), seed, name, self)


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
        parts = [self.judge.model, self.messages, sampling.temperature, sampling.max_tokens, self.seed]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()

    def record(self) -> dict[str, Any]:
        """The request in the form in which it is stored with its reply, for audits."""
        sampling = self.judge.sampling
        parameters = {"temperature": sampling.temperature, "max_tokens": sampling.max_tokens, "seed": self.seed}
        return {"model": self.judge.model, "messages": self.messages, "parameters": parameters}


def is_too_long(request: JudgeRequest) -> bool:
    """Whether a request would take more than `MAX_REQUEST_BYTES` in a file of replies; such a request is not sent."""
    n_characters = sum(len(message["content"]) for message in request.messages)
    return _MOST_BYTES * n_characters > MAX_REQUEST_BYTES and len(json_line(request.record())) > MAX_REQUEST_BYTES


def _encodable(text: str) -> str:
    encodable = utf8(text).decode()
    # The same object where nothing changes: the requests for several ratings of a text share one long prompt.
    return text if encodable == text else encodable


@dataclass(frozen=True)
class Server:
    """A server and its connection options: the options of the engine `openai`.

    Attributes:
        base_url: The server's address including `/v1`; by default OPENAI_BASE_URL, otherwise OpenAI's.
        key_env: The environment variable that holds the key; OPENAI_API_KEY by default.
        concurrency: The maximum number of concurrent requests.
        timeout: Seconds within which the whole reply must arrive.
        retries: The maximum number of retries of a failed request.
        backoff: Seconds before the first retry; doubles with each retry.
    """

    base_url: str | None = None
    key_env: str | None = None
    concurrency: int = 16
    timeout: float = 120.0
    retries: int = 5
    backoff: float = 0.5

    def engine(self, judge: Judge) -> ModelEngine:
        """Opens the engine that asks a judge."""
        engine = open_engine("openai", model=judge.model, mode="chat", sampling=judge.sampling, **vars(self))
        return cast(ModelEngine, engine)
