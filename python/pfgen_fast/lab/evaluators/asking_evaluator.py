"""The base of evaluators whose scores come from the replies of a model.

`asked` has the requests that a test needs. If it asks first, `score` then sends no request.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ...base.errors import JudgingError
from ...base.untrusted_text import in_one_line
from ...generation.events import Events
from ..judging.judge_asking import Connect, Estimate, Prices, Progress, Spending
from ..judging.reply_store import Replies
from .evaluator import Floats, Item, Metric, Texts

if TYPE_CHECKING:
    from typing_extensions import Self


class AskedTexts(Protocol):
    """The requests about some texts, and their replies so far."""

    def __len__(self) -> int:
        """The number of needed replies."""

    @property
    def n_missing(self) -> int:
        """The number of missing replies."""

    def estimate(self, prices: Prices | None = None) -> Estimate:
        """Estimates the cost of the missing replies."""

    def ask_with(
        self,
        connect: Connect | None,
        *,
        spending: Spending | None = None,
        on_progress: Progress | None = None,
        events: Events | None = None,
    ) -> str | None:
        """Asks for the missing replies, if there is a connection; returns why replies are still missing."""

    def means(self) -> Floats:
        """The mean of the valid ratings by text (rows) and metric (columns); NaN without a valid rating."""

    def unrated(self) -> list[str]:
        """The keys of the replies without a valid rating."""

    def is_complete(self) -> NDArray[np.bool_]:
        """Whether all replies have arrived, by text and metric, or by text in a single column."""


class AskingEvaluator(ABC):
    """An evaluator that asks a model. Subclasses are frozen dataclasses with the protocol `Evaluator`."""

    replies: Replies
    n_ratings: int  # how often each text is rated
    connect: Connect | None  # opens the engine, such as `Server(...).engine`; None for stored replies only
    spending: Spending  # prices and budget, to which the cost is added
    is_partial: bool  # whether replies may be missing if there is no connection; otherwise this is an error
    # whether each metric needs its own requests, so that fewer metrics cost less
    asks_by_metric: ClassVar[bool] = True

    @property
    @abstractmethod
    def metrics(self) -> Sequence[Metric]:
        """The metrics that `score` returns."""

    @abstractmethod
    def again(self) -> Self:
        """The same evaluator with other seeds, so that all replies are requested again, and stored in the same file."""

    @abstractmethod
    def _asked(self, items: Sequence[Item], texts: Texts) -> AskedTexts:
        """The requests about texts."""

    def offline(self) -> Self:
        """The same evaluator, but with stored replies only."""
        return cast("Self", replace(cast("Any", self), connect=None))

    def asked(self, items: Sequence[Item], texts: Texts) -> AskedTexts:
        """The requests about texts, where equal requests count once, and their replies so far."""
        return self._asked(items, texts)

    def score(self, items: Sequence[Item], texts: Texts) -> Mapping[str, Floats]:
        """Asks for the missing replies, and returns the mean of each text's valid ratings for each metric."""
        asked = self._asked(items, texts)
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

    def check_rated(self, asked: AskedTexts) -> None:
        """Raises JudgingError if there are replies, but none of them has a rating."""
        unrated = asked.unrated()
        if unrated and np.isnan(asked.means()).all():
            n_cut = sum(self.replies.details(key).is_cut for key in unrated)
            cut = f", {n_cut:,} ended at the limit of tokens (--max-tokens)" if n_cut else ""
            raise JudgingError(
                f"{self.replies.path}: {len(unrated):,} replies have no rating in the expected form{cut}; the first: "
                f"{in_one_line(repr(self.replies.get(unrated[0])), 100)}"
            )
