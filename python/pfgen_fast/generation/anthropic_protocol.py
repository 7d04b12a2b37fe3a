"""Anthropic's Messages API, according to its public documentation; see docs/generation.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..base.errors import EngineError
from .json_parts import list_in, member_of, texts_of, tokens, without_none
from .prompts import Request
from .protocol import AT_THE_LIMIT, Details, NoAnswer, ServerForm, Usage, reported_name

API_VERSION = "2023-06-01"
"""The version in requests. Newer versions refuse sampling parameters."""

_LEAST_THINKING_TOKENS, _MOST_THINKING_TOKENS = 1024, 1_000_000
_LEAST_TOP_P = 0.95  # minimum top_p that Claude accepts together with reasoning

_THINKING = ("thinking", "redacted_thinking")


@dataclass(frozen=True)
class AnthropicForm(ServerForm):
    """Requests to Claude, which has no seed and no completions."""

    # true lets the model decide how much it reasons, false disables reasoning; None for the server's default
    enable_thinking: bool | None = None
    thinking_budget: int | None = None  # maximum number of reasoning tokens, which are added to those of the answer

    disabled_by: ClassVar[str] = "thinking: disabled"
    other_names: ClassVar[Mapping[str, Sequence[str]]] = {"stop": ("stop_sequences",)}
    final_refusals: ClassVar[tuple[str, ...]] = ("credit balance is too low",)

    def __post_init__(self) -> None:
        super().__post_init__()
        sampling, budget = self.sampling, self.thinking_budget
        if self.mode == "completion":
            raise EngineError("the engine anthropic has no requests of mode completion; try --mode qa or --mode chat")
        if sampling.temperature > 1:
            raise EngineError(f"the engine anthropic accepts temperatures up to 1, not {sampling.temperature:g}")
        if budget is None:
            return
        if not _LEAST_THINKING_TOKENS <= budget <= _MOST_THINKING_TOKENS:
            expected = f"{_LEAST_THINKING_TOKENS:,} to {_MOST_THINKING_TOKENS:,}"
            raise EngineError(f"thinking_budget: expected a number from {expected}, not {budget:,}")
        if self.enable_thinking is False:
            raise EngineError("--thinking-budget and --disable-thinking contradict each other: remove one of them")
        if sampling.temperature != 1 or sampling.top_k is not None or (sampling.top_p or 1) < _LEAST_TOP_P:
            raise EngineError(
                "the engine anthropic accepts a thinking_budget only with a temperature of 1, without top_k, "
                f"and with a top_p of at least {_LEAST_TOP_P}"
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The entries in config.json."""
        own = {"enable_thinking": self.enable_thinking, "thinking_budget": self.thinking_budget}
        return {**super().parameters, **own}

    def headers(self, key: str) -> dict[str, str]:
        """The headers of every request."""
        return {"anthropic-version": API_VERSION, **({"x-api-key": key} if key else {})}

    def _request(self, request: Request) -> tuple[str, dict[str, Any]]:
        messages = request.prompt.messages or ()
        sampling = self.sampling
        body = {
            "model": self.served_model or self.model.rpartition("/")[2],  # without its organisation
            "max_tokens": sampling.max_tokens + (self.thinking_budget or 0),
            "system": "\n\n".join(message["content"] for message in messages if message["role"] == "system") or None,
            "messages": [message for message in messages if message["role"] != "system"],
            # A temperature or a top_p of 1 is the default, and newer models refuse sampling parameters.
            "temperature": None if sampling.temperature == 1 else sampling.temperature,
            "top_p": None if sampling.top_p == 1 else sampling.top_p,
            "top_k": sampling.top_k,
            "stop_sequences": [text for text in sampling.stop if text.strip()] or None,  # Claude refuses blank texts
            "thinking": self._thinking(),
        }
        return "/messages", without_none(body)

    def _thinking(self) -> dict[str, Any] | None:
        if self.thinking_budget is not None:
            return {"type": "enabled", "budget_tokens": self.thinking_budget}
        types = {None: None, True: {"type": "adaptive"}, False: {"type": "disabled"}}
        return types[self.enable_thinking]

    def _schema_members(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}

    def _answer_and_reasoning(self, reply: Any) -> tuple[str, str | None]:
        reason, blocks = member_of(reply, "stop_reason"), list_in(reply, "content")
        if reason == "refusal":
            raise NoAnswer("is a refusal (stop_reason refusal)")
        texts = [member_of(block, "text") for block in blocks if member_of(block, "type") == "text"]
        is_cut = reason in AT_THE_LIMIT  # all tokens may be reasoning
        if not (texts or is_cut) or not all(isinstance(text, str) for text in texts):
            name = reported_name(reason)
            raise NoAnswer(f"has no answer{f' (stop_reason {name})' if name else ''}")
        thoughts = [member_of(block, "thinking") for block in blocks if member_of(block, "type") in _THINKING]
        return "".join(texts), "".join(map(texts_of, thoughts)) if thoughts else None

    def details_in(self, reply: Any) -> Details:
        """The details of a message."""
        return Details(*(reported_name(member_of(reply, name)) for name in ("stop_reason", "model")))

    def usage_in(self, reply: Any) -> Usage:
        """The token counts of a message. Its number of input tokens does not include cached tokens."""
        usage = member_of(reply, "usage")
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
        new, written, cached, replied = (tokens(member_of(usage, name)) for name in names)
        return Usage(new + written + cached, replied, cached)
