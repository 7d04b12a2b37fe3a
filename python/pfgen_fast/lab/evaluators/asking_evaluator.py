"""The base of evaluators whose scores come from the replies of a model, and the ratings in these replies.

`asked` has the requests that a test needs. If it asks first, `score` then sends no request.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import JudgingError
from ...base.untrusted_text import in_one_line
from ..judging.judge_asking import Asking, Connect, CostEstimate, JudgePrices, Spending
from ..judging.judge_requests import Judge, JudgeRequest
from ..judging.reply_store import ReplyStore
from .evaluator import Item, Metric, Texts

if TYPE_CHECKING:
    from typing_extensions import Self


class AskedTexts(Protocol):
    """The requests about some texts, and their replies so far."""

    def __len__(self) -> int:
        """The number of needed replies."""

    @property
    def n_missing(self) -> int:
        """The number of missing replies."""

    def estimate(self, prices: JudgePrices | None = None) -> CostEstimate:
        """Estimates the cost of the missing replies."""

    def ask_with(self, connect: Connect | None, **options: Any) -> str | None:
        """Asks for the missing replies, if there is a connection, with the options of `Asking.ask`."""

    def means(self) -> Floats:
        """The mean of the valid ratings by text (rows) and metric (columns); NaN without a valid rating."""

    def unrated(self) -> list[str]:
        """The keys of the replies without a valid rating."""

    def is_complete(self) -> NDArray[np.bool_]:
        """Whether all replies have arrived, by text and metric, or by text in a single column."""


class AskingEvaluator(ABC):
    """An evaluator that asks a model. Subclasses are frozen dataclasses with the protocol `Evaluator`."""

    replies: ReplyStore
    n_ratings: int  # how often each text is rated
    connect: Connect | None  # opens the engine, such as `Server(...).engine`; None for stored replies only
    spending: Spending  # prices and budget, to which the cost is added
    is_partial: bool  # whether replies may be missing if there is no connection; otherwise this is an error
    form: str = "that the prompt asks for"  # form of a rating

    @property
    @abstractmethod
    def metrics(self) -> Sequence[Metric]:
        """The metrics that `score` returns."""

    @abstractmethod
    def again(self) -> Self:
        """The same evaluator with other seeds, so that all replies are requested again, and stored in the same file."""

    @abstractmethod
    def asked(self, items: Sequence[Item], texts: Texts) -> AskedTexts:
        """The requests about texts, where equal requests count once, and their replies so far."""

    def score(self, items: Sequence[Item], texts: Texts) -> Mapping[str, Floats]:
        """Asks for the missing replies, and returns the mean of each text's valid ratings for each metric."""
        asked = self.asked(items, texts)
        n_missing = asked.n_missing if self.connect is None and not self.is_partial else 0
        if n_missing:
            raise JudgingError(
                f"{self.replies.path}: {n_missing:,} of {len(asked):,} ratings are missing; name a server to ask, or "
                "pass --partial to use complete items only"
            )
        problem = asked.ask_with(self.connect, spending=self.spending)
        if problem and self.spending.is_used_up:
            raise JudgingError(f"{problem}; repeat the call to continue")
        means = asked.means()
        return {metric.name: means[:, column].copy() for column, metric in enumerate(self.metrics)}

    def unread(self, asked: AskedTexts) -> str:
        """A note on the replies without a rating: how many, the expected form, the first; empty if all have one."""
        unrated = asked.unrated()
        if not unrated:
            return ""
        n_cut = sum(self.replies.details(key).is_cut for key in unrated)
        cut = f"; {n_cut:,} of them ended at the limit of tokens: raise --max-tokens" if n_cut else ""
        first = in_one_line(repr(self.replies.get(unrated[0])), 100)
        return (
            f"{len(unrated):,} replies have no rating of the form {self.form} and are left out{cut}; the first: {first}"
        )

    def check_rated(self, asked: AskedTexts) -> str:
        """The note on unread replies; raises JudgingError if none of the replies has a rating."""
        problem = self.unread(asked)
        if problem and np.isnan(asked.means()).all():
            raise JudgingError(f"{self.replies.path}: {problem}")
        return problem


_IN_BRACKETS = re.compile(r"\[\[\s*([-+]?\d[\d.,/]*)\s*\]\]")
_WHOLE = re.compile(r"(\d{1,3})(?:\.0+)?")
_BARE = re.compile(r"(?:[^\d\n]*(?:[:：]|-\s))?[\s*_]*(\d{1,3})(?:\.0+)?(?: ?/ ?(\d+))?[ .。*_]*(?:\n.*)?", re.DOTALL)
"""A reply whose first line is only a number, or its name and the number: `4`, `Coherence: 4/5`."""
_AFTER_THE_END = " \t\r\n.。*_`"
"""Characters that may follow the rating at the end of a reply."""


