"""A log of Inspect, with the answers of a run as samples; see `pfgen_fast.integrations.inspect_ai`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .about import About
from .scored_run import ScoredRun


def write_log(runs: Sequence[ScoredRun], path: Path, about: About) -> None:
    """Writes the log of a run; the ending of the path selects the format."""
    from ..integrations.inspect_ai import write_scored  # imports Inspect

    (run,) = runs
    write_scored(
        path,
        run.trials,
        run.table,
        model=run.model,
        config=run.config,
        created=run.needed_date().isoformat(),
        are_epochs=True,
    )
