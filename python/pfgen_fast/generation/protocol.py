"""What every protocol of a model's server says: how a request is worded, and where a reply has what.

A protocol is a class below `ServerForm`; engines that ask a server and batch files know nothing else of it. Replies are
as little trusted as files. Rules: docs/generation.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import EngineError
from ..files.untrusted_text import in_one_line
from .engines import Sampling
from .prompts import Mode, Request

_MOST_TOKENS = 10**9
"""What a server reports beyond it is no number of tokens."""

_LONGEST_NAME = 200
"""What a server reports of a reply in more code points is no name."""

MAX_THINKING_TOKENS = 1_000_000


class NoAnswer(Exception):
    """A reply without an answer; the message says of the reply what is wrong with it."""


@dataclass(frozen=True)
class Details:
    """What a server says of a reply besides the answer; None for what it does not say. Harmless and bounded."""

    finish_reason: str | None = None  # why the answer ended, such as `stop` or `length`
    model: str | None = None  # model that answered, often more exact than the name that was asked for
    fingerprint: str | None = None  # what the server calls its configuration, `system_fingerprint`

    @property
    def version(self) -> str | None:
        """The model with its fingerprint, by which a change of the server is noticed; None if it says neither."""
        return " ".join(part for part in (self.model, self.fingerprint) if part) or None


@dataclass(frozen=True)
class Usage:
    """The tokens of one reply, as the server reports them; 0 where it does not."""

    n_prompt_tokens: int = 0  # tokens of the prompt, cached ones included
    n_reply_tokens: int = 0  # tokens of the reply, reasoning included
    n_cached_tokens: int = 0  # those of the prompt that came from the server's cache


class ServerForm(ABC):
    """How a server is spoken to. Subclasses are frozen dataclasses with at least these attributes."""

    model: str  # model's name, which names the run; what precedes a slash may be left out of requests
    mode: Mode
    sampling: Sampling  # how answers are sampled

    batch_format: ClassVar[str]
    """The name of its batch files, as `prompts --format` takes it."""
    batch_id: ClassVar[str]
    """What names a request in a batch file."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """What config.json records about the form of requests: nothing for the default form."""

    @abstractmethod
    def headers(self, key: str) -> dict[str, str]:
        """The headers of every request; the key is empty if there is none."""

    @abstractmethod
    def path_and_body(self, request: Request) -> tuple[str, dict[str, Any]]:
        """The path below the base URL and the body of a request."""

    @abstractmethod
    def answer_in(self, reply: Any) -> str:
        """The raw answer in the decoded body of a reply, without reasoning; raises NoAnswer if there is none."""

    @abstractmethod
    def details_in(self, reply: Any) -> Details:
        """What the decoded body of a reply says of its answer."""

    @abstractmethod
    def usage_in(self, reply: Any) -> Usage:
        """The tokens that the decoded body of a reply reports."""

    @abstractmethod
    def batch_line(self, name: str, request: Request) -> dict[str, Any]:
        """A request in a batch file."""

    @abstractmethod
    def batch_reply(self, row: Mapping[str, Any]) -> tuple[Any, str]:
        """The body of the reply in a line of an output file, or None and the reason why there is none."""

    def asked_seconds(self, refusal: Any) -> float:
        """The pause that the decoded body of a refusal asks for, besides its Retry-After."""
        return 0.0

    def ends_everything(self, problem: str) -> bool:
        """Whether a refusal says that no further request will be answered, such as for want of money."""
        return False

    def concerns_one(self, problem: str) -> bool:
        """Whether a refusal is about the content of one request, even if it is the first."""
        return False


def member_of(value: Any, *keys: str | int) -> Any:
    """What lies at the end of these keys and indices of decoded JSON; None where there is nothing."""
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def tokens(value: Any) -> int:
    """A number of tokens as a server reports it; 0 if it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else 0


def reported_name(value: Any) -> str | None:
    """A name as a server reports it, made harmless; None if it is no text, empty, or longer than any name."""
    is_name = isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME
    return in_one_line(value, _LONGEST_NAME) if is_name else None


def error_text(error: Any) -> str:
    """The message of a decoded error in one line, wherever it lies in it."""
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        error = error["message"]
    return in_one_line(error, 300)


def check_hosted(engine: str, mode: Mode, thinking_budget: int | None, enable_thinking: bool | None) -> None:
    """Raises EngineError for what no hosted chat model can do."""
    if mode == "completion":
        raise EngineError(f"the engine {engine} has no requests of mode completion; try --mode qa or --mode chat")
    if thinking_budget is not None and not 1 <= thinking_budget <= MAX_THINKING_TOKENS:
        raise EngineError(
            f"thinking_budget: expected a number from 1 to {MAX_THINKING_TOKENS:,}, not {thinking_budget:,}"
        )
    if thinking_budget is not None and enable_thinking is False:
        raise EngineError("--thinking-budget and --disable-thinking contradict each other: give one of them")
