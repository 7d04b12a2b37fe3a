"""Asks a judge for missing replies: in batches, within a budget. Each reply is stored when it arrives.

Requests are sent in the order of their keys, which are hashes. If asking stops early, all kinds of requests are
therefore about equally complete.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable

from ...generation.engines import ModelEngine, run_async
from ...generation.events import Events, Reports
from .budget import NO_USAGE, Estimate, Prices, Spending, prompt_tokens
from .judge_requests import MAX_REQUEST_BYTES, JudgeRequest, is_too_long
from .reply_store import UNKNOWN, KeptReplies

_REQUESTS_AT_A_TIME = 128

Progress = Callable[[int, int], None]


class Asking:
    """Requests to one judge. Equal requests are sent once, and requests with a stored reply are not sent.

    `keeps_empty` tells whether an empty reply counts as a reply and is stored, if it arrived from the server.
    """

    def __init__(self, requests: Iterable[JudgeRequest], replies: KeptReplies, *, keeps_empty: bool = False) -> None:
        self._kept, self._keeps_empty = replies, keeps_empty
        self._keys: list[str] = []
        self._unasked: dict[str, JudgeRequest] = {}  # requests to send, by key
        self._n_too_long = 0
        for request in requests:
            self._keys.append(request.key)
            if request.key in replies:
                continue
            if is_too_long(request):
                self._n_too_long += 1
            else:
                self._unasked[request.key] = request

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def n_missing(self) -> int:
        """The number of requests without a reply."""
        return sum(key not in self._kept for key in self._keys)

    def replies(self) -> list[str | None]:
        """The reply to each request; None if it is missing."""
        return [self._kept.get(key) for key in self._keys]

    def estimate(self, prices: Prices | None = None) -> Estimate:
        """Estimates the cost of the missing replies."""
        todo = self._todo()
        n_prompt_tokens = sum(map(prompt_tokens, todo))
        n_reply_tokens = sum(request.judge.most_tokens for request in todo)
        cost = (prices or Prices()).cost(n_prompt_tokens, n_reply_tokens)
        n_missing = self.n_missing
        n_stored, n_equal = len(self) - n_missing, n_missing - self._n_too_long - len(todo)
        return Estimate(len(self), n_stored, n_equal, len(todo), n_prompt_tokens, n_reply_tokens, cost)

    def ask(
        self,
        engine: ModelEngine,
        *,
        spending: Spending | None = None,
        on_progress: Progress | None = None,
        events: Events | None = None,
    ) -> str | None:
        """Asks for the missing replies; returns a sentence that explains why replies are still missing, or None.

        The engine must be opened for the judge's model and sampling in mode `chat`. It is closed at the end.
        `on_progress` is called with the number of finished requests and the total.

        Raises:
            EngineError: An error affects all requests. Replies that were stored before are kept.
            JudgingError: Another process is adding replies to the same file.
        """
        tell = on_progress or (lambda done, total: None)
        return run_async(self._ask(engine, spending or Spending(), tell, events or Events()))

    async def _ask(self, engine: ModelEngine, spending: Spending, on_progress: Progress, events: Events) -> str | None:
        n_asked, reports = 0, Reports(engine, events)
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(engine.close)
            keep = stack.enter_context(self._kept.adding())
            todo = self._todo()  # while the file is locked, because another process may have added replies
            on_progress(0, len(todo))
            while n_asked < len(todo):
                batch = spending.affordable(todo[n_asked : n_asked + _REQUESTS_AT_A_TIME])
                if not batch:
                    return _stopped_by(spending, todo[n_asked])
                n_done = n_asked
                async with contextlib.aclosing(engine.answers(batch)) as answers:
                    async for index, reply in answers:
                        raw = reports.pop(batch[index])
                        spending.add(batch[index], reply, raw.usage if raw else NO_USAGE)
                        if reply.strip() or (self._keeps_empty and raw is not None):
                            keep(batch[index], reply, raw.details if raw else UNKNOWN)
                            events.n_answers += 1
                        n_done += 1
                        on_progress(n_done, len(todo))
                n_asked += len(batch)
        n_missing = len(self._todo())
        if n_missing:
            return f"{n_missing:,} requests had no reply ({getattr(engine, 'trouble', '') or 'no reason given'})"
        if self._n_too_long:
            is_or_are = "request is" if self._n_too_long == 1 else "requests are"
            return f"{self._n_too_long:,} {is_or_are} longer than {MAX_REQUEST_BYTES >> 20} MiB and therefore not sent"
        return None

    def _todo(self) -> list[JudgeRequest]:
        """The requests to send, in the order of their keys."""
        return [self._unasked[key] for key in sorted(self._unasked) if key not in self._kept]


def _stopped_by(spending: Spending, next_one: JudgeRequest) -> str:
    spending.is_used_up = True
    done = f"{spending.n_requests:,} requests (about {spending.cost:.2f})"
    most = spending.prices.most(next_one)
    return f"the budget of {spending.budget:g} is used up after {done}; the next request may cost up to {most:.2g}"
