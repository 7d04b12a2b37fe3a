"""Counts of answers, troubles and tokens while a model is asked.

Engines that use a server update the counts, and the caller may read them at any time.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..base.untrusted_text import counted

if TYPE_CHECKING:
    from .protocol import Usage


_TOKENS = ("n_prompt_tokens", "n_reply_tokens", "n_cached_tokens")


class Trouble(enum.Enum):
    """A kind of trouble with a request or with its reply; the value is its name."""

    RATE_LIMIT = "rate limit"
    SERVER_ERROR = "server error"
    TIMEOUT = "timeout"
    CONNECTION = "broken connection"
    REFUSAL = "refused request"
    UNUSABLE = "unusable reply"
    EMPTY = "empty answer"
    REASONED = "reasoning trace"  # although reasoning was disabled


@dataclass
class Events:
    """The counts of one call, such as that of `generate`.

    Example:
        >>> events = Events()
        >>> events.add(Trouble.RATE_LIMIT, "HTTP 429: slow down")
        >>> events.add(Trouble.TIMEOUT, "no complete reply within 120 s")
        >>> events.add(Trouble.TIMEOUT, "no complete reply within 120 s")
        >>> print(events)
        1 rate limit, 2 timeouts
    """

    n_answers: int = 0  # number of usable answers
    troubles: Counter[Trouble] = field(default_factory=Counter)
    n_retries: int = 0  # number of requests that were sent again after trouble
    n_given_up: int = 0  # number of requests that failed in the last try as well
    paused_seconds: float = 0.0  # total duration of the pauses that the server demanded
    n_prompt_tokens: int = 0  # number of tokens in prompts, as reported by the server; 0 if it reports nothing
    n_reply_tokens: int = 0  # number of tokens in replies, as reported by the server
    n_cached_tokens: int = 0  # number of prompt tokens from the server's cache, as reported by the server
    # called after each trouble with its kind and a description in one line without control characters
    on_trouble: Callable[[Trouble, str], None] | None = None

    def add(self, trouble: Trouble, what: str) -> None:
        """Counts one trouble."""
        self.troubles[trouble] += 1
        if self.on_trouble is not None:
            self.on_trouble(trouble, what)

    def add_usage(self, usage: Usage) -> None:
        """Counts the tokens of one reply and of its prompt."""
        for name in _TOKENS:
            setattr(self, name, getattr(self, name) + getattr(usage, name))

    def __str__(self) -> str:
        """The counts that are not zero, in one line."""
        parts = [counted(self.troubles[kind], kind.value) for kind in Trouble if self.troubles[kind]]
        if self.paused_seconds:
            parts.append(f"paused {self.paused_seconds:.0f} s as asked")
        if self.n_retries:
            parts.append(f"{self.n_retries:,} sent again")
        if self.n_given_up:
            parts.append(f"{self.n_given_up:,} given up")
        if self.n_prompt_tokens or self.n_reply_tokens:
            cached = f" ({self.n_cached_tokens:,} cached)" if self.n_cached_tokens else ""
            parts.append(f"tokens: {self.n_prompt_tokens:,} in prompts{cached}, {self.n_reply_tokens:,} in replies")
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """All counts, for JSON."""
        others = ("n_retries", "n_given_up", "paused_seconds", *_TOKENS)
        return {
            "n_answers": self.n_answers,
            "troubles": {kind.value: self.troubles[kind] for kind in Trouble},
            **{name: getattr(self, name) for name in others},
        }
