"""Experiments: what the numbers mean. One module each; every one turns scored runs into a `Finding`.

What the statistics are and how they are computed: docs/experiments.md.
"""

from .finding import Finding, Picture, Table, write_finding
from .scored_runs import ScoredRuns, score_runs

__all__ = ["Finding", "Picture", "ScoredRuns", "Table", "score_runs", "write_finding"]
