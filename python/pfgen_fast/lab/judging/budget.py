"""The cost of requests: estimated tokens, prices, a budget, and an estimate before the first request."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from typing import ClassVar

from ...base.errors import JudgingError, PfgenError
from ...generation.events import TokenPrices
from ...generation.protocol import Usage
from .judge_requests import JudgeRequest

NO_USAGE = Usage()

_MESSAGE_TOKENS = 8  # estimated tokens that a server adds to each message


def estimated_tokens(text: str) -> int:
    """Estimates the tokens of a text: one token for four ASCII characters, one for each other character."""
    n_ascii = len(text.encode("ascii", "ignore"))
    return -(-n_ascii // 4) + len(text) - n_ascii


def prompt_tokens(request: JudgeRequest) -> int:
    """Estimates the tokens of a request's messages."""
    return sum(estimated_tokens(message["content"]) + _MESSAGE_TOKENS for message in request.messages)


@dataclass(frozen=True)
class Prices(TokenPrices):
    """A server's prices, in any currency; estimates ignore the prices of cached tokens."""

    error: ClassVar[type[PfgenError]] = JudgingError

    def most(self, request: JudgeRequest) -> float:
        """The price of a request whose reply has the maximum length."""
        return self.cost(prompt_tokens(request), request.judge.most_tokens)


@dataclass
class Spending:
    """The cost of requests so far, and its limit. Several calls may share an object."""

    prices: Prices = field(default_factory=Prices)
    budget: float | None = None  # asking stops before a request that could exceed the budget; None for no limit
    n_requests: int = 0
    n_prompt_tokens: int = 0  # estimated
    n_reply_tokens: int = 0  # reasoning included, as the server reports it; otherwise estimated from the texts
    is_used_up: bool = False  # whether the budget has stopped a call

    def __post_init__(self) -> None:
        if self.budget is not None and not self.prices:
            raise JudgingError("--budget needs prices: --prompt-price, --reply-price")
        if self.budget is not None and not 0 <= self.budget < math.inf:
            raise JudgingError(f"the budget {self.budget:g}: expected a number from 0")

    @property
    def cost(self) -> float:
        """The estimated cost so far."""
        return self.prices.cost(self.n_prompt_tokens, self.n_reply_tokens)

    def affordable(self, requests: Sequence[JudgeRequest]) -> list[JudgeRequest]:
        """The longest beginning of the requests for which the rest of the budget is certainly sufficient."""
        if self.budget is None:
            return list(requests)
        within, cost = [], self.cost
        for request in requests:
            cost += self.prices.most(request)
            if cost > self.budget:
                break
            within.append(request)
        return within

    def add(self, request: JudgeRequest, reply: str, usage: Usage = NO_USAGE) -> None:
        """Counts a request and its reply. The usage includes tokens of reasoning that the reply does not show."""
        self.n_requests += 1
        self.n_prompt_tokens += prompt_tokens(request)
        estimated = min(estimated_tokens(reply), request.judge.most_tokens)
        self.n_reply_tokens += usage.n_reply_tokens or estimated


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of missing replies."""

    n_replies: int  # number of needed replies
    n_stored: int  # number of stored replies
    n_equal: int  # number of missing replies that an equal request will provide
    n_requests: int  # number of requests to send
    n_prompt_tokens: int  # estimated number of tokens in these requests
    n_reply_tokens: int  # maximum number of tokens in their replies
    cost: float  # estimated maximum cost

    def __add__(self, other: Estimate) -> Estimate:
        """The sum of two estimates."""
        return Estimate(*(ours + theirs for ours, theirs in zip(astuple(self), astuple(other), strict=True)))

    def sentence(self, what: str = "replies") -> str:
        """The estimate in words; `what` names the replies.

        Example:
            >>> print(Estimate(4, 1, 1, 2, 900, 600, cost=0.05).sentence("ratings"))
            4 ratings (1 stored already, 1 equal to others); 2 requests of about 900 tokens, and replies of 600 at \
most: costs up to about 0.05
        """
        counts = {"stored already": self.n_stored, "equal to others": self.n_equal}
        known = ", ".join(f"{n:,} {how}" for how, n in counts.items() if n)
        words = f"{self.n_replies:,} {what}{f' ({known})' if known else ''}; "
        if not self.n_requests:
            return f"{words}nothing to ask"
        words += f"{self.n_requests:,} {'request' if self.n_requests == 1 else 'requests'}"
        words += f" of about {self.n_prompt_tokens:,} tokens, and replies of {self.n_reply_tokens:,} at most"
        return f"{words}: costs up to about {self.cost:.2f}" if self.cost else words
