"""Asks again for replies that are not usable: in rounds of tries, each try with another seed.

The result depends only on the stored replies, so interruptions do not change it. Requests are sent in the order of
their keys; see `asking`.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...base.errors import EngineError, SchemaRefused
from ...generation.engines import ModelEngine
from ...generation.events import Events
from .budget import Estimate, Prices, Spending, prompt_tokens
from .judge_asking import Asking, Progress
from .judge_requests import Judge, JudgeRequest
from .reply_store import Replies, SharedReplies

Connect = Callable[[Judge], ModelEngine]
"""Opens the engine for a judge, such as `Server(...).engine`."""

_AT_A_TIME = 2048  # maximum number of requests in memory, because requests contain long texts


class Tries(ABC):
    """The tries to get one usable reply, each with its own request. Requests are built on demand."""

    def __init__(self, replies: Replies, n_tries: int) -> None:
        self.replies, self._n_tries = replies, n_tries
        self._keys: list[str] = []
        self._n_replied = 0  # known part of `n_replied`
        self._is_done = False

    @abstractmethod
    def request_of_try(self, number: int) -> JudgeRequest:
        """The request of a try, from 1."""

    @abstractmethod
    def is_usable(self, reply: str) -> bool:
        """Whether a reply is usable. It is called once for each reply, in the order of tries."""

    @property
    def n_replied(self) -> int:
        """The number of tries with a reply, up to the first usable reply. It may exceed the current limit of tries."""
        while not self._is_done:
            reply = self.replies.get(self._key(self._n_replied))
            if reply is None:
                break
            self._n_replied += 1
            self._is_done = self.is_usable(reply)
        return self._n_replied

    def next_key(self) -> str | None:
        """The key of the next request; None after a usable reply or the last try."""
        n = self.n_replied
        return None if self._is_done or n >= self._n_tries else self._key(n)

    def next_request(self) -> JudgeRequest:
        """The next request."""
        return self.request_of_try(self.n_replied + 1)

    def last_key(self) -> str | None:
        """The key of the last request with a reply."""
        return self._key(self.n_replied - 1) if self.n_replied else None

    def known_keys(self) -> Iterator[str]:
        """The keys of all requests that may have been sent."""
        return map(self._key, range(max(self._n_tries, self.n_replied)))

    def _key(self, index: int) -> str:
        while len(self._keys) <= index:
            self._keys.append(self.request_of_try(len(self._keys) + 1).key)
        return self._keys[index]


def open_tries(wanted: Iterable[Tries]) -> list[Tries]:
    """The tries that need another reply."""
    return [tries for tries in wanted if tries.next_key() is not None]


def estimate_of_tries(wanted: Iterable[Tries], prices: Prices | None = None) -> Estimate:
    """Estimates the cost of the missing replies, if each reply is usable."""
    n = n_open = n_tokens = n_reply_tokens = 0
    keys = set()
    for tries in wanted:
        n += 1
        key = tries.next_key()
        n_open += key is not None
        if key is not None and key not in keys:
            keys.add(key)
            request = tries.next_request()
            n_tokens += prompt_tokens(request)
            n_reply_tokens += request.judge.most_tokens
    cost = (prices or Prices()).cost(n_tokens, n_reply_tokens)
    return Estimate(n, n - n_open, n_open - len(keys), len(keys), n_tokens, n_reply_tokens, cost)


def ask_in_rounds(
    wanted: Sequence[Tries],
    connect: Connect,
    *,
    keeps_empty: bool = False,
    spending: Spending | None = None,
    on_progress: Progress | None = None,
    events: Events | None = None,
) -> str | None:
    """Asks for the missing replies, and asks again if a reply is not usable; returns why replies are still missing."""
    spending, problem = spending or Spending(), None
    with contextlib.ExitStack() as stack:
        files = {id(tries.replies): tries.replies for tries in open_tries(wanted)}
        keeps = {name: stack.enter_context(replies.adding()) for name, replies in files.items()}
        # The files are locked now; other processes may have added replies before.
        still_open = [tries for tries in open_tries(wanted) if id(tries.replies) in keeps]
        still_open.sort(key=lambda tries: tries.next_key() or "")
        n_before, n_total = 0, len(still_open)

        def tell(done: int, total: int) -> None:
            nonlocal n_total
            n_total = max(n_total, n_before + total)
            if on_progress is not None:
                on_progress(n_before + done, n_total)

        for start in range(0, len(still_open), _AT_A_TIME):
            chunk = still_open[start : start + _AT_A_TIME]
            while asked := open_tries(chunk):
                shared = SharedReplies(((tries.next_key() or "", tries.replies) for tries in asked), keeps)
                asking = Asking((tries.next_request() for tries in asked), shared, keeps_empty=keeps_empty)
                n_requests = asking.estimate().n_requests
                judge = asked[0].next_request().judge
                try:
                    message = asking.ask(connect(judge), spending=spending, on_progress=tell, events=events)
                except SchemaRefused as refused:
                    if n_before or any(tries.n_replied for tries in wanted):  # some replies follow the schema
                        raise EngineError(f"{refused}; without --structured, all ratings are asked for again") from None
                    raise
                problem = message or problem
                if spending.is_used_up:
                    return problem
                if shared.n_kept == 0:  # another round would also get no reply
                    break
                n_before += n_requests
                n_total += len(open_tries(chunk))
    return problem if open_tries(wanted) else None
