"""The OpenAI protocol and its Batch API. Rules: docs/generation.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..base.errors import EngineError
from ..base.untrusted_text import in_one_line
from .json_parts import error_text, list_in, member_of, texts_of, tokens, without_none
from .prompts import Prompt, Request
from .protocol import Details, NoAnswer, RawReply, ServerForm, Usage, reported_name

MAX_TOKENS_NAMES = ("max_tokens", "max_completion_tokens")
"""The names of the limit of tokens in requests: the default, and the name for newer OpenAI models."""

_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")

NO_THINK = "/no_think\n"
"""A beginning of prompts that disables the reasoning of models such as Qwen3, as in the published runs."""


@dataclass(frozen=True)
class RequestForm(ServerForm):
    """Requests to a server with the OpenAI protocol."""

    max_tokens_name: str = MAX_TOKENS_NAMES[0]  # one of `MAX_TOKENS_NAMES`
    # false disables reasoning; None and true do not affect requests, but true is recorded
    enable_thinking: bool | None = None
    chat_template_kwargs: Mapping[str, Any] | None = None  # variables of the chat template
    reasoning_effort: str | None = None  # such as `low`; the possible values depend on the server

    disabled_by: ClassVar[str] = f"{NO_THINK.strip()} at the beginning of each prompt"
    other_names: ClassVar[Mapping[str, Sequence[str]]] = {"max_tokens": MAX_TOKENS_NAMES[1:]}
    final_refusals: ClassVar[tuple[str, ...]] = ("insufficient_quota",)
    refusals_of_one: ClassVar[tuple[str, ...]] = ("content_filter",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_tokens_name not in MAX_TOKENS_NAMES:
            raise EngineError(
                f"max_tokens_name: expected {' or '.join(MAX_TOKENS_NAMES)}, not {in_one_line(self.max_tokens_name)}"
            )
        if self.mode == "completion" and self.max_tokens_name != MAX_TOKENS_NAMES[0]:
            raise EngineError(f"only chat models know {self.max_tokens_name}; try --mode qa or --mode chat")

    @property
    def parameters(self) -> dict[str, Any]:
        """The entries in config.json."""
        is_usual = self.max_tokens_name == MAX_TOKENS_NAMES[0]
        return {
            **super().parameters,
            "max_tokens_name": None if is_usual else self.max_tokens_name,
            "enable_thinking": self.enable_thinking,
            "chat_template_kwargs": self.chat_template_kwargs or None,
            "reasoning_effort": self.reasoning_effort or None,
        }

    def headers(self, key: str) -> dict[str, str]:
        """The headers of every request."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _request(self, request: Request) -> tuple[str, dict[str, Any]]:
        prompt = _beginning_with(NO_THINK, request.prompt) if self.enable_thinking is False else request.prompt
        sampling = self.sampling
        body = {
            "model": self.served_model or self.model,
            **({"prompt": prompt.text} if prompt.messages is None else {"messages": list(prompt.messages)}),
            self.max_tokens_name: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "stop": list(sampling.stop) or None,  # some servers reject an empty list
            "seed": request.seed,
            "top_k": sampling.top_k,  # not in the protocol, but most local servers accept it
            "chat_template_kwargs": self.chat_template_kwargs or None,
            "reasoning_effort": self.reasoning_effort or None,
        }
        path = "/completions" if prompt.messages is None else "/chat/completions"
        return path, without_none(body)

    def _schema_members(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        named = {"name": "reply", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": named}}

    def _answer_and_reasoning(self, reply: Any) -> tuple[str, str | None]:
        choices = list_in(reply, "choices")
        if len(choices) > 1:
            raise NoAnswer(f"has {len(choices):,} answers to a request for one")
        message, text = member_of(choices, 0, "message"), member_of(choices, 0, "text")
        if isinstance(message, Mapping) and isinstance(message.get("content"), str | list | None):
            return texts_of(message.get("content"), "text"), _reasoning_in(message)
        if not isinstance(text, str):
            raise NoAnswer("has no answer")
        return text, _reasoning_in(message)

    def details_in(self, reply: Any) -> Details:
        """The details in the decoded body of a reply."""
        finish_reason = member_of(reply, "choices", -1, "finish_reason")
        others = (member_of(reply, name) for name in ("model", "system_fingerprint"))
        return Details(*map(reported_name, (finish_reason, *others)))

    def usage_in(self, reply: Any) -> Usage:
        """The token counts in the decoded body of a reply."""
        usage = member_of(reply, "usage")
        cached = "prompt_tokens_details", "cached_tokens"
        reasoning = "completion_tokens_details", "reasoning_tokens"
        places = (("prompt_tokens",), ("completion_tokens",), cached, reasoning)
        return Usage(*(tokens(member_of(usage, *keys)) for keys in places))

    def batch_line(self, name: str, request: Request) -> dict[str, Any]:
        """A request in an input file of the Batch API."""
        path, body = self.path_and_body(request)
        return {"custom_id": name, "method": "POST", "url": f"/v1{path}", "body": body}

    def batch_answer(self, row: Mapping[str, Any]) -> tuple[Any, RawReply | None, str]:
        """From a line of an output file: the body of the reply, the reply or None, and why the answer is missing."""
        if row.get("error"):
            return None, None, f"failed: {error_text(row['error'])}"
        status, body = (member_of(row, "response", name) for name in ("status_code", "body"))
        if status != 200:
            error = body.get("error") if isinstance(body, dict) else body
            return None, None, f"failed with HTTP {in_one_line(status)}: {error_text(error)}"
        try:
            return body, self.raw_reply(body), ""
        except NoAnswer as error:
            return body, None, f"the response {error}"

    def _instead(self, name: str, problem: str) -> str | None:
        other = MAX_TOKENS_NAMES[1]
        is_better = name == "max_tokens" and self.max_tokens_name != other and other in problem
        return f"try --max-tokens-name {other}" if is_better else None


def _reasoning_in(message: Any) -> str | None:
    """The reasoning in the first field that has text, otherwise in parts of the content."""
    for name in _REASONING_FIELDS:
        if text := texts_of(member_of(message, name)):
            return text
    parts = [part for part in list_in(message, "content") if member_of(part, "type") in ("thinking", "reasoning")]
    texts = (texts_of(member_of(part, name)) for part in parts for name in ("thinking", "text", "reasoning"))
    return "".join(texts) if parts else None


def _beginning_with(text: str, prompt: Prompt) -> Prompt:
    if prompt.messages is None:
        return replace(prompt, text=text + prompt.text)
    first, *others = prompt.messages
    return replace(prompt, messages=({**first, "content": text + first["content"]}, *others))
