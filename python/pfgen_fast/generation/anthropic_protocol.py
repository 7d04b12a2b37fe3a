"""Anthropic's Messages API and its Message Batches. Written by the public documentation; see docs/generation.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import EngineError
from .engines import Sampling
from .prompts import Mode, Request
from .protocol import Details, NoAnswer, ServerForm, Usage, check_hosted, error_text, member_of, reported_name, tokens

API_VERSION = "2023-06-01"
"""The version that requests name; a newer one would refuse parameters of sampling."""

_LEAST_THINKING_TOKENS = 1024
_LEAST_TOP_P = 0.95
"""The least top_p that Claude accepts while it thinks."""

_BATCH_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class AnthropicForm(ServerForm):
    """How Claude is asked, which has no completions and no seed.

    A temperature of 1 is not sent: it is the default, and newer models refuse every other parameter of sampling.
    """

    model: str  # model's name; what precedes a slash, as in `anthropic/claude-x`, is not sent
    mode: Mode
    sampling: Sampling  # how answers are sampled
    # true lets the model decide how much it reasons, False asks it not to; None leaves it to the server
    enable_thinking: bool | None = None
    thinking_budget: int | None = None  # how many tokens the model may reason with, besides those of the answer

    batch_format: ClassVar[str] = "anthropic-batch"
    batch_id: ClassVar[str] = "custom_id"

    def __post_init__(self) -> None:
        check_hosted("anthropic", self.mode, self.thinking_budget, self.enable_thinking)
        if self.sampling.temperature > 1:
            raise EngineError(f"the engine anthropic accepts temperatures up to 1, not {self.sampling.temperature:g}")
        if self.thinking_budget is not None and self.thinking_budget < _LEAST_THINKING_TOKENS:
            raise EngineError(
                f"thinking_budget: the engine anthropic accepts no fewer than {_LEAST_THINKING_TOKENS:,} tokens, "
                f"not {self.thinking_budget:,}"
            )
        sampling = self.sampling
        is_usual = sampling.temperature == 1 and sampling.top_k is None and (sampling.top_p or 1) >= _LEAST_TOP_P
        if self.thinking_budget is not None and not is_usual:
            raise EngineError(
                "the engine anthropic accepts a thinking_budget only with a temperature of 1, without top_k, "
                f"and with a top_p of at least {_LEAST_TOP_P}"
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """What config.json records about the form of requests."""
        return {"enable_thinking": self.enable_thinking, "thinking_budget": self.thinking_budget}

    def headers(self, key: str) -> dict[str, str]:
        """The headers of every request."""
        return {"anthropic-version": API_VERSION, **({"x-api-key": key} if key else {})}

    def path_and_body(self, request: Request) -> tuple[str, dict[str, Any]]:
        """The path below the base URL and the body of a request."""
        messages = request.prompt.messages or ()
        sampling = self.sampling
        body = {
            "model": self.model.rpartition("/")[2],
            "max_tokens": sampling.max_tokens + (self.thinking_budget or 0),
            "system": "\n\n".join(message["content"] for message in messages if message["role"] == "system") or None,
            "messages": [message for message in messages if message["role"] != "system"],
            "temperature": None if sampling.temperature == 1 else sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
            "stop_sequences": [text for text in sampling.stop if text.strip()] or None,  # others are refused
            "thinking": self._thinking,
        }
        return "/messages", {name: value for name, value in body.items() if value is not None}

    @property
    def _thinking(self) -> dict[str, Any] | None:
        if self.thinking_budget is not None:
            return {"type": "enabled", "budget_tokens": self.thinking_budget}
        if self.enable_thinking is None:
            return None
        return {"type": "adaptive" if self.enable_thinking else "disabled"}

    def answer_in(self, reply: Any) -> str:
        """The text of a message; blocks of reasoning are no part of it."""
        reason = member_of(reply, "stop_reason")
        if reason == "refusal":
            raise NoAnswer("is a refusal (stop_reason refusal)")
        blocks = member_of(reply, "content")
        if not isinstance(blocks, list):
            raise NoAnswer("holds no answer")
        texts = [member_of(block, "text") for block in blocks if member_of(block, "type") == "text"]
        if not texts or not all(isinstance(text, str) for text in texts):
            of_reason = f" (stop_reason {reported_name(reason)})" if reported_name(reason) else ""
            raise NoAnswer(f"holds no answer{of_reason}")
        return "".join(texts)

    def details_in(self, reply: Any) -> Details:
        """What a message says of itself."""
        return Details(*(reported_name(member_of(reply, name)) for name in ("stop_reason", "model")))

    def usage_in(self, reply: Any) -> Usage:
        """The tokens of a message, which counts those of the cache apart from the others."""
        usage = member_of(reply, "usage")
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
        new, written, cached, of_reply = (tokens(member_of(usage, name)) for name in names)
        return Usage(new + written + cached, of_reply, cached)

    def batch_line(self, name: str, request: Request) -> dict[str, Any]:
        """A request of a batch."""
        if not _BATCH_NAME.fullmatch(name):
            raise EngineError(f"{name}: Anthropic's batches name requests by up to 64 ASCII letters, digits, - and _")
        return {"custom_id": name, "params": self.path_and_body(request)[1]}

    def batch_reply(self, row: Mapping[str, Any]) -> tuple[Any, str]:
        """The message in a line of a batch's results."""
        kind = member_of(row, "result", "type")
        if kind == "succeeded":
            return member_of(row, "result", "message"), ""
        error = member_of(row, "result", "error", "error")
        message = f": {error_text(error)}" if error else ""
        return None, f"{reported_name(kind) or 'has no result'}{message}"

    def ends_everything(self, problem: str) -> bool:
        """Whether a refusal is for want of money."""
        return "credit balance is too low" in problem
