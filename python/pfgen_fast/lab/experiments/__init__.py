"""Experiments, one in each module, which turn scored runs into a `Finding`.

A finding is data; `pfgen_fast.report.findings` draws and writes it. Definitions: docs/experiments.md.
"""

from .finding import Comparison, Finding, Pair, PairGroup, Picture, Piece
from .run_means import RunMeans
from .scored_runs import RunFigures, ScoredRuns, read_figures, score_runs

__all__ = [
    "Comparison",
    "Finding",
    "Pair",
    "PairGroup",
    "Picture",
    "Piece",
    "RunFigures",
    "RunMeans",
    "ScoredRuns",
    "read_figures",
    "score_runs",
]
