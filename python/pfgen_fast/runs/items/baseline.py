"""Comparison of the first model with all others by paired approximate randomization, over the items that all have.

Scores of 0 and 1 have Tango's score test instead, as in all comparisons. Definition: docs/statistics.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from ...base.errors import TrialsError
from ...base.untrusted_text import counted
from ..statistics.paired_randomization import against_baseline, default_draws
from .item_comparison import WORDS, Comparison, clusters_of, compare_models
from .item_table import ItemScores


def compare_by_swapping(
    table: ItemScores, *, n_draws: int | None = None, seed: int = 0, of: Literal["runs", "models"] = "models"
) -> Comparison:
    """Compares all other models with the first in the first metric, over the same items and with the same draws."""
    words, metric = WORDS[of], table.metrics[0]
    is_common = ~np.isnan(table.values[metric]).any(axis=0)
    if not is_common.any():
        raise TrialsError(f"the {words.model}s have no {words.item} in common")
    common = table.only(metrics=[metric], items=is_common)
    comparison = compare_models(common, of=of)
    n_all, n_common = len(table.items), len(common.items)
    if n_common < n_all:
        missing = f"for which a {words.model} has no {words.score.split()[-1]}"
        comparison = replace(
            comparison, left_out=f"{n_all - n_common} of {counted(n_all, words.item)} left out, {missing}."
        )
    if metric in common.binary:
        return comparison
    n_draws = default_draws(len(table.models) - 1) if n_draws is None else n_draws
    first, *others = common.values[metric]
    verdicts = against_baseline(first, others, n_draws=n_draws, seed=seed, clusters=clusters_of(common))
    rows = (replace(row, **vars(verdict)) for row, verdict in zip(comparison.metrics, verdicts, strict=True))
    return replace(comparison, metrics=tuple(rows), n_draws=n_draws, seed=seed)
