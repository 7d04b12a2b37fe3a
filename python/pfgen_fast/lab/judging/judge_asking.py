"""Asks a judge for missing replies, within a budget, and again for replies that are not usable.

Each reply is stored when it arrives, and the result depends only on the stored replies, so interruptions do not change
it. Requests are sent in the order of their keys, which are hashes. If asking stops early, all kinds of requests are
therefore about equally complete.
"""

from __future__ import annotations

import contextlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, Generic, TypeVar

from ...base.errors import JudgingError
from ...generation.engines.engine import Engine, run_async
from ...generation.events import Events
from ...generation.protocol import Usage
from .judge_requests import MAX_REQUEST_BYTES, Judge, JudgeRequest, is_too_long
from .reply_store import ReplyStore

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
class JudgePrices:
    """A server's prices, in any currency; estimates ignore the prices of cached tokens."""

    of_prompts: float = 0.0  # price per million prompt tokens
    of_replies: float = 0.0  # price per million reply tokens

    def __post_init__(self) -> None:
        if not all(0 <= price < math.inf for price in (self.of_prompts, self.of_replies)):
            raise JudgingError("prices: expected numbers from 0")

    def __bool__(self) -> bool:
        return bool(self.of_prompts or self.of_replies)

    def cost(self, n_prompt_tokens: int, n_reply_tokens: int) -> float:
        """The cost of tokens."""
        return (n_prompt_tokens * self.of_prompts + n_reply_tokens * self.of_replies) / 1e6

    def most(self, request: JudgeRequest) -> float:
        """The price of a request whose reply has the maximum length."""
        return self.cost(prompt_tokens(request), request.judge.most_tokens)


