"""The client of the reward server, for training programs: one object, which is called like a scorer.

Needs httpx (`pip install 'pfgen-fast[serve]'`), no suite and no compiled index.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from ..errors import ServingError, TrialsError
from ..files.optional import optional
from ..files.untrusted_text import in_one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_BUSY = (429, 502, 503)
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS, _LONGEST_ASKED_PAUSE_SECONDS = 0.1, 5.0, 30.0


class RewardClient:
    """Asks a reward server; thread-safe, and small when pickled, so that it can be sent to workers.

    Connections are kept. A request is repeated while the server is busy, restarts or cannot be reached: after the pause
    that the server asks for, or else after pauses that grow from 0.1 to 5 seconds.

    Args:
        url: The address of the server, such as `"http://127.0.0.1:8000"`; a password in it is the token.
        token: Its token, if it has one.
        timeout: Seconds within which a reply must arrive.
        retry_seconds: How long a request is repeated after its first failure; 0 never repeats it.
        n_answers: The maximum number of answers in a request; a larger batch becomes several requests.

    Example:
        >>> client = RewardClient("http://127.0.0.1:8000")
        >>> client
        RewardClient('http://127.0.0.1:8000')
    """

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
        self._copy = partial(RewardClient, self.url, **settings)  # type: ignore[arg-type]
        self._retry_seconds, self._n_answers = retry_seconds, n_answers
        self._httpx = optional("httpx", extra="serve", needed_for="the client of a reward server")
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        # Proxies are for addresses elsewhere; a reward server is near.
        self._http = self._httpx.Client(timeout=timeout, headers=headers, trust_env=False)

    def reward(self, questions: str | Sequence[str], answers: Sequence[str]) -> Floats:
        """The averages of the answers, equal to `Scorer.reward` bit by bit; `questions` is one for all, or one each.

        Raises:
            TrialsError: The server cannot score them, or they are too many or too long for it.
            ServingError: The server cannot be reached, is too busy, or refuses the token.
        """
        import numpy as np

        parts = [np.array(reply["rewards"], dtype=np.float64) for reply in self._replies("reward", questions, answers)]
        return np.concatenate(parts)

    def score(self, questions: str | Sequence[str], answers: Sequence[str]) -> dict[str, NDArray[Any]]:
        """The columns of a `ScoreTable` by name; NaN where a question lacks the set. Raises the errors of `reward`."""
        import numpy as np

        tables = [reply["scores"] for reply in self._replies("score", questions, answers)]
        return {
            name: np.concatenate([np.array(table[name], dtype=kind) for table in tables])
            for name in tables[0]
            for kind in (str if name == "question_id" else float,)
        }

    def signature(self) -> str:
        """The signature of the scores; see `Scorer.signature`. Raises the errors of `reward`."""
        signature: str = self._reply("reward", {"questions": [], "answers": []}, 0)["signature"]
        return signature

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> RewardClient:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return self._copy, ()

    def __repr__(self) -> str:
        return f"RewardClient({self.url!r})"

    def _replies(self, path: str, questions: str | Sequence[str], answers: Sequence[str]) -> list[dict[str, Any]]:
        answers = list(answers)
        if not isinstance(questions, str):
            questions = list(questions)
            if len(questions) != len(answers):
                raise TrialsError(f"{len(questions)} questions and {len(answers)} answers; expected as many, or one")
        replies = []
        for first in range(0, max(len(answers), 1), self._n_answers):
            rows = slice(first, first + self._n_answers)
            asked = questions if isinstance(questions, str) else questions[rows]
            replies.append(self._reply(path, {"questions": asked, "answers": answers[rows]}, first))
        return replies

    def _reply(self, path: str, batch: dict[str, Any], first: int) -> dict[str, Any]:
        """The reply to a batch, whose first row is that of the caller's batch."""
        import orjson

        last = first + len(batch["answers"]) - 1
        try:
            body = orjson.dumps(batch)
        except orjson.JSONEncodeError as problem:
            raise TrialsError(f"rows {first} to {last} cannot be sent: {problem}") from None
        response = self._response(f"{self.url}/{path}", body)
        if response.status_code == 200:
            try:
                reply = orjson.loads(response.content)
                columns = [reply["rewards"]] if path == "reward" else list(reply["scores"].values())
                is_whole = all(len(column) == len(batch["answers"]) for column in columns) and "signature" in reply
            except (ValueError, KeyError, TypeError, AttributeError):
                is_whole = False
            if not is_whole:
                raise ServingError(f"{self.url}: the reply is not that of a reward server")
            whole: dict[str, Any] = reply
            return whole
        if response.status_code in (400, 413):
            raise TrialsError(f"{_sentence(response)}, in rows {first} to {last}")
        raise ServingError(f"{self.url}: {_sentence(response)}")

    def _response(self, url: str, body: bytes) -> Any:
        """The response to a request, which is repeated while the server is busy or cannot be reached."""
        wait, end = _FIRST_PAUSE_SECONDS, None
        while True:
            asked, problem = None, ""
            try:
                response = self._http.post(url, content=body)
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
                    raise ServingError(f"{problem} (repeated for {self._retry_seconds:g} s)")
                return response
            time.sleep(min(_seconds(asked, wait), left))
            wait = min(2 * wait, _LONGEST_PAUSE_SECONDS)


def _address(url: str) -> tuple[str, str | None]:
    """An address without the password in it, which no message shows, and the password."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise ServingError("the address of the server: expected one such as http://127.0.0.1:8000")
    place = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{place}{parts.path}".rstrip("/"), unquote(parts.password) if parts.password else None


def _sentence(response: Any) -> str:
    """The sentence of a refusal, or its status if the server sent no sentence."""
    import orjson

    try:
        return in_one_line(orjson.loads(response.content)["error"], 500)
    except (ValueError, KeyError, TypeError):
        return f"status {response.status_code}"


def _seconds(retry_after: str | None, otherwise: float) -> float:
    """The pause that a server asks for in seconds, within bounds."""
    is_number = retry_after is not None and retry_after.isdecimal() and len(retry_after) < 9
    return min(float(retry_after or 0), _LONGEST_ASKED_PAUSE_SECONDS) if is_number else otherwise
