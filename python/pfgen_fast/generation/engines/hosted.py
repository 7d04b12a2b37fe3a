"""The engines that send requests to a server, and their protocols: those of OpenAI and of Anthropic.

Rules: docs/generation.md.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from ...base.errors import EngineError
from ...base.untrusted_text import in_one_line
from ...scoring.reply_text import Mode
from ...suite.suite import Suite
from ..prompts import Prompt, Request, Sampling
from ..protocol import (
    AT_THE_LIMIT,
    Details,
    NoAnswer,
    RawReply,
    ServerForm,
    Usage,
    error_text,
    list_in,
    member_of,
    reported_name,
    texts_of,
    tokens,
    without_none,
)
from .engine_registry import refuse_unknown_options
from .server_engine import ServerConnection, ServerEngine

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


_CONNECTION = {field.name: str(field.type) for field in fields(ServerConnection)}
_NO_OPTIONS = ("model", "mode", "sampling")


class HostedEngine(ServerEngine):
    """An engine whose options are those of the connection and of the protocol."""

    name: ClassVar[str]
    form: ClassVar[type[ServerForm]]
    usual_url: ClassVar[str]
    usual_key: ClassVar[str]
    url_variable: ClassVar[str] = ""  # environment variable that overrides the default address

    def __init__(self, *, suite: Suite | None, model: str, mode: Mode, sampling: Sampling, **options: Any) -> None:
        connection = ServerConnection(**{name: options.pop(name) for name in _CONNECTION if name in options})
        form = self.form(model, mode, sampling, **options)
        url = connection.base_url or os.environ.get(self.url_variable) or self.usual_url
        needs_key = connection.key_env is not None or url.rstrip("/") == self.usual_url
        super().__init__(form, connection, url, connection.key_env or self.usual_key, needs_key=needs_key)

    @classmethod
    def options(cls) -> dict[str, str]:
        """The options of the engine, with their types."""
        kinds = {**_CONNECTION, **{field.name: str(field.type) for field in fields(cls.form)}}
        return {name: kind for name, kind in kinds.items() if name not in _NO_OPTIONS}


class OpenaiEngine(HostedEngine):
    """Uses a local or hosted server with the OpenAI protocol."""

    name = "openai"
    form = RequestForm
    usual_url = "https://api.openai.com/v1"
    usual_key = "OPENAI_API_KEY"
    url_variable = "OPENAI_BASE_URL"


class OpenaiApiEngine(OpenaiEngine):
    """The engine `openai` under its name in the published runs, because the name affects the name of a run's folder."""

    name = "openai-api"


class AnthropicEngine(HostedEngine):
    """Uses Claude through Anthropic's Messages API, which accepts no seed."""

    name = "anthropic"
    form = AnthropicForm
    usual_url = "https://api.anthropic.com/v1"
    usual_key = "ANTHROPIC_API_KEY"


REQUEST_FORMS = {engine.name: engine.form for engine in (OpenaiEngine, OpenaiApiEngine, AnthropicEngine)}


def request_form(engine: str, model: str, mode: Mode, sampling: Sampling, options: Mapping[str, Any]) -> ServerForm:
    """The protocol of an engine; options of the connection have no effect.

    Raises:
        EngineError: The engine uses no server, or an option is unknown or invalid.
    """
    if engine not in REQUEST_FORMS:
        raise EngineError(
            f"the engine {in_one_line(engine)} uses no server; expected one of {', '.join(REQUEST_FORMS)}"
        )
    known = without_none(options)
    refuse_unknown_options(engine, known)
    return REQUEST_FORMS[engine](model, mode, sampling, **{key: known[key] for key in known if key not in _CONNECTION})