@dataclass
class Spending:
    """The cost of requests so far, and its limit. Several calls may share an object."""

    prices: JudgePrices = field(default_factory=JudgePrices)
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
class CostEstimate:
    """The estimated cost of missing replies."""

    n_replies: int  # number of needed replies
    n_stored: int  # number of stored replies
    n_equal: int  # number of missing replies that an equal request will provide
    n_requests: int  # number of requests to send
    n_prompt_tokens: int  # estimated number of tokens in these requests
    n_reply_tokens: int  # maximum number of tokens in their replies
    cost: float  # estimated maximum cost

    def __add__(self, other: CostEstimate) -> CostEstimate:
        """The sum of two estimates."""
        return CostEstimate(*(ours + theirs for ours, theirs in zip(astuple(self), astuple(other), strict=True)))

    def sentence(self, what: str = "replies") -> str:
        """The estimate in words; `what` names the replies.

        Example:
            >>> print(CostEstimate(4, 1, 1, 2, 900, 600, cost=0.05).sentence("ratings"))
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


_REQUESTS_AT_A_TIME = 128

Progress = Callable[[int, int], None]


class Asking:
    """Requests to one judge. Equal requests are sent once, and requests with a stored reply are not sent.

    `keeps_empty` tells whether an empty reply counts as a reply and is stored, if it arrived from the server.
    """

    def __init__(self, requests: Iterable[JudgeRequest], replies: ReplyStore, *, keeps_empty: bool = False) -> None:
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

    def estimate(self, prices: JudgePrices | None = None) -> CostEstimate:
        """Estimates the cost of the missing replies."""
        todo = self._todo()
        n_prompt_tokens = sum(map(prompt_tokens, todo))
        n_reply_tokens = sum(request.judge.most_tokens for request in todo)
        cost = (prices or JudgePrices()).cost(n_prompt_tokens, n_reply_tokens)
        n_missing = self.n_missing
        n_stored, n_equal = len(self) - n_missing, n_missing - self._n_too_long - len(todo)
        return CostEstimate(len(self), n_stored, n_equal, len(todo), n_prompt_tokens, n_reply_tokens, cost)

    def ask(
        self,
        engine: Engine,
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

    async def _ask(self, engine: Engine, spending: Spending, on_progress: Progress, events: Events) -> str | None:
        n_asked = 0
        if engine.events is not None:
            engine.events = events
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
                    async for index, raw in answers:
                        reply = raw.text if raw else ""
                        spending.add(batch[index], reply, raw.usage if raw else NO_USAGE)
                        if raw and (reply.strip() or self._keeps_empty):
                            keep(batch[index], reply, raw.details)
                            events.n_answers += 1
                        n_done += 1
                        on_progress(n_done, len(todo))
                n_asked += len(batch)
        n_missing = len(self._todo())
        if n_missing:
            return f"{n_missing:,} requests had no reply ({engine.trouble or 'no reason given'})"
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


Connect = Callable[[Judge], Engine]
"""Opens the engine for a judge, such as `Server(...).engine`."""

_AT_A_TIME = 2048  # maximum number of requests in memory, because requests contain long texts


class Tries(ABC):
    """The tries to get one usable reply, each with its own request. Requests are built on demand."""

    def __init__(self, replies: ReplyStore, n_tries: int) -> None:
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

    def _key(self, index: int) -> str:
        while len(self._keys) <= index:
            self._keys.append(self.request_of_try(len(self._keys) + 1).key)
        return self._keys[index]


def open_tries(wanted: Iterable[Tries]) -> list[Tries]:
    """The tries that need another reply."""
    return [tries for tries in wanted if tries.next_key() is not None]


def estimate_of_tries(wanted: Iterable[Tries], prices: JudgePrices | None = None) -> CostEstimate:
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
    cost = (prices or JudgePrices()).cost(n_tokens, n_reply_tokens)
    return CostEstimate(n, n - n_open, n_open - len(keys), len(keys), n_tokens, n_reply_tokens, cost)


R = TypeVar("R", bound=Tries)


class AskedTries(Generic[R]):
    """Replies that are asked for in rounds, as `AskedTexts` needs them."""

    keeps_empty = False  # see `Asking`

    def __init__(self, tries: Sequence[R]) -> None:
        self.tries = tries

    def __len__(self) -> int:
        return len(self.tries)

    @property
    def n_missing(self) -> int:
        """The number of missing replies."""
        return len(open_tries(self.tries))

    def estimate(self, prices: JudgePrices | None = None) -> CostEstimate:
        """Estimates the cost of the missing replies, if each is usable."""
        return estimate_of_tries(self.tries, prices)

    def ask_with(self, connect: Connect | None, **options: Any) -> str | None:
        """See `ask_in_rounds`; None without a connection."""
        return None if connect is None else ask_in_rounds(self.tries, connect, keeps_empty=self.keeps_empty, **options)


def ask_in_rounds(
    wanted: Sequence[Tries],
    connect: Connect,
    *,
    keeps_empty: bool = False,
    spending: Spending | None = None,
    on_progress: Progress | None = None,
    events: Events | None = None,
) -> str | None:
    """Asks for the missing replies, file by file, and again if a reply is not usable; returns why some are missing."""
    spending, problem = spending or Spending(), None
    n_before, n_total = 0, len(open_tries(wanted))

    def tell(done: int, total: int) -> None:
        nonlocal n_total
        n_total = max(n_total, n_before + total)
        if on_progress is not None:
            on_progress(n_before + done, n_total)

    for replies in {id(tries.replies): tries.replies for tries in wanted}.values():
        still_open = open_tries(tries for tries in wanted if tries.replies is replies)
        still_open.sort(key=lambda tries: tries.next_key() or "")
        for start in range(0, len(still_open), _AT_A_TIME):
            chunk = still_open[start : start + _AT_A_TIME]
            while asked := open_tries(chunk):
                asking = Asking((tries.next_request() for tries in asked), replies, keeps_empty=keeps_empty)
                n_known, n_requests = len(replies), asking.estimate().n_requests
                judge = asked[0].next_request().judge
                message = asking.ask(connect(judge), spending=spending, on_progress=tell, events=events)
                problem = message or problem
                if spending.is_used_up:
                    return problem
                if len(replies) == n_known:  # another round would also get no reply
                    break
                n_before += n_requests
                n_total += len(open_tries(chunk))
    return problem if open_tries(wanted) else None
