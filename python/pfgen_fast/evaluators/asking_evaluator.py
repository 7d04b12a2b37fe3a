"""The base of evaluators whose scores come from the replies of a model.

`ask` gets and stores all replies that a test needs, so that `score` then sends no request.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import JudgingError
from ..generation.events import Events
from ..judging.asking import Progress
from ..judging.budget import Estimate, Prices, Spending
from ..judging.reply_store import Replies
from ..judging.tries import Connect
from ..native import _core
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

    def ask(
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

    def partial(self) -> Self:
        """The same evaluator, but replies may be missing."""
        return cast("Self", replace(cast("Any", self), is_partial=True))

    def offline(self) -> Self:
        """The same evaluator, but with stored replies only."""
        return cast("Self", replace(cast("Any", self), connect=None))

    def estimate(self, items: Sequence[Item], texts: _core.TextColumn, prices: Prices | None = None) -> Estimate:
        """Estimates the cost of the missing replies about all texts of a test, where equal requests count once."""
        return self._asked(items, texts).estimate(prices or self.spending.prices)

    def ask(
        self,
        items: Sequence[Item],
        texts: _core.TextColumn,
        *,
        on_progress: Progress | None = None,
        events: Events | None = None,
    ) -> str | None:
        """Asks for the missing replies about all texts of a test; returns why replies are still missing, or None."""
        return self._ask(self._asked(items, texts), on_progress=on_progress, events=events)

    def score(self, items: Sequence[Item], texts: Texts) -> Mapping[str, Floats]:
        """Asks for the missing replies, and returns the mean of each text's valid ratings for each metric."""
        asked = self._asked(items, texts)
        problem = self._ask(asked)
        if problem and self.spending.is_used_up:
            raise JudgingError(f"{problem}; repeat the call to continue")
        means = asked.means()
        return {metric.name: means[:, column].copy() for column, metric in enumerate(self.metrics)}

    def n_missing(self, items: Sequence[Item], texts: _core.TextColumn) -> int:
        """The number of missing replies about texts."""
        return self._asked(items, texts).n_missing

    def is_complete(self, items: Sequence[Item], texts: _core.TextColumn) -> NDArray[np.bool_]:
        """Whether all ratings of each text have a reply, valid or not."""
        return np.asarray(self._asked(items, texts).is_complete().all(axis=1))

    def _ask(
        self, asked: AskedTexts, *, on_progress: Progress | None = None, events: Events | None = None
    ) -> str | None:
        n_missing = asked.n_missing if self.connect is None and not self.is_partial else 0
        if n_missing:
            raise JudgingError(
                f"{self.replies.path}: {n_missing:,} of {len(asked):,} ratings are missing; name a server to ask, or "
                "pass --partial to use complete items only"
            )
        return asked.ask(self.connect, spending=self.spending, on_progress=on_progress, events=events)
