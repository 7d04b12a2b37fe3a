"""Anthropic's Messages API and Message Batches, according to their public documentation; see docs/generation.md."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import EngineError
from .json_parts import error_text, list_in, member_of, texts_of, tokens, without_none
from .prompts import Request
from .protocol import Details, NoAnswer, ThinkingForm, Usage, joined_text, reported_name

API_VERSION = "2023-06-01"
"""The version in requests. Newer versions refuse sampling parameters."""

_LEAST_THINKING_TOKENS = 1024
_LEAST_TOP_P = 0.95  # minimum top_p that Claude accepts together with reasoning

_THINKING = ("thinking", "redacted_thinking")
_BATCH_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class AnthropicForm(ThinkingForm):
    """Requests to Claude, which has no seed."""

    engine: ClassVar[str] = "anthropic"
    batch_format: ClassVar[str] = "anthropic-batch"
    disabled_by: ClassVar[str] = "thinking: disabled"
    batch_id: ClassVar[str] = "custom_id"
    other_names: ClassVar[Mapping[str, Sequence[str]]] = {"stop": ("stop_sequences",)}
    final_refusals: ClassVar[tuple[str, ...]] = ("credit balance is too low",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sampling.temperature > 1:
            raise EngineError(f"the engine anthropic accepts temperatures up to 1, not {self.sampling.temperature:g}")
        if self.thinking_budget is not None and self.thinking_budget < _LEAST_THINKING_TOKENS:
            raise EngineError(
                f"thinking_budget: the engine anthropic accepts at least {_LEAST_THINKING_TOKENS:,} tokens, "
                f"not {self.thinking_budget:,}"
            )
        sampling = self.sampling
        is_usual = sampling.temperature == 1 and sampling.top_k is None and (sampling.top_p or 1) >= _LEAST_TOP_P
        if self.thinking_budget is not None and not is_usual:
            raise EngineError(
                "the engine anthropic accepts a thinking_budget only with a temperature of 1, without top_k, "
                f"and with a top_p of at least {_LEAST_TOP_P}"
            )

    def headers(self, key: str) -> dict[str, str]:
        """The headers of every request."""
        return {"anthropic-version": API_VERSION, **({"x-api-key": key} if key else {})}

    def _request(self, request: Request) -> tuple[str, dict[str, Any]]:
        messages = request.prompt.messages or ()
        sampling = self.sampling
        body = {
            "model": self._name,
            "max_tokens": self._max_tokens,
            "system": "\n\n".join(message["content"] for message in messages if message["role"] == "system") or None,
            "messages": [message for message in messages if message["role"] != "system"],
            # A temperature or a top_p of 1 is the default, and newer models refuse sampling parameters.
            "temperature": None if sampling.temperature == 1 else sampling.temperature,
            "top_p": None if sampling.top_p == 1 else sampling.top_p,
            "top_k": sampling.top_k,
            "stop_sequences": [text for text in sampling.stop if text.strip()] or None,  # Claude refuses blank texts
            "thinking": self._thinking(
                {"type": "enabled", "budget_tokens": self.thinking_budget}, {"type": "adaptive"}, {"type": "disabled"}
            ),
        }
        return "/messages", without_none(body)

    def _schema_members(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}

    def _answer_and_reasoning(self, reply: Any) -> tuple[str, str | None]:
        reason, blocks = member_of(reply, "stop_reason"), list_in(reply, "content")
        if reason == "refusal":
            raise NoAnswer("is a refusal (stop_reason refusal)")
        texts = [block for block in blocks if member_of(block, "type") == "text"]
        thoughts = [member_of(block, "thinking") for block in blocks if member_of(block, "type") in _THINKING]
        return joined_text(texts, "stop_reason", reason), "".join(map(texts_of, thoughts)) if thoughts else None

    def details_in(self, reply: Any) -> Details:
        """The details of a message."""
        return Details(*(reported_name(member_of(reply, name)) for name in ("stop_reason", "model")))

    def usage_in(self, reply: Any) -> Usage:
        """The token counts of a message. Its number of input tokens does not include cached tokens."""
        usage = member_of(reply, "usage")
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
        new, written, cached, of_reply = (tokens(member_of(usage, name)) for name in names)
        return Usage(new + written + cached, of_reply, cached)

    def batch_line(self, name: str, request: Request) -> dict[str, Any]:
        """A request of a batch."""
        if not _BATCH_NAME.fullmatch(name):
            raise EngineError(f"{name}: Anthropic's batches name requests by up to 64 ASCII letters, digits, - and _")
        return {"custom_id": name, "params": self.path_and_body(request)[1]}

    def _batch_body(self, row: Mapping[str, Any]) -> tuple[Any, str]:
        kind = member_of(row, "result", "type")
        if kind == "succeeded":
            return member_of(row, "result", "message"), ""
        error = member_of(row, "result", "error", "error")
        message = f": {error_text(error)}" if error else ""
        return None, f"{reported_name(kind) or 'has no result'}{message}"
