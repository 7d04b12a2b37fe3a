"""The engine `gemini-native`: Gemini, by its own API, which can do more than the door of the engine `gemini`."""

from __future__ import annotations

from ...suite.suite import Suite
from ..gemini_protocol import GeminiNativeForm
from ..prompts import Mode
from . import Sampling
from .server import Connection, ServerEngine

_USUAL_URL = "https://generativelanguage.googleapis.com/v1beta"
_USUAL_KEY = "GEMINI_API_KEY"


class GeminiNativeEngine(ServerEngine):
    """Asks Gemini, with many concurrent requests.

    Args:
        suite: Unused, because requests carry their prompts.
        model: The model's name; what precedes a slash is not sent.
        mode: `qa` or `chat`.
        sampling: How answers are sampled.
        base_url: The server's address up to where `/models` follows; by default Google's.
        concurrency: The maximum number of concurrent requests.
        timeout: Seconds within which the whole reply must arrive.
        retries: How often a request is retried after a failure that may be temporary.
        key_env: The environment variable that holds the key; GEMINI_API_KEY by default.
        enable_thinking: Whether the model reasons before it answers; None leaves it to the server.
        thinking_budget: How many tokens it may reason with, besides those of the answer.
        safety: From when on answers are blocked, one of `SAFETY_THRESHOLDS`; None leaves it to the server.
        backoff: Seconds before the first retry; doubles with each retry.

    Raises:
        EngineError: httpx is not installed, the address or the key is invalid, or the model has no such requests.
    """

    name = "gemini-native"

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
        safety: str | None = None,
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
        super().__init__(GeminiNativeForm(model, mode, sampling, enable_thinking, thinking_budget, safety), connection)
