"""The parts of a shape that compare the answers to one prompt, of which the trainer passes the groups."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..base.arrays import Floats
from .parts import Factor, Part
from .score_sources import CHARACTERS_OF_END, Batch, batch_of_texts


@dataclass(frozen=True)
class GroupRelative(Part):
    """Replaces a reward by its place within its group: the rewards of the answers to one prompt. Needs `groups`.

    Args:
        how: `"z_score"`: the difference from the mean reward of the group, in standard deviations of the group (with
            n - 1); 0 if all rewards of the group are equal. `"rank"`: the share of the other answers of the group that
            have a lower reward, from 0 to 1; an equal reward counts as half.

    Raises:
        RewardError: `how` is invalid.

    Example:
        >>> GroupRelative()([0.25, 0.5, 0.75, 0.5, 0.5], ["a", "a", "a", "b", "b"]).tolist()
        [-1.0, 0.0, 1.0, 0.0, 0.0]
        >>> GroupRelative("rank")([0.25, 0.5, 0.5], [7, 7, 7]).tolist()
        [0.0, 0.75, 0.75]
    """

    name = "group_relative"
    how: Literal["z_score", "rank"] = "z_score"

    def __call__(self, rewards: Any, groups: Any) -> Floats:
        """The places of these rewards, with the group of each one."""
        rewards = np.asarray(rewards, dtype=np.float64)
        _, places = self._shaped(rewards, batch_of_texts([""] * len(rewards), groups=groups))
        return places

    def _shaped(self, rewards: Floats, batch: Batch) -> tuple[Floats, Floats]:
        places = rewards.copy()
        for rows in batch.rows_of_groups(self.name):
            rows = rows[~np.isnan(rewards[rows])]  # a missing answer is compared with no other answer
            group = rewards[rows]
            if self.how == "rank":
                ordered = np.sort(group)
                n_below = np.searchsorted(ordered, group, "left") + np.searchsorted(ordered, group, "right") - 1
                places[rows] = n_below / 2 / max(len(group) - 1, 1)
            else:
                is_flat = len(group) == 0 or group.min() == group.max()
                places[rows] = 0.0 if is_flat else (group - group.mean()) / group.std(ddof=1)
        return places, places


@dataclass(frozen=True)
class Diversity(Factor):
    """A factor for new answers: 1 from a share `soft` of new n-grams on, then linearly down to 0 at `hard`.

    The share is that of the different n-grams of the code points of an answer that no other answer of its group has; 0
    for an answer without n-grams. Needs `groups`. Of an answer of more than 20,000 characters, only the first and the
    last 10,000 are read, joined.

    Args:
        n: The length of the n-grams.
        soft: The share from which on an answer keeps its reward. By default, the factor is the share.
        hard: The share up to which an answer gets no reward; below `soft`.

    Raises:
        RewardError: A number is invalid.

    Example:
        >>> Diversity(2)(["abcd", "abxy", "same", "same"], [1, 1, 2, 2]).round(2).tolist()
        [0.67, 0.67, 0.0, 0.0]
    """

    name = "diversity"
    bounds = (0.0, 1.0)
    rising = ("hard", "soft")
    n: int
    soft: float = 1.0
    hard: float = 0.0

    def __call__(self, answers: Any, groups: Any) -> Floats:
        """The factors for these texts, with the group of each one."""
        return self._factors(batch_of_texts(answers, groups=groups))

    def _factors(self, batch: Batch) -> Floats:
        texts, shares = batch.answers.tolist(), np.full(len(batch.answers), np.nan)
        for rows in batch.rows_of_groups(self.name):
            ngrams = {row: self._ngrams(texts[row]) for row in rows if texts[row] is not None}
            n_answers = Counter(ngram for of_answer in ngrams.values() for ngram in of_answer)
            for row, of_answer in ngrams.items():
                shares[row] = sum(n_answers[ngram] == 1 for ngram in of_answer) / max(len(of_answer), 1)
        return np.minimum(np.maximum((shares - self.hard) / (self.soft - self.hard), 0.0), 1.0)

    def _ngrams(self, text: str) -> set[str]:
        if len(text) > 2 * CHARACTERS_OF_END:
            text = text[:CHARACTERS_OF_END] + text[-CHARACTERS_OF_END:]
        return {text[i : i + self.n] for i in range(len(text) - self.n + 1)}
