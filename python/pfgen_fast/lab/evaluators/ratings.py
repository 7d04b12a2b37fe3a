"""The ratings of a judge: their scale, the rating in a reply, and scores as means of the valid ratings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.errors import JudgingError
from ..judging.judge_asking import Asking, Connect
from ..judging.judge_requests import Judge, JudgeRequest
from ..judging.reply_store import Replies
from .evaluator import Floats

_IN_BRACKETS = re.compile(r"\[\[\s*([-+]?\d[\d.,/]*)\s*\]\]")
_WHOLE = re.compile(r"(\d{1,3})(?:\.0+)?")
_AFTER_THE_END = " \t\r\n.。*_`"
"""Characters that may follow the rating at the end of a reply."""


@dataclass(frozen=True)
class Scale:
    """The possible ratings: whole numbers from `low` to `high`."""

    low: int = 1
    high: int = 10

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= 100:
            raise JudgingError(f"a scale of {self.low} to {self.high}: expected two numbers from 0 to 100, in order")

    def rating_in(self, reply: str, judged: str = "") -> int | None:
        """The last number of the form `[[n]]`; None if it is missing or not on the scale.

        If the judged text contains the same `[[n]]`, the number counts only at the end of the reply, because elsewhere
        it may be a quotation.
        """
        lines = [
            match[1]
            for match in _IN_BRACKETS.finditer(reply)
            if match[0] not in judged or not reply[match.end() :].strip(_AFTER_THE_END)
        ]
        whole = _WHOLE.fullmatch(lines[-1]) if lines else None
        return int(whole[1]) if whole and self.low <= int(whole[1]) <= self.high else None


def usual_temperature(n_ratings: int) -> float:
    """The default temperature: 0 for one rating, and 1 for several, because they would be equal at 0."""
    return 0.0 if n_ratings == 1 else 1.0


def check_n_ratings(n_ratings: int) -> None:
    """Raises JudgingError unless each text is rated at least once."""
    if n_ratings < 1:
        raise JudgingError(f"ratings: expected at least 1, not {n_ratings}")


class Ratings(Asking):
    """The ratings of some texts; see `AskedTexts`."""

    def __init__(
        self,
        judge: Judge,
        requests: Iterable[JudgeRequest],
        replies: Replies,
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
