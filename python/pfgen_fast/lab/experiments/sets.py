"""`sets`: does it matter which set of reference answers a run is scored with?"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...base.arrays import Floats
from ...base.errors import ExperimentError
from ...runs.result_tables import published_set_scores
from ...suite.suite import Suite
from ..chart_data import Matrix, Scatter
from ..finding import Finding, Picture, correlation_table, finding_table, with_interval
from ..statistics.correlation import Correlation, check_columns, coefficient, correlate
from .run_means import Cluster, RunMeans, clusters_of, read_leaderboard
from .scored_runs import RunFigures

_VERY_ALIKE = 0.999
_NEARLY_ALL = 1.98  # an interval that is wider than this says nothing
_WITH = "score with {} alone"


@dataclass(frozen=True, eq=False)
class ScoresBySet:
    """The scores of runs with each of some sets alone."""

    runs: RunMeans  # runs of models; the scores with a set alone are a further metric
    sets: tuple[str, ...]
    questions: str  # description of the questions that the scores are means over

    @property
    def scores(self) -> dict[str, Floats]:
        """By set, the score of each run with this set alone."""
        return {name: self.runs.means[_WITH.format(name)] for name in self.sets}

    def with_sets(self, names: Sequence[str]) -> Floats:
        """The scores with several sets together: a score is linear in its sets."""
        mean: Floats = np.mean([self.scores[name] for name in names], axis=0)
        return mean


def scores_by_set(figures: RunFigures, wanted: Sequence[str] | None = None) -> ScoresBySet:
    """Computes the scores of the runs with each set alone: means over the questions that have all of these sets."""
    sets = _chosen_sets(figures.suite, wanted)
    columns = np.array([n for n, question in enumerate(figures.suite) if set(sets) <= set(question.answers)], dtype=int)
    if not len(columns):
        raise ExperimentError(f"no question has all of the sets {', '.join(sets)}")
    helpfulness = figures.question_scores["helpfulness"][:, columns]
    scores = {}
    for name in sets:
        fluency, truthfulness = (figures.set_scores[part][name][:, columns] for part in ("fluency", "truthfulness"))
        scores[_WITH.format(name)] = ((fluency + truthfulness + helpfulness) / 3).mean(axis=1)
    runs = RunMeans(figures.names, figures.models, {**figures.means, **scores}, figures.problems)
    return ScoresBySet(runs.of_models(), sets, _described(len(columns), sets))


def published_by_set() -> ScoresBySet:
    """The scores of the published runs with each set alone, from the table in the package."""
    runs, figures = read_leaderboard().of_models(), published_set_scores()
    rows = [figures[name] for name in runs.names]
    sets = tuple(rows[0]["scores"])
    scores = {_WITH.format(name): np.array([row["scores"][name] for row in rows]) for name in sets}
    runs = RunMeans(runs.names, runs.models, {**runs.means, **scores}, runs.problems)
    return ScoresBySet(runs, sets, _described(rows[0]["questions"], sets))


def _described(n_questions: int, sets: Sequence[str]) -> str:
    return f"the {n_questions} questions that have the sets {', '.join(sets)}"


def _chosen_sets(suite: Suite, wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The wanted sets, or the combination of sets that most questions have."""
    if wanted is None:
        together = Counter(frozenset(question.answers) for question in suite if len(question.answers) > 1)
        if not together:
            raise ExperimentError("each question has only one reference set, so sets cannot be compared")
        most = max(together, key=lambda names: (together[names], len(names), sorted(names)))
        return tuple(sorted(most))
    for name in wanted:
        if name not in suite.set_names:
            raise ExperimentError(f"the suite has no set {name!r}; it has {', '.join(suite.set_names)}")
    if len(set(wanted)) < 2:
        raise ExperimentError(f"sets {', '.join(wanted)}: expected at least two to compare")
    return tuple(dict.fromkeys(wanted))


