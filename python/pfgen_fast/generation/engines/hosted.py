"""The engines that send requests to a server: the protocol, the default address and the key variable of each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar

from ...base.errors import EngineError
from ...base.untrusted_text import in_one_line
from ...scoring.reply_text import Mode
from ...suite.suite import Suite
from ..anthropic_protocol import AnthropicForm
from ..json_parts import without_none
from ..openai_protocol import RequestForm
from ..protocol import ServerForm
from . import Sampling, refuse_unknown_options
from .server_engine import Connection, ServerEngine

_CONNECTION = {field.name: str(field.type) for field in fields(Connection) if field.name != "needs_key"}
_NO_OPTIONS = ("model", "mode", "sampling")


class HostedEngine(ServerEngine):
    """An engine whose options are those of the connection and of the protocol."""

    name: ClassVar[str]
    form: ClassVar[type[ServerForm]]
    usual_url: ClassVar[str]
    usual_key: ClassVar[str]
    url_variable: ClassVar[str] = ""  # environment variable that overrides the default address

    def __init__(self, *, suite: Suite | None, model: str, mode: Mode, sampling: Sampling, **options: Any) -> None:
        settings = {name: options.pop(name) for name in _CONNECTION if name in options}
        url = settings.pop("base_url", None) or os.environ.get(self.url_variable) or self.usual_url
        key_env = settings.pop("key_env", None)
        needs_key = key_env is not None or url.rstrip("/") == self.usual_url
        connection = Connection(url, key_env=key_env or self.usual_key, needs_key=needs_key, **settings)
        super().__init__(self.form(model, mode, sampling, **options), connection)

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
