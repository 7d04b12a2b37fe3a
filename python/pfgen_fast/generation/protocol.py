"""Protocols of model servers: the format of requests, and the place of the answer in a reply.

A protocol is a subclass of `ServerForm`. Replies are not trusted: a part of decoded JSON that is missing or has another
type becomes empty or None. Rules: docs/generation.md.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..base.errors import EngineError
from ..base.untrusted_text import in_one_line, shown_value, unknown_name
from ..scoring.reply_text import Mode
from .prompts import Request, Sampling

_MOST_TOKENS = 10**9  # larger reported numbers are ignored


def without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def merged(body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """A body with further members; objects with the same name are merged."""
    members = dict(body)
    for name, value in extra.items():
        ours = members.get(name)
        members[name] = merged(ours, value) if isinstance(ours, Mapping) and isinstance(value, Mapping) else value
    return members


def member_of(value: Any, *keys: str | int) -> Any:
    """The value at these keys and indices of decoded JSON; None if a key or index is missing."""
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def list_in(value: Any, *keys: str | int) -> list[Any]:
    """The list at these keys and indices of decoded JSON; empty if it is missing."""
    entries = member_of(value, *keys)
    return entries if isinstance(entries, list) else []


def texts_of(value: Any, kind: str | None = None) -> str:
    """A text, or the joined texts of a list of parts, optionally of one type; empty for other values."""
    if isinstance(value, str):
        return value
    texts = (member_of(part, "text") for part in list_in(value) if kind in (None, member_of(part, "type")))
    return "".join(text for text in texts if isinstance(text, str))


def tokens(value: Any) -> int:
    """A number of tokens that a server reports; 0 if it is invalid."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else 0


def error_text(error: Any) -> str:
    """The message of a decoded error, in one line."""
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        error = error["message"]
    return in_one_line(error, 300)


_LONGEST_NAME = 200  # longer reported names are ignored
AT_THE_LIMIT = ("length", "max_tokens")  # in the protocols of OpenAI and Anthropic

OMITTED = ("temperature", "top_p", "top_k", "stop", "seed", "max_tokens")
"""The parameters that requests can omit."""

_REFUSED_PARAMETER = re.compile(
    r"unsupported|unexpected keyword|not supported|does ?n[o']t support|unknown (name|parameter|field|argument)"
    r"|unrecognized|extra inputs|not permitted|deprecated|not allowed|invalid.{0,20}parameter",
    re.IGNORECASE,
)
_BEFORE_PARAMETER = r"(?:^|[:'\"`]|parameter|argument|keyword|value:?)\s*['\"`]?"
_OPTIONS_OF_REASONING = ("reasoning_effort", "chat_template_kwargs")
_RECORDED = ("temperature", "top_p", "top_k", "max_tokens")


class NoAnswer(Exception):
    """A reply without an answer. The message continues a sentence that begins with "the reply"."""


@dataclass(frozen=True)
class Details:
    """The server's details about a reply: short texts without control characters, or None for a missing detail."""

    finish_reason: str | None = None  # reason why the answer ended, such as `stop` or `length`
    model: str | None = None  # model that answered, often with a version that the request does not name
    fingerprint: str | None = None  # server's identifier of its configuration, `system_fingerprint`

    @property
    def is_cut(self) -> bool:
        """Whether the reply ended at the limit of tokens."""
        return self.finish_reason in AT_THE_LIMIT

    @property
    def version(self) -> str | None:
        """The model and its fingerprint, which change with the server's configuration; None if both are missing."""
        return " ".join(part for part in (self.model, self.fingerprint) if part) or None


@dataclass(frozen=True)
class Usage:
    """The numbers of tokens that a server reports for one reply; 0 for a missing number."""

    n_prompt_tokens: int = 0  # tokens of the prompt, including cached tokens
    n_reply_tokens: int = 0  # tokens of the reply, including reasoning
    n_cached_tokens: int = 0  # prompt tokens from the server's cache
    n_reasoning_tokens: int = 0  # tokens of the reasoning


@dataclass(frozen=True)
class RawReply:
    """A reply to one request as it arrived."""

    text: str
    details: Details = Details()
    usage: Usage = Usage()
    reasoning: str | None = None  # reasoning outside of the text; "" for hidden reasoning, None without reasoning
    opened: str = ""  # opening tag at the end of the prompt, which is therefore missing in the text

    @property
    def has_reasoning(self) -> bool:
        """Whether the server separates reasoning from the text."""
        return self.reasoning is not None or self.usage.n_reasoning_tokens > 0

    @property
    def is_unfinished(self) -> bool:
        """Whether the reply consists only of reasoning that the server separates from the text."""
        return not self.text.strip() and self.details.is_cut and self.has_reasoning


