"""Evaluators whose scores follow from the replies of a model, so that all are asked alike.

All replies of a test are asked for at once, and stored; then `score` sends nothing more.
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
    """What a model is asked about some texts, and what it replied so far."""

    def __len__(self) -> int:
        """The number of replies needed."""

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
        """Asks for the missing replies, if there is a connection; returns why some are still missing."""

    def means(self) -> Floats:
        """By text (rows) and metric (columns), the mean of the valid ratings; NaN if there are none."""

    def is_complete(self) -> NDArray[np.bool_]:
        """By text and metric, or by text in a single column, whether all replies are there."""


class AskingEvaluator(ABC):
    """An evaluator that asks a model; a frozen dataclass with the protocol `Evaluator`."""

    replies: Replies
    n_ratings: int  # how often each text is rated
    # opens the engine that asks the model, such as `Server(...).engine`; None uses the stored replies only
    connect: Connect | None
    spending: Spending  # prices and budget; whatever is asked is added to it
    is_partial: bool  # Whether, without a connection, texts may lack replies; otherwise that is an error
    # whether each metric takes a request of its own, so that fewer metrics cost less
    asks_by_metric: ClassVar[bool] = True

    @property
    @abstractmethod
    def metrics(self) -> Sequence[Metric]:
        """The metrics that `score` returns."""

    @abstractmethod
    def again(self) -> Self:
        """The same evaluator with other seeds: everything is asked for anew, and stored in the same file."""

    @abstractmethod
    def _asked(self, items: Sequence[Item], texts: Texts) -> AskedTexts:
        """What the model is asked about texts."""

    def partial(self) -> Self:
        """The same evaluator, where texts may lack replies."""
        return cast("Self", replace(cast("Any", self), is_partial=True))

    def offline(self) -> Self:
        """The same evaluator, which uses stored replies only."""
        return cast("Self", replace(cast("Any", self), connect=None))

    def estimate(self, items: Sequence[Item], texts: _core.TextColumn, prices: Prices | None = None) -> Estimate:
        """Estimates the cost of the missing replies, by default at the prices of `spending`.

        Equal requests count once, so all texts of a test are to be given together.
        """
        return self._asked(items, texts).estimate(prices or self.spending.prices)

    def ask(
        self,
        items: Sequence[Item],
        texts: _core.TextColumn,
        *,
        on_progress: Progress | None = None,
        events: Events | None = None,
    ) -> str | None:
        """Asks for the missing replies about texts and stores each as it arrives.

        Give all texts of a test together: then `score` only sends requests that had no reply. Returns a sentence on why
        replies are still missing; None if all are there, or if they may be missing.
        """
        return self._ask(self._asked(items, texts), on_progress=on_progress, events=events)

    def score(self, items: Sequence[Item], texts: Texts) -> Mapping[str, Floats]:
        """Asks for the missing replies, and returns the mean of the valid ratings of each text by each metric."""
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
        """By text, whether all its ratings have replies, valid or not."""
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
