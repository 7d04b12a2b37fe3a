"""Evaluators whose scores follow from the replies of a model: what they offer, so that all are asked alike.

All replies of a test are asked for at once, and kept; then `score` sends nothing more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..generation.events import Events
from ..judging.asking import Progress
from ..judging.budget import Estimate, Prices
from ..judging.reply_store import Replies
from ..native import _core
from .evaluator import Item, Metric

if TYPE_CHECKING:
    from typing_extensions import Self


class AskingEvaluator(ABC):
    """An evaluator that asks a model; it has the protocol `Evaluator` besides.

    Attributes:
        replies: The stored replies.
        n_ratings: How often each text is rated.
        asks_by_metric: Whether each metric takes a request of its own, so that fewer metrics cost less.
    """

    replies: Replies
    n_ratings: int
    asks_by_metric: ClassVar[bool] = True

    @property
    @abstractmethod
    def metrics(self) -> Sequence[Metric]:
        """The metrics that `score` returns."""

    @abstractmethod
    def again(self) -> Self:
        """The same with other seeds, so that everything is asked for anew, and kept in the same file."""

    @abstractmethod
    def partial(self) -> Self:
        """The same, where texts may lack replies."""

    @abstractmethod
    def offline(self) -> Self:
        """The same, where nothing is asked."""

    @abstractmethod
    def estimate(self, items: Sequence[Item], texts: _core.TextColumn, prices: Prices | None = None) -> Estimate:
        """Estimates the cost of the missing replies about all texts of a test."""

    @abstractmethod
    def ask(
        self,
        items: Sequence[Item],
        texts: _core.TextColumn,
        *,
        on_progress: Progress | None = None,
        events: Events | None = None,
    ) -> str | None:
        """Asks for the missing replies about texts and stores each as it arrives."""

    @abstractmethod
    def n_missing(self, items: Sequence[Item], texts: _core.TextColumn) -> int:
        """The number of missing replies about texts."""

    @abstractmethod
    def is_complete(self, items: Sequence[Item], texts: _core.TextColumn) -> NDArray[np.bool_]:
        """By text, whether all its replies are there."""