@dataclass(frozen=True)
class ServerForm(ABC):
    """The requests and replies of a server."""

    model: str  # name of the run and, by default, of the model in requests
    mode: Mode
    sampling: Sampling
    served_model: str | None = field(default=None, kw_only=True)  # name of the model in requests
    omit: Sequence[str] = field(default=(), kw_only=True)  # parameters that requests omit; see `OMITTED`
    extra_body: Mapping[str, Any] | None = field(default=None, kw_only=True)  # merged into the body of each request

    other_names: ClassVar[Mapping[str, Sequence[str]]] = {}  # further keys for the parameters in `OMITTED`
    final_refusals: ClassVar[tuple[str, ...]] = ()  # texts in refusals after which the server refuses all requests
    refusals_of_one: ClassVar[tuple[str, ...]] = ()  # texts in refusals because of the content of one request

    def __post_init__(self) -> None:
        for name in self.omit:
            if name not in OMITTED:
                raise EngineError(f"omit: {unknown_name('parameter', name, OMITTED)}")
        if self.extra_body is not None and not isinstance(self.extra_body, Mapping):
            raise EngineError(f"extra_body: expected a JSON object, got {shown_value(self.extra_body)}")

    @property
    def parameters(self) -> dict[str, Any]:
        """The entries in config.json; None for defaults and for omitted parameters."""
        shaping = {name: getattr(self, name) or None for name in ("served_model", "extra_body")}
        unknown = dict.fromkeys(name for name in self.omit if name in _RECORDED)  # the server uses its defaults
        return {**unknown, "omit": sorted(set(self.omit)) or None, **shaping}

    @abstractmethod
    def headers(self, key: str) -> dict[str, str]:
        """The headers of every request; `key` may be empty."""

    def path_and_body(self, request: Request) -> tuple[str, dict[str, Any]]:
        """The path below the base URL and the body of a request."""
        path, body = self._request(request)
        for key in (key for name in self.omit for key in self._keys_of(name)):
            body.pop(key, None)
        if request.schema is not None:
            body = merged(body, self._schema_members(request.schema))
        return path, merged(body, self.extra_body or {})

    @abstractmethod
    def _request(self, request: Request) -> tuple[str, dict[str, Any]]:
        """The path and body of a request, before parameters are removed and added."""

    @abstractmethod
    def _schema_members(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The members of a body that request a reply in JSON with this schema."""

    def _keys_of(self, parameter: str) -> set[str]:
        return {parameter, *self.other_names.get(parameter, ())}

    @abstractmethod
    def _answer_and_reasoning(self, reply: Any) -> tuple[str, str | None]:
        """The raw answer and `RawReply.reasoning` in the decoded body of a reply; raises NoAnswer without an answer."""

    @abstractmethod
    def details_in(self, reply: Any) -> Details:
        """The details in the decoded body of a reply."""

    @abstractmethod
    def usage_in(self, reply: Any) -> Usage:
        """The token counts in the decoded body of a reply."""

    def raw_reply(self, reply: Any) -> RawReply:
        """The reply with this decoded body; raises NoAnswer without an answer."""
        answer, reasoning = self._answer_and_reasoning(reply)
        return RawReply(answer, self.details_in(reply), self.usage_in(reply), reasoning)

    def refused_parameter(self, problem: str) -> str | None:
        """Advice if a refusal names a parameter of the request; otherwise None."""
        if not _REFUSED_PARAMETER.search(problem):
            return None
        for name in OMITTED:
            # "stop" and "seed" are also ordinary words, so they count only in the place of a parameter.
            before = _BEFORE_PARAMETER if name in ("stop", "seed") else r"(?<!\w)"
            if any(re.search(rf"{before}{key}(?!\w)", problem) for key in self._keys_of(name)):
                return self._instead(name, problem) or f"try --omit {name}"
        for name in _OPTIONS_OF_REASONING:
            if name in problem:
                return f"remove --{name.replace('_', '-')}"
        return None

    def _instead(self, name: str, problem: str) -> str | None:
        """Advice for sending a refused parameter under another name."""
        return None


def reported_name(value: Any) -> str | None:
    """A name that a server reports, with escaped control characters; None if it is empty, too long or not a string."""
    is_name = isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME
    return in_one_line(value, _LONGEST_NAME) if is_name else None
