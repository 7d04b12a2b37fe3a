"""The clients of the reward server, for training programs, with the methods of a scorer.

They need httpx (`pip install 'pfgen-fast[serve]'`), but no suite.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast
from urllib.parse import unquote, urlsplit

from ...base.errors import ServingError, TrialsError, optional
from ...base.untrusted_json import json_bytes
from ...base.untrusted_text import in_one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

T = TypeVar("T")

_BUSY = (429, 502, 503)
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS, _LONGEST_ASKED_PAUSE_SECONDS = 0.1, 5.0, 30.0


class _Requests(ABC):
    """The requests of both clients, as coroutines that wait only in `_post` and `_pause`."""

    _client: ClassVar[str]  # the class of httpx

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 60.0,
        retry_seconds: float = 60.0,
        n_answers: int = 4096,
    ) -> None:
        if not retry_seconds >= 0 or n_answers < 1:
            raise ServingError(f"retry_seconds {retry_seconds}, n_answers {n_answers}: expected at least 0 and 1")
        self.url, password = _address(url)
        token = token or password
        settings = {"token": token, "timeout": timeout, "retry_seconds": retry_seconds, "n_answers": n_answers}
        self._copy = partial(type(self), self.url, **settings)  # type: ignore[arg-type]
        self._retry_seconds, self._n_answers = retry_seconds, n_answers
        self._signature = ""  # of the first reply: after a restart, a server may have another suite
        self._httpx = optional("httpx", extra="serve", needed_for="the client of a reward server")
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        # A reward server is in the local network, so proxies of the environment are not used.
        self._settings = {"timeout": timeout, "headers": headers, "trust_env": False}
        self._http = getattr(self._httpx, self._client)(**self._settings)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._copy, (), {"_signature": self._signature}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    @abstractmethod
    async def _post(self, url: str, body: bytes) -> Any: ...

    @abstractmethod
    async def _pause(self, seconds: float) -> None: ...

    async def _rewards(
        self, questions: str | Sequence[str] | None, answers: Sequence[str], known: Mapping[str, Any]
    ) -> Floats:
        import numpy as np

        replies = await self._replies("reward", questions, answers, known)
        return np.concatenate([np.array(reply["rewards"], dtype=np.float64) for reply in replies])

    async def _scores(
        self, questions: str | Sequence[str] | None, answers: Sequence[str], known: Mapping[str, Any]
    ) -> dict[str, NDArray[Any]]:
        import numpy as np

        tables = [reply["scores"] for reply in await self._replies("score", questions, answers, known)]
        return {
            name: np.concatenate([np.array(table[name], dtype=kind) for table in tables])
            for name in tables[0]
            for kind in (str if name == "question_id" else float,)
        }

    async def _current_signature(self) -> str:
        signature: str = (await self._reply("reward", {"questions": [], "answers": []}, 0))["signature"]
        return signature

    async def _replies(
        self, path: str, questions: str | Sequence[str] | None, answers: Sequence[str], known: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        arguments = {"questions": questions, **known}
        whole = {"questions": arguments.pop("questions")} if isinstance(questions, str) else {}
        columns = {"answers": _listed("answers", answers)}
        columns |= {name: _listed(name, values) for name, values in arguments.items() if values is not None}
        for name, values in columns.items():
            if len(values) != len(columns["answers"]):
                raise TrialsError(f"{len(values)} {name} and {len(answers)} answers; expected equal numbers")
        replies = []
        n_answers = max(len(answers), 1) if "groups" in columns else self._n_answers  # a group has one reply
        for first in range(0, max(len(answers), 1), n_answers):
            rows = slice(first, first + n_answers)
            batch = {**whole, **{name: values[rows] for name, values in columns.items()}}
            replies.append(await self._reply(path, batch, first))
        return replies

    async def _reply(self, path: str, batch: dict[str, Any], first: int) -> dict[str, Any]:
        """The reply to a part of a batch; `first` is the number of its first row in the batch of the caller."""
        last = first + len(batch["answers"]) - 1
        try:
            body = json_bytes(batch, is_compact=True)
        except (TypeError, ValueError) as problem:
            raise TrialsError(f"rows {first} to {last} cannot be sent: {problem}") from None
        response = await self._response(f"{self.url}/{path}", body)
        if response.status_code == 200:
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
                reply: dict[str, Any] = json.loads(response.content)
                columns = [reply["rewards"]] if path == "reward" else list(reply["scores"].values())
                signature = in_one_line(reply["signature"], 2000)
                if all(len(column) == len(batch["answers"]) for column in columns):
                    self._signature = self._signature or signature
                    if signature != self._signature:
                        raise ServingError(f"{self.url}: {_changed(self._signature, signature)}")
                    return reply
            raise ServingError(f"{self.url}: the reply is not from a reward server")
        if response.status_code in (400, 413):
            sentence = _sentence(response)
            if place := re.match(r"(\w+)\[(\d+)\]: ", sentence):  # of this request, whose rows begin at `first`
                row = int(place[2]) + (0 if isinstance(batch.get(place[1]), str) else first)
                raise TrialsError(sentence[place.end() :], column=place[1], row=row)
            raise TrialsError(f"{sentence}, in rows {first} to {last}")
        raise ServingError(f"{self.url}: {_sentence(response)}")

    async def _response(self, url: str, body: bytes) -> Any:
        """The response to a request, which is retried while the server is busy or cannot be reached."""
        wait, end = _FIRST_PAUSE_SECONDS, None
        while True:
            asked, problem = None, ""
            try:
                response = await self._post(url, body)
            except self._httpx.TransportError as error:
                problem = f"{self.url}: cannot be reached: {in_one_line(error, 200)}"
            else:
                if response.status_code not in _BUSY:
                    return response
                asked = response.headers.get("retry-after")
            end = time.monotonic() + self._retry_seconds if end is None else end
            left = end - time.monotonic()
            if left <= 0:
                if problem:
                    raise ServingError(f"{problem} (retried for {self._retry_seconds:g} s)")
                return response
            await self._pause(min(_seconds(asked, wait), left))
            wait = min(2 * wait, _LONGEST_PAUSE_SECONDS)


class RewardClient(_Requests):
    """Sends batches to a reward server. It is thread-safe, and can be pickled and sent to workers.

    Connections are kept open. A request is retried while the server is busy, restarts or cannot be reached. The pause
    before a retry is the pause that the server requests; otherwise it grows from 0.1 to 5 seconds.

    Args:
        url: The address of the server, such as `"http://127.0.0.1:8000"`; a password in it is the token.
        token: The token of the server, if it needs one.
        timeout: Timeout for a reply, in seconds.
        retry_seconds: Maximum time for retries after the first failure, in seconds; 0 disables retries.
        n_answers: The maximum number of answers in a request; a larger batch becomes several requests.

    Example:
        >>> client = RewardClient("http://127.0.0.1:8000")
        >>> client
        RewardClient('http://127.0.0.1:8000')
    """

    _client = "Client"

    def reward(self, questions: str | Sequence[str] | None, answers: Sequence[str], **known: Sequence[Any]) -> Floats:
        """The rewards of the answers, equal to those of `Reward` or `Scorer.reward` bit for bit.

        `questions` is one question for all answers, or a list with the question of each answer; None if the server has
        a metric of references. `known` are `prompts`, `references`, `finished`, `n_tokens` and `groups`; see `Reward`.
        A batch with groups is one request.

        Raises:
            TrialsError: The server cannot score the answers, or they are too many or too long.
            ServingError: The server cannot be reached, is too busy, refuses the token, or has other scores than before.
        """
        return _completed(self._rewards(questions, answers, known))

    def score(
        self, questions: str | Sequence[str] | None, answers: Sequence[str], **known: Sequence[Any]
    ) -> dict[str, NDArray[Any]]:
        """The columns of a `ScoreTable` by name, with NaN for missing sets. Raises the errors of `reward`.

        If the server has a shape or a metric of references, the columns are those of `Reward.details`.
        """
        return _completed(self._scores(questions, answers, known))

    def signature(self) -> str:
        """The signature of the scores; see `Scorer.signature`. Raises the errors of `reward`."""
        return _completed(self._current_signature())

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> RewardClient:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def _post(self, url: str, body: bytes) -> Any:
        return self._http.post(url, content=body)

    async def _pause(self, seconds: float) -> None:
        time.sleep(seconds)


class AsyncRewardClient(_Requests):
    """`RewardClient` for coroutines: the same arguments and methods, which must be awaited.

    Example:
        >>> AsyncRewardClient("http://127.0.0.1:8000")
        AsyncRewardClient('http://127.0.0.1:8000')
    """

    _client = "AsyncClient"
    _loop: asyncio.AbstractEventLoop | None = None  # in which the connections were opened

    async def reward(
        self, questions: str | Sequence[str] | None, answers: Sequence[str], **known: Sequence[Any]
    ) -> Floats:
        """See `RewardClient.reward`."""
        return await self._rewards(questions, answers, known)

    async def score(
        self, questions: str | Sequence[str] | None, answers: Sequence[str], **known: Sequence[Any]
    ) -> dict[str, NDArray[Any]]:
        """See `RewardClient.score`."""
        return await self._scores(questions, answers, known)

    async def signature(self) -> str:
        """See `RewardClient.signature`."""
        return await self._current_signature()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncRewardClient:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()

    async def _post(self, url: str, body: bytes) -> Any:
        loop = asyncio.get_running_loop()
        if self._loop not in (None, loop):
            self._http = self._httpx.AsyncClient(**self._settings)
        self._loop = loop
        return await self._http.post(url, content=body)

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def _completed(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as result:
        return cast(T, result.value)
    raise RuntimeError("the coroutine waits")


def _listed(name: str, values: Any) -> list[Any]:
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise TrialsError(f"{name}: expected a list with one value for each answer, not one {type(values).__name__}")
    listed: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)  # an array has its own numbers
    return listed


def _address(url: str) -> tuple[str, str | None]:
    """The address without its password, so that no message shows it, and the password."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise ServingError("url: expected an address such as http://127.0.0.1:8000")
    place = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{place}{parts.path}".rstrip("/"), unquote(parts.password) if parts.password else None


def _changed(former: str, present: str) -> str:
    """Names the parts of a signature that have changed since the first reply."""
    old, new = (dict(part.partition(":")[::2] for part in signature.split("|")) for signature in (former, present))
    parts = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    changes = ", ".join(f"{name} {old.get(name, 'none')} became {new.get(name, 'none')}" for name in parts)
    return (
        f"the server computes other scores than at the first reply: {changes}; restart it with its former suite and "
        "options, or continue with a new client"
    )


def _sentence(response: Any) -> str:
    """The message of a refusal, or its status if there is no message."""
    try:
        return in_one_line(json.loads(response.content)["error"], 500)
    except (ValueError, KeyError, TypeError):
        return f"status {response.status_code}"


def _seconds(retry_after: str | None, otherwise: float) -> float:
    """The pause in seconds that a server requests, up to a maximum."""
    is_number = retry_after is not None and retry_after.isdecimal() and len(retry_after) < 9
    return min(float(retry_after or 0), _LONGEST_ASKED_PAUSE_SECONDS) if is_number else otherwise
