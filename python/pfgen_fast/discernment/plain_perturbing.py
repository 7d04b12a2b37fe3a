"""Stands in for the core's perturbing until that is merged: the oracle behind the same calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluators.evaluator import text_column
from ..native import _core
from .kinds import Impossible
from .oracle import perturbed
from .plan import Perturbation


@dataclass(frozen=True, eq=False)
class Perturbed:
    texts: _core.TextColumn
    impossible: NDArray[np.uint8]


class Donors:
    def __init__(self, texts: Any, groups: Sequence[int] | None = None) -> None:
        self.texts = text_column(texts).tolist()
        self.groups = groups

    def of(self, row: int) -> list[str]:
        if self.groups is None:
            return self.texts
        return [text for text, group in zip(self.texts, self.groups) if group != self.groups[row]]


def perturbed_columns(
    texts: Any,
    kind: str,
    degrees: Sequence[Perturbation],
    *,
    seed: int = 0,
    languages: Sequence[str],
    donors: Donors | None = None,
    alternatives: Sequence[str | None] | None = None,
    threads: int | None = None,
) -> list[Perturbed]:
    rows = []
    for row, text in enumerate(text_column(texts).tolist()):
        rows.append(
            perturbed(
                text,
                kind,
                degrees,
                seed=seed,
                language=languages[row],
                donors=() if donors is None else donors.of(row),
                alternative=None if alternatives is None else alternatives[row],
            )
        )
    found = []
    for each in zip(*rows):
        column = [None if isinstance(text, Impossible) else text for text in each]
        reasons = [int(text) if isinstance(text, Impossible) else 0 for text in each]
        found.append(Perturbed(text_column(column), np.array(reasons, np.uint8)))
    return found
