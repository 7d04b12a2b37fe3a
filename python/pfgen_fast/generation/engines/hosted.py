"""The engines that ask a server, hosted or local: of each, its protocol, its usual address and its key."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any, ClassVar

from ...suite.suite import Suite
from ..anthropic_protocol import AnthropicForm
from ..gemini_protocol import GeminiNativeForm
from ..openai_protocol import GeminiForm, RequestForm
from ..prompts import Mode
from ..protocol import ServerForm
from . import Sampling
from .server import Connection, ServerEngine

_OF_EVERY_FORM = ("model", "mode", "sampling")


class HostedEngine(ServerEngine):
    """Asks a server, with many concurrent requests. A subclass is one server's protocol; its options are those too."""

    name: ClassVar[str]
    form: ClassVar[Callable[..., ServerForm]]
    usual_url: ClassVar[str]
    usual_key: ClassVar[str]
    without: ClassVar[tuple[str, ...]] = ()
    """Options of the protocol that this server does not have."""
    url_variable: ClassVar[str | None] = None
    """The environment variable that may hold another usual address."""

    def __init__(
        self,
        *,
        suite: Suite | None,
        model: str,
        mode: Mode,
        sampling: Sampling,
        base_url: str | None = None,
        concurrency: int = 16,
        timeout: float = 120.0,
        retries: int = 5,
        key_env: str | None = None,
        backoff: float = 0.5,
        **options: Any,
    ) -> None:
        url = base_url or os.environ.get(self.url_variable or "") or self.usual_url
        connection = Connection(
            base_url=url,
            key_env=key_env or self.usual_key,
            needs_key=key_env is not None or url.rstrip("/") == self.usual_url,
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            backoff=backoff,
        )
        super().__init__(self.form(model, mode, sampling, **options), connection)

    @classmethod
    def options(cls) -> dict[str, str]:
        """The options of the engine, with their types: those of the connection and those of the protocol."""
        parameters = inspect.signature(HostedEngine).parameters.values()
        ours = {each.name: each.annotation for each in parameters if each.kind is not inspect.Parameter.VAR_KEYWORD}
        theirs = {each.name: str(each.type) for each in fields(cls.form)}  # type: ignore[arg-type]
        left_out = {*_OF_EVERY_FORM, "suite", *cls.without}
        return {name: kind for name, kind in {**ours, **theirs}.items() if name not in left_out}


class OpenaiEngine(HostedEngine):
    """Asks a server that speaks the OpenAI protocol, local or hosted."""

    name = "openai"
    form = RequestForm
    usual_url = "https://api.openai.com/v1"
    usual_key = "OPENAI_API_KEY"
    url_variable = "OPENAI_BASE_URL"


class OpenaiApiEngine(OpenaiEngine):
    """The engine `openai` under the name in the published runs, so that a run gets the same folder as theirs."""

    name = "openai-api"


class GeminiEngine(HostedEngine):
    """Asks Gemini through the door that speaks the OpenAI protocol; it cannot be seeded."""

    name = "gemini"
    form = GeminiForm
    without = ("max_tokens_name",)
    usual_url = "https://generativelanguage.googleapis.com/v1beta/openai"
    usual_key = "GEMINI_API_KEY"


class GeminiNativeEngine(HostedEngine):
    """Asks Gemini by its own API, which can do more than that door."""

    name = "gemini-native"
    form = GeminiNativeForm
    usual_url = "https://generativelanguage.googleapis.com/v1beta"
    usual_key = "GEMINI_API_KEY"


class AnthropicEngine(HostedEngine):
    """Asks Claude by Anthropic's own Messages API; it cannot be seeded."""

    name = "anthropic"
    form = AnthropicForm
    usual_url = "https://api.anthropic.com/v1"
    usual_key = "ANTHROPIC_API_KEY"
