"""Fleiss' kappa: how far raters agree on categories, beyond what chance gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def fleiss_kappa(counts: Any) -> float:
    """Fleiss' kappa of raters who put each subject into one category."""
    votes = np.asarray(counts, dtype=np.float64)
    if votes.ndim != 2 or not votes.size:
        return math.nan
    n_raters = votes.sum(axis=1)
    n = float(n_raters[0])
    if n < 2 or (n_raters != n).any():
        return math.nan
    observed = float(((votes * (votes - 1)).sum(axis=1) / (n * (n - 1))).mean())
    shares = votes.sum(axis=0) / votes.sum()
    expected = float((shares * shares).sum())
    return (observed - expected) / (1 - expected) if expected < 1 else math.nan
