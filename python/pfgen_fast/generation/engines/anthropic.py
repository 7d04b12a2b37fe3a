"""The engine `anthropic`: Claude, by Anthropic's own Messages API."""

from __future__ import annotations

from ...suite.suite import Suite
from ..anthropic_protocol import AnthropicForm
from ..prompts import Mode
from . import Sampling
from .server import Connection, ServerEngine

_USUAL_URL = "https://api.anthropic.com/v1"
_USUAL_KEY = "ANTHROPIC_API_KEY"


class AnthropicEngine(ServerEngine):
    """Asks Claude, with many concurrent requests; it cannot be seeded.

    Args:
        suite: Unused, because requests carry their prompts.
        model: The model's name; what precedes a slash is not sent.
        mode: `qa` or `chat`.
        sampling: How answers are sampled, with a temperature of at most 1, which is not sent if it is 1.
        base_url: The server's address up to where `/messages` follows; by default Anthropic's.
        concurrency: The maximum number of concurrent requests.
        timeout: Seconds within which the whole reply must arrive.
        retries: How often a request is retried after a failure that may be temporary.
        key_env: The environment variable that holds the key; ANTHROPIC_API_KEY by default.
        enable_thinking: Whether the model reasons before it answers; None leaves it to the server.
        thinking_budget: How many tokens it may reason with, besides those of the answer.
        backoff: Seconds before the first retry; doubles with each retry.

    Raises:
        EngineError: httpx is not installed, the address or the key is invalid, or the model has no such requests.
    """

    name = "anthropic"

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
        enable_thinking: bool | None = None,
        thinking_budget: int | None = None,
        backoff: float = 0.5,
    ) -> None:
        connection = Connection(
            base_url=base_url or _USUAL_URL,
            key_env=key_env or _USUAL_KEY,
            needs_key=key_env is not None or base_url is None,
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            backoff=backoff,
        )
        super().__init__(AnthropicForm(model, mode, sampling, enable_thinking, thinking_budget), connection)
