"""Asks a judge for missing replies: in batches, within a budget, storing each reply as it arrives.

Requests are sent in the order of their keys, which are hashes. Wherever asking stops, all kinds of requests are equally
complete.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence

from ..generation.engines import ModelEngine
from ..generation.events import Events, reports_to
from .budget import Estimate, Prices, estimated_tokens, prompt_tokens
from .replies import Replies
from .requests import JudgeRequest

_REQUESTS_AT_A_TIME = 128

Progress = Callable[[int, int], None]


class Asking:
    """A set of requests that need replies. Equal requests are sent once; stored replies are not requested again.

    Args:
        requests: The requests, all to the same judge.
        replies: The stored replies.
    """

    def __init__(self, requests: Iterable[JudgeRequest], replies: Replies) -> None:
        self._kept = replies
        self._keys: list[str] = []
        self._unasked: dict[str, JudgeRequest] = {}  # those without a reply, by key
        for request in requests:
            self._keys.append(request.key)
            if request.key not in replies:
                self._unasked[request.key] = request

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def n_missing(self) -> int:
        """The number of requests without a reply."""
        return sum(key not in self._kept for key in self._keys)

    def replies(self) -> list[str | None]:
        """The reply to each request; None if there is none."""
        return [self._kept.get(key) for key in self._keys]

    def estimate(self, prices: Prices | None = None) -> Estimate:
        """Estimates the cost of the missing replies."""
        todo = self._todo()
        n_prompt_tokens = sum(map(prompt_tokens, todo))
        n_reply_tokens = sum(request.judge.max_tokens for request in todo)
        cost = (prices or Prices()).cost(n_prompt_tokens, n_reply_tokens)
        n_missing = self.n_missing
        n_stored, n_equal = len(self) - n_missing, n_missing - len(todo)
        return Estimate(len(self), n_stored, n_equal, len(todo), n_prompt_tokens, n_reply_tokens, cost)

    def ask(
        self,
        engine: ModelEngine,
        *,
        prices: Prices | None = None,
        budget: float | None = None,
        on_progress: Progress | None = None,
        events: Events | None = None,
    ) -> str | None:
        """Asks for the missing replies and stores each as it arrives.

        Args:
            engine: The engine, opened for the judge's model and sampling in mode `chat`. It is closed at the end.
            prices: The prices of tokens.
            budget: Asking stops before a request whose estimated cost could exceed the budget.
            on_progress: Called with the number of finished requests and the total.
            events: Counts what happens, if the engine reports it.

        Returns:
            A sentence on why some replies are still missing; None if none are.

        Raises:
            EngineError: An error concerns all requests. Replies received before are kept.
            JudgingError: Another process is adding replies to the same file.
        """
        if events is not None:
            reports_to(engine, events)
        return asyncio.run(self._ask(engine, prices or Prices(), budget, on_progress or (lambda done, total: None)))

    async def _ask(
        self, engine: ModelEngine, prices: Prices, budget: float | None, on_progress: Progress
    ) -> str | None:
        todo = self._todo()
        spent, n_asked = 0.0, 0
        on_progress(0, len(todo))
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(engine.close)
            keep = stack.enter_context(self._kept.adding())
            while n_asked < len(todo):
                batch = todo[n_asked : n_asked + _REQUESTS_AT_A_TIME]
                if budget is not None:
                    batch = _affordable(batch, prices, budget, spent)
                if not batch:
                    return f"the budget of {budget:g} is used up after {n_asked:,} requests (about {spent:.2f})"
                n_done = n_asked
                async with contextlib.aclosing(engine.answers(batch)) as answers:
                    async for index, reply in answers:
                        spent += _cost(batch[index], reply, prices)
                        if reply.strip():
                            keep(batch[index], reply)
                        n_done += 1
                        on_progress(n_done, len(todo))
                n_asked += len(batch)
        n_missing = len(self._todo())
        if n_missing:
            return f"{n_missing:,} requests had no reply ({getattr(engine, 'trouble', '') or 'none came'})"
        return None

    def _todo(self) -> list[JudgeRequest]:
        """The requests without a reply, in the order in which they are sent."""
        return [self._unasked[key] for key in sorted(self._unasked) if key not in self._kept]


def _cost(request: JudgeRequest, reply: str, prices: Prices) -> float:
    """The estimated cost of a request and its reply."""
    return prices.cost(prompt_tokens(request), min(estimated_tokens(reply), request.judge.max_tokens))


def _affordable(requests: Sequence[JudgeRequest], prices: Prices, budget: float, spent: float) -> list[JudgeRequest]:
    """The longest prefix of the requests that the rest of the budget is sure to cover."""
    found = []
    for request in requests:
        spent += prices.most(request)
        if spent > budget:
            break
        found.append(request)
    return found
