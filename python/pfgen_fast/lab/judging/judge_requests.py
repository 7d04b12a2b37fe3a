"""A judge, its server, its requests and prompt templates.

The key of a request is a hash of everything that affects the reply.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...base.errors import JudgingError
from ...base.file_reading import read_text
from ...base.journal import json_line
from ...base.untrusted_text import utf8
from ...generation.engines.engine import Engine
from ...generation.engines.engine_registry import open_engine
from ...generation.engines.hosted import request_form
from ...generation.engines.server_engine import ServerConnection
from ...generation.prompts import Message, Prompt, Request, Sampling
from ...generation.protocol import ServerForm

_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class Template:
    """A prompt with placeholders."""

    text: str  # prompt; braces that enclose no placeholder stay as they are
    placeholders: tuple[str, ...]  # names of all known placeholders

    @classmethod
    def read(cls, path: Path, *, placeholders: Sequence[str], needed: Sequence[str] = ()) -> Template:
        """Reads a template from a UTF-8 file. The template must contain the placeholders in `needed`."""
        text = read_text(path, error=JudgingError, limit=_MAX_BYTES)
        try:
            return cls.checked(text, placeholders=placeholders, needed=needed)
        except JudgingError as error:
            raise JudgingError(f"{path}: {error}") from None

    @classmethod
    def checked(cls, text: str, *, placeholders: Sequence[str], needed: Sequence[str] = ()) -> Template:
        """Makes a template of a text; raises JudgingError if placeholders are unknown or missing."""
        for name in needed:
            if f"{{{name}}}" not in text:
                raise JudgingError(f"expected the placeholder {{{name}}} in the template")
        for name in re.findall(r"{(\w+)}", text):
            if name not in placeholders:
                known = ", ".join(f"{{{placeholder}}}" for placeholder in placeholders)
                raise JudgingError(f"unknown placeholder {{{name}}}; there are {known}")
        return cls(text, tuple(placeholders))

    @property
    def hash(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(utf8(self.text)).hexdigest()

    def uses(self, placeholder: str) -> bool:
        """Whether the text contains a placeholder."""
        return f"{{{placeholder}}}" in self.text

    def fill(self, **values: str) -> str:
        """Replaces the placeholders by values; braces in the values stay as they are.

        Example:
            >>> Template("Q: {question} A: {answer}", ("question", "answer")).fill(question="{answer}?", answer="B")
            'Q: {answer}? A: B'
        """
        return re.sub(f"{{({'|'.join(self.placeholders)})}}", lambda match: values[match[1]], self.text)


USUAL_MAX_TOKENS = 1024
"""The default limit of a reply, which suits a prompt that asks for an explanation before the rating."""

MAX_REQUEST_BYTES = 4 << 20
"""The maximum length of a request in a file of replies, more than any judge accepts."""

_MOST_BYTES = 6  # maximum number of bytes of a character in JSON, as an escape


@dataclass(frozen=True)
class RequestOptions:
    """The format of requests to a model.

    Raises:
        EngineError: The engine uses no server, or an option is unknown or invalid.
    """

    engine: str = "openai"  # engine with the server's protocol, such as `anthropic`
    # engine's options for requests, such as `omit`, `extra_body` or `reasoning_effort`
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        _ = self.form("", Sampling())

    def form(self, model: str, sampling: Sampling) -> ServerForm:
        """The protocol of requests to a model."""
        return request_form(self.engine, model, "chat", sampling, self.options)

    @cached_property
    def shaping(self) -> dict[str, Any]:
        """The parameters that differ from the defaults of the OpenAI protocol."""
        parameters = self.form("", Sampling()).parameters
        engine = {} if self.engine == "openai" else {"engine": self.engine}
        return {name: value for name, value in parameters.items() if value is not None} | engine


@dataclass(frozen=True)
class Judge:
    """A model that judges, with its sampling parameters.

    Example:
        >>> request = Judge("org/judge").request("Is ice lighter than water?", seed=1, name="question 1")
        >>> request.prompt.messages, request.key[:8]
        (({'role': 'user', 'content': 'Is ice lighter than water?'},), '65837f3d')
    """

    model: str  # name on the server
    temperature: float = 0.0  # 0 takes the most likely token
    max_tokens: int = USUAL_MAX_TOKENS  # maximum number of tokens in a reply
    options: RequestOptions = field(default_factory=RequestOptions)

    @property
    def signature(self) -> str:
        """Everything that affects replies besides the model, as a part of signatures."""
        shaping = f"|request:{_sorted_json(self.options.shaping)}" if self.options.shaping else ""
        temperature = "none" if self.sent_temperature is None else f"{self.sent_temperature:g}"
        return f"temperature:{temperature}|max_tokens:{self.max_tokens}{shaping}"

    @property
    def sent_temperature(self) -> float | None:
        """The temperature in requests; None if requests have no temperature."""
        return None if "temperature" in self.options.options.get("omit", ()) else self.sampling.temperature

    @property
    def most_tokens(self) -> int:
        """The maximum number of tokens in a reply, including the budget for reasoning."""
        return self.max_tokens + (self.options.options.get("thinking_budget") or 0)

    @property
    def sampling(self) -> Sampling:
        """The sampling parameters in the form that engines take."""
        return Sampling(max_tokens=self.max_tokens, temperature=self.temperature, top_p=1.0, stop=())

    @cached_property
    def form(self) -> ServerForm:
        """The protocol of requests to the judge."""
        return self.options.form(self.model, self.sampling)

    def request(
        self, content: str, *, seed: int, name: str, system: str | None = None, schema: Mapping[str, Any] | None = None
    ) -> JudgeRequest:
        """Creates a request with a user message, and optionally a system message and a JSON schema for the reply.

        `name` names the request in error messages. Lone surrogates, which cannot be sent, become escapes.
        """
        messages: list[Message] = [] if system is None else [{"role": "system", "content": _encodable(system)}]
        messages.append({"role": "user", "content": _encodable(content)})
        return JudgeRequest(Prompt(messages=tuple(messages)), seed, name, self, schema=schema)


@dataclass(frozen=True)
class JudgeRequest(Request):
    """A single request to a judge."""

    judge: Judge

    @property
    def messages(self) -> list[Message]:
        """The messages of the prompt."""
        return list(self.prompt.messages or ())

    @cached_property
    def key(self) -> str:
        """SHA-256 of everything that affects the reply."""
        sampling = self.judge.sampling
        parts = [self.judge.model, self.messages, self.judge.sent_temperature, sampling.max_tokens, self.seed]
        parts += [_sorted_json(self._shaping)] if self._shaping else []
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()

    def record(self) -> dict[str, Any]:
        """The request as it is stored with its reply, for audits."""
        sampling = self.judge.sampling
        parameters = {"temperature": self.judge.sent_temperature, "max_tokens": sampling.max_tokens, "seed": self.seed}
        return {"model": self.judge.model, "messages": self.messages, "parameters": {**parameters, **self._shaping}}

    @property
    def _shaping(self) -> dict[str, Any]:
        shaping = self.judge.options.shaping
        return shaping if self.schema is None else {**shaping, "schema": self.schema}


def is_too_long(request: JudgeRequest) -> bool:
    """Whether a request has more than `MAX_REQUEST_BYTES` in a file of replies; such a request is not sent."""
    n_characters = sum(len(message["content"]) for message in request.messages)
    return _MOST_BYTES * n_characters > MAX_REQUEST_BYTES and len(json_line(request.record())) > MAX_REQUEST_BYTES


def _sorted_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _encodable(text: str) -> str:
    encodable = utf8(text).decode()
    # An unchanged text remains the same object, because the requests for several ratings share one long prompt.
    return text if encodable == text else encodable


class Server(ServerConnection):
    """A server that judges are asked on, with the options of its connection."""

    def engine(self, judge: Judge) -> Engine:
        """Opens the engine for a judge."""
        options = {**judge.options.options, **vars(self)}
        return open_engine(judge.options.engine, model=judge.model, mode="chat", sampling=judge.sampling, **options)
