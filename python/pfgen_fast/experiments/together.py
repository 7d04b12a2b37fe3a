"""All experiments that need only runs, on runs that are read and scored once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..errors import ExperimentError
from .external import OutsideScores, external
from .finding import Finding
from .relations import relations
from .scored_runs import ScoredRuns
from .sets import scores_by_set, sets
from .stability import stability


def all_findings(
    scored: ScoredRuns,
    outside: Sequence[OutsideScores] = (),
    *,
    seed: int = 0,
    on_problem: Callable[[str], None],
) -> Iterator[Finding]:
    """Yields each finding when it is ready; `on_problem` is called for experiments that fail on these runs."""
    experiments: dict[str, Callable[[], Finding]] = {
        "stability": lambda: stability(scored, seed=seed),
        "relations": lambda: relations(scored, seed=seed),
        "sets": lambda: sets(scores_by_set(scored)),
    }
    if outside:
        experiments["external"] = lambda: external(scored, outside)
    for name, find in experiments.items():
        try:
            finding = find()
        except ExperimentError as error:
            on_problem(f"{name}: {error}")
        else:
            yield finding