@dataclass(frozen=True)
class Scale:
    """The possible ratings: whole numbers from `low` to `high`."""

    low: int = 1
    high: int = 10
    # whether a reply may be only a number, because the prompt does not ask for brackets, which its own hash covers
    is_bare: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= 100:
            raise JudgingError(f"a scale of {self.low} to {self.high}: expected two numbers from 0 to 100, in order")

    @property
    def form(self) -> str:
        """The expected form of a rating."""
        bare = f" (or only a number from {self.low} to {self.high})" if self.is_bare else ""
        return f"[[{self.low}]] to [[{self.high}]]{bare}"

    def rating_in(self, reply: str, judged: str = "") -> int | None:
        """The last number of the form `[[n]]`, or else a bare number; None if it is missing or not on the scale.

        If the judged text contains the same `[[n]]`, the number counts only at the end of the reply, because elsewhere
        it may be a quotation.
        """
        lines = [
            match[1]
            for match in _IN_BRACKETS.finditer(reply)
            if match[0] not in judged or not reply[match.end() :].strip(_AFTER_THE_END)
        ]
        whole = _WHOLE.fullmatch(lines[-1]) if lines else None
        if self.is_bare and not _IN_BRACKETS.search(reply):
            whole = _BARE.fullmatch(reply.strip())
            whole = whole if whole and whole[2] in (None, str(self.high)) else None
        return int(whole[1]) if whole and self.low <= int(whole[1]) <= self.high else None


def usual_temperature(n_ratings: int) -> float:
    """The default temperature: 0 for one rating, and 1 for several, because they would be equal at 0."""
    return 0.0 if n_ratings == 1 else 1.0


class Ratings(Asking):
    """The ratings of some texts; see `AskedTexts`."""

    def __init__(
        self,
        judge: Judge,
        requests: Iterable[JudgeRequest],
        replies: ReplyStore,
        texts: Sequence[str | None],
        is_rated: Any,
        n_ratings: int,
        scale: Scale,
    ) -> None:
        super().__init__(requests, replies)
        self._judge, self._texts = judge, texts
        self._is_rated: NDArray[np.bool_] = np.asarray(is_rated, dtype=bool)  # a row for each text
        self._n_ratings, self._scale = n_ratings, scale

    def ask_with(self, connect: Connect | None, **options: Any) -> str | None:
        """See `AskedTexts`."""
        return None if connect is None or not self.n_missing else self.ask(connect(self._judge), **options)

    def values(self) -> Floats:
        """The ratings of each place in a row; NaN for a missing or invalid rating."""
        return self._at_places(np.array(self._found(), dtype=np.float64), np.nan)

    def means(self) -> Floats:
        """The mean of each place's valid ratings; NaN without a valid rating."""
        ratings = self.values()
        is_valid = ~np.isnan(ratings)
        n_valid = is_valid.sum(axis=-1)
        sums = np.where(is_valid, ratings, 0.0).sum(axis=-1)
        means: Floats = np.divide(sums, n_valid, out=np.full(n_valid.shape, np.nan), where=n_valid > 0)
        return means

    def is_complete(self) -> NDArray[np.bool_]:
        """Whether each place has all needed replies, valid or not."""
        has_reply = np.array([reply is not None for reply in self.replies()], dtype=np.float64)
        return np.asarray(self._at_places(has_reply, 1.0).all(axis=-1))

    def unrated(self) -> list[str]:
        """The keys of the replies without a valid rating."""
        replies = zip(self._keys, self.replies(), self._found(), strict=True)
        return [key for key, reply, rating in replies if reply is not None and rating is None]

    def _found(self) -> list[int | None]:
        """The rating in each reply; None for a missing or invalid rating."""
        rows = np.repeat(np.nonzero(self._is_rated)[0], self._n_ratings).tolist()
        return [
            None if reply is None else self._scale.rating_in(reply, self._texts[row] or "")
            for reply, row in zip(self.replies(), rows, strict=True)
        ]

    def _at_places(self, requested: Floats, elsewhere: float) -> Floats:
        values = np.full((*self._is_rated.shape, self._n_ratings), elsewhere)
        values[self._is_rated] = requested.reshape(-1, self._n_ratings)
        return values
