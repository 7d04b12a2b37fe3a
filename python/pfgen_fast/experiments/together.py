"""All experiments that need only runs, from a single pass over the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..errors import ExperimentError
from ..suite.suite import Suite
from .cut_references import CutReferences
from .external import OutsideScores, external
from .finding import Finding
from .relations import relations
from .scored_runs import AnswersOfRuns, OnProgress, ScoredRuns, score_runs
from .sensitivity import VariedConstants, sensitivity
from .sets import scores_by_set, sets
from .stability import stability


class Experiments:
    """Runs all experiments on the same runs, which are read and scored once."""

    def __init__(
        self,
        paths: Sequence[str | Path],
        outside: Sequence[OutsideScores] = (),
        *,
        suite: Suite | None = None,
        trials: int | None = None,
        seed: int = 0,
        threads: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.problems: list[str] = []
        self._outside, self._seed = outside, seed
        self._cut = CutReferences(trials=trials, seed=seed, threads=threads)
        self._varied = VariedConstants(trials=trials, seed=seed, threads=threads)
        self.scored: ScoredRuns = score_runs(
            paths, suite=suite, threads=threads, on_batch=self._hand_on, on_progress=on_progress
        )

    def _hand_on(self, suite: Suite, answers: AnswersOfRuns) -> None:
        self._cut(suite, answers)
        self._varied(suite, answers)

    def findings(self) -> Iterator[Finding]:
        """Yields each finding when it is ready; `problems` names experiments that fail on these runs."""
        scored, seed = self.scored, self._seed
        experiments: dict[str, Callable[[], Finding]] = {
            # The first two hold texts and scorers, which they release.
            "sensitivity": lambda: sensitivity(scored, self._varied),
            "stability": lambda: stability(scored, self._cut, seed=seed),
            "relations": lambda: relations(scored, seed=seed),
            "sets": lambda: sets(scores_by_set(scored)),
        }
        if self._outside:
            experiments["external"] = lambda: external(scored, self._outside)
        for name, find in experiments.items():
            try:
                finding = find()
            except ExperimentError as error:
                self.problems.append(f"{name}: {error}")
            else:
                yield finding
