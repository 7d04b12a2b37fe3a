"""Prices of tokens, which the user gives, because built-in prices would soon be outdated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ..errors import EngineError, PfgenError


@dataclass(frozen=True)
class TokenPrices:
    """A server's prices, in any currency."""

    of_prompts: float = 0.0  # price per million prompt tokens
    of_replies: float = 0.0  # price per million reply tokens
    # price per million prompt tokens that come from the server's cache; None for that of the others
    of_cached: float | None = None

    error: ClassVar[type[PfgenError]] = EngineError

    def __post_init__(self) -> None:
        given = (self.of_prompts, self.of_replies, self.of_cached or 0.0)
        if not all(0 <= price < math.inf for price in given):
            raise self.error("prices: expected numbers from 0")

    def __bool__(self) -> bool:
        return bool(self.of_prompts or self.of_replies or self.of_cached)

    def cost(self, n_prompt_tokens: int, n_reply_tokens: int, n_cached_tokens: int = 0) -> float:
        """The price of the given numbers of tokens; the cached ones are among those of prompts."""
        of_cached = self.of_prompts if self.of_cached is None else self.of_cached
        n_cached_tokens = min(n_cached_tokens, n_prompt_tokens)  # whatever a server reports
        n_new = n_prompt_tokens - n_cached_tokens
        return (n_new * self.of_prompts + n_cached_tokens * of_cached + n_reply_tokens * self.of_replies) / 1e6
