"""The protocol `Evaluator` for everything that scores texts, such as n-gram scores or a judge.

A score depends only on the item, the text and the evaluator's signature. Other texts in a call do not affect it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...base.native import _core, worded

Floats = NDArray[np.float64]

Texts = _core.TextColumn | Sequence[str | None]
"""The texts that our evaluators take; a user's evaluator always gets a column."""

# Hiragana, katakana and kanji: the classes H, T and K of the rules of discernment.
_JAPANESE = re.compile(
    "[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    "\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0003ffff\u3005\u3006\u3007]"
)


@dataclass(frozen=True)
class Metric:
    """One score of an evaluator.

    Attributes:
        name: The metric's name, which is its key in the result of `score`.
        higher_is_better: Whether higher values are better.
        low: The lower bound; None without a bound.
        high: The upper bound; None without a bound.
        combined: Whether the metric is used when metrics are combined into one; False for a mean of other metrics.
    """

    name: str
    higher_is_better: bool = True
    low: float | None = None
    high: float | None = None
    combined: bool = True


@dataclass(frozen=True)
class Item:
    """A text with its context.

    Attributes:
        id: Unique within a collection.
        text: The text itself. An evaluator may be called with a variant of it.
        task: The kind of text: `answers`, `summarization` or any other name.
        language: `ja` or `en`; None if unknown.
        question: The question that the text answers, by ID or text.
        context: A text that an evaluator sees together with the text, such as the source of a summary.
        references: Good texts, with which the text can be compared.
    """

    id: str
    text: str
    task: str
    language: str | None = None
    question: str | None = None
    context: str | None = None
    references: tuple[str, ...] = ()


class Evaluator(Protocol):
    """Scores texts.

    Three further members are optional:

    * `is_deterministic`: Whether scoring a text again gives the same score; False by default.
    * `again()`: Returns an evaluator that scores all texts again, without stored scores and, if possible, with other
      seeds. Without this member, the evaluator itself is called again.
    * `notes_on(items)`: Returns notes for readers of the scores of these items, one sentence each.
    """

    @property
    def name(self) -> str:
        """The evaluator's name."""

    @property
    def signature(self) -> str:
        """Everything that affects scores besides item and text. Equal signatures mean equal scores."""

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics that `score` returns."""

    def score(self, items: Sequence[Item], texts: _core.TextColumn) -> Mapping[str, Floats]:
        """Scores a batch of texts.

        Args:
            items: One item for each text.
            texts: The texts to score, `texts[i]` instead of `items[i].text`. A null gets no score.

        Returns:
            For each metric, one float per text; NaN for a missing score.
        """


def language_of(text: str) -> str:
    """A guess of a text's language: `ja` if the text has a hiragana, katakana or kanji, otherwise `en`."""
    return "ja" if _JAPANESE.search(text) else "en"


def text_column(texts: Any) -> _core.TextColumn:
    """Creates a column of texts, possibly with nulls; takes the same types as the answers of `Scorer.score`."""
    with worded():
        return _core.TextColumn(texts, "texts", True)


def column_of(items: Sequence[Item], texts: Texts) -> _core.TextColumn:
    """The texts as a column; raises ValueError unless there is exactly one text for each item."""
    column = texts if isinstance(texts, _core.TextColumn) else text_column(texts)
    if len(items) != len(column):
        raise ValueError(f"{len(items)} items for {len(column)} texts; expected one text for each item")
    return column
