"""The names of the metrics and of their columns in a `ScoreTable`."""

from __future__ import annotations

PARTS = ("fluency", "truthfulness", "helpfulness")
"""The parts of a score."""

SCORES = ("score", *PARTS)
"""The score and its parts; the score is their average."""

METRICS = (*SCORES, "length")
"""All metrics that an answer, a question or a run has."""


def column_of(metric: str) -> str:
    """The column of a `ScoreTable` that holds one of `SCORES`."""
    return "average" if metric == "score" else metric