def sets(by_set: ScoresBySet, *, cluster: Cluster = "model") -> Finding:
    """Correlates the scores of the runs with one set alone, with each pair of sets, and with all sets."""
    runs, scores = by_set.runs, by_set.scores
    check_columns({f"the score with set {name}": column for name, column in scores.items()}, "runs")
    clusters = clusters_of(runs.models, cluster)
    pairs, blank = {}, []
    for a, b in itertools.combinations(scores, 2):
        pairs[a, b] = correlate(scores[a], scores[b], clusters=clusters.numbers)
        for name, r in pairs[a, b].items():
            if r.low is not None and r.high is not None and r.high - r.low > _NEARLY_ALL:
                pairs[a, b][name] = Correlation(r.value)
                blank.append(
                    f"no interval of {name} for {a} and {b}: it would be -1 to 1, because a single one of the "
                    f"{clusters.n} {clusters.what('runs')} decides the correlation; add runs"
                )
    rows = [((*pair, len(runs.names), clusters.n), by_name) for pair, by_name in pairs.items()]
    panels = (
        runs.points(
            *(_WITH.format(name) for name in pair),
            has_diagonal=True,
            title=f"{' and '.join(pair)}: r = {by_name['Pearson'].value:.5f}",
        )
        for pair, by_name in pairs.items()
    )
    names, matrix = _correlated(by_set)
    lowest = next(floor for floor in (0.9, 0.5, 0.0, -1.0) if floor <= matrix.min() or floor == -1.0)
    title = "Correlations between the scores with one set alone, with 95 % intervals"
    of_matrix = "Pearson's correlations between combinations of sets"
    of_panels = "The score of each run with one set alone against its score with another set"
    cells = ((name, *row) for name, row in zip(names, matrix.tolist(), strict=True))
    return Finding(
        "sets",
        _answer(len(runs.names), [by_name["Pearson"] for by_name in pairs.values()]),
        _words(by_set, pairs, clusters.counted("runs")),
        (
            correlation_table("pairs", title, ("set", "and", "runs", "clusters"), rows, 5),
            finding_table("matrix", of_matrix, ("sets", *names), cells, 5),
            runs.table("scores", "The score of each run with one set alone", scores.items()),
        ),
        (
            Picture("pairs", of_panels, Scatter(tuple(panels))),
            Picture("matrix", "Pearson's correlations between sets", Matrix(names, names, matrix, "Pearson", lowest)),
        ),
        (*runs.problems, *clusters.warnings("runs"), *blank),
        question="Does it matter which set of reference answers a run is scored with?",
        runs=runs.names,
    )


def _correlated(by_set: ScoresBySet) -> tuple[tuple[str, ...], Floats]:
    """Each set, each pair of sets and all sets by name, and the correlations between their scores."""
    sizes = sorted({1, 2, len(by_set.sets)})
    chosen = [names for n in sizes for names in itertools.combinations(by_set.sets, n)]
    columns = [by_set.with_sets(names) for names in chosen]
    matrix = np.array([[coefficient("Pearson", a, b) for b in columns] for a in columns])
    return tuple(map("+".join, chosen)), matrix


def _answer(n_runs: int, correlations: Sequence[Correlation]) -> str:
    n_alike = sum(correlation.value > _VERY_ALIKE for correlation in correlations)
    lowest = min(correlations, key=lambda correlation: correlation.value)
    return (
        f"With one reference set or another alone, Pearson's correlation of the scores of {n_runs} runs is at least "
        f"{with_interval(lowest, 5)}; {n_alike} of {len(correlations)} "
        f"{'pair is' if len(correlations) == 1 else 'pairs are'} above {_VERY_ALIKE}."
    )


def _words(by_set: ScoresBySet, pairs: dict[tuple[str, str], dict[str, Correlation]], over: str) -> str:
    listed = "; ".join(f"{a}-{b} {with_interval(by_name['Pearson'], 5)}" for (a, b), by_name in pairs.items())
    (a, b), lowest = min(pairs.items(), key=lambda pair: pair[1]["Kendall"].value)
    farthest = max(float(np.abs(by_set.scores[a] - by_set.scores[b]).max()) for a, b in pairs)
    return (
        f"Scores are means over {by_set.questions}. Pearson's correlations over {over}: {listed}. The rankings agree "
        f"least between {a} and {b} (Kendall {lowest['Kendall'].value:.4f}). A run's scores with two sets differ by "
        f"{farthest:.4f} at most."
    )
