"""`sets`: does it matter which set of reference answers a run is scored with?"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import ExperimentError
from ..statistics.correlation import Correlation, Floats, check_columns, coefficient, correlate, few_values
from ..suite.suite import Suite
from .chart_data import Matrix, Points, Scatter, correlation_floor
from .finding import CORRELATION_COLUMNS, Cell, Finding, Picture, Table, correlation_cells
from .leaderboard_table import LeaderboardTable
from .run_means import Cluster, Clusters, Pick, RunMeans, clusters_of
from .scored_runs import RunFigures

_VERY_ALIKE = 0.999
_BY_SET = ("fluency", "truthfulness")


@dataclass(frozen=True, eq=False)
class ScoresBySet:
    """The scores of runs with each of some sets alone."""

    runs: RunMeans  # runs; those of `system/...` are no models and left out
    scores: dict[str, Floats]  # by set, the score of each run with this set alone
    questions: str  # what questions the scores are means over, in words
    notes: tuple[str, ...] = ()  # what limits these scores, one sentence each

    def with_sets(self, names: Sequence[str]) -> Floats:
        """The scores with several sets; a score is linear in its sets."""
        mean: Floats = np.mean([self.scores[name] for name in names], axis=0)
        return mean

    def one_per_model(self, pick: Pick) -> ScoresBySet:
        """The scores of each model's best run, or the means of its runs."""
        # The scores go through the runs as further metrics, so that the same rows count.
        with_sets = replace(self.runs, means={**self.runs.means, **{f"set {n}": v for n, v in self.scores.items()}})
        runs = with_sets.one_per_model(pick)
        return replace(self, runs=runs, scores={name: runs.means[f"set {name}"] for name in self.scores})


def scores_by_set(figures: RunFigures, wanted: Sequence[str] | None = None) -> ScoresBySet:
    """The scores of the runs with each set alone, over the questions that have all of these sets.

    A score is the mean over these questions of (fluency + truthfulness + helpfulness) / 3.
    """
    sets = chosen_sets(figures.suite, wanted)
    have_all = [number for number, question in enumerate(figures.suite) if set(sets) <= set(question.answers)]
    if not have_all:
        raise ExperimentError(f"no question has all of the sets {', '.join(sets)}")
    columns = np.array(have_all)
    helpfulness = figures.question_scores["helpfulness"][:, columns]
    runs, chosen = _models(figures.run_means)
    scores = {}
    for name in sets:
        fluency, truthfulness = (figures.set_scores[metric][name][:, columns] for metric in _BY_SET)
        scores[name] = ((fluency + truthfulness + helpfulness) / 3).mean(axis=1)[chosen]
    return ScoresBySet(runs, scores, f"the {len(columns)} questions that have the sets {', '.join(sets)}")


def scores_in_table(table: LeaderboardTable, suite: Suite, wanted: Sequence[str] | None = None) -> ScoresBySet:
    """The same as far as a leaderboard tells: each set is scored over all the questions that have it.

    A column such as `fluency_P` is a mean over all questions, to which a question with n sets contributes an n-th of
    its fluency with the set, and one without the set nothing. The suite says how much that is in all.
    """
    sets = chosen_sets(suite, wanted)
    for name in sets:
        if name not in table.set_columns["fluency"]:
            raise ExperimentError(f"{table.path}: no column 'fluency_{name}', though the suite has this set")
    runs, chosen = _models(table.runs)
    scores = {}
    for name in sets:
        share = sum(1 / len(question.answers) for question in suite if name in question.answers) / len(suite)
        in_set = sum(table.set_columns[metric][name] for metric in _BY_SET) / share
        scores[name] = ((in_set + table.runs.means["helpfulness"]) / 3)[chosen]
    counts = ", ".join(f"{name} {sum(name in question.answers for question in suite)}" for name in sets)
    note = (
        "a leaderboard has no scores of single questions, so that each set is scored over other questions "
        f"({counts}): correlations are lower than over the questions that have all sets, which the runs give"
    )
    return ScoresBySet(runs, scores, f"all questions that have the set ({counts})", (note,))


def chosen_sets(suite: Suite, wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The given sets, or those that most questions have together."""
    if wanted is None:
        together = Counter(frozenset(question.answers) for question in suite if len(question.answers) > 1)
        if not together:
            raise ExperimentError("the questions have one reference set each, so that sets cannot be compared")
        most = max(together, key=lambda names: (together[names], len(names), sorted(names)))
        return tuple(sorted(most))
    for name in wanted:
        if name not in suite.set_names:
            raise ExperimentError(f"the suite has no set {name!r}; it has {', '.join(suite.set_names)}")
    if len(set(wanted)) < 2:
        raise ExperimentError(f"sets {', '.join(wanted)}: expected at least two to compare")
    return tuple(dict.fromkeys(wanted))


def _models(runs: RunMeans) -> tuple[RunMeans, list[int]]:
    rows = runs.rows_of_models()
    return runs.chosen(rows), rows


def sets(by_set: ScoresBySet, *, cluster: Cluster = "model") -> Finding:
    """Correlates the scores of the runs with one set alone, with each pair of sets and with all of them."""
    check_columns({f"the score with set {name}": column for name, column in by_set.scores.items()}, "runs")
    clusters = clusters_of(by_set.runs.models, cluster)
    pairs = {
        (a, b): correlate(by_set.scores[a], by_set.scores[b], clusters=clusters.of)
        for a, b in itertools.combinations(by_set.scores, 2)
    }
    combinations, chart = _combinations(by_set), _pairs_chart(by_set, pairs)
    return Finding(
        "sets",
        _answer(by_set, pairs),
        _words(by_set, pairs, clusters),
        (_pairs_table(pairs, clusters), _matrix_table(combinations), _scores_table(by_set)),
        (
            Picture("pairs", "Every run: its score with one set alone against that with another", chart),
            Picture("matrix", "Pearson's correlations between sets", _matrix_chart(combinations)),
        ),
        (*by_set.runs.problems, *by_set.notes, *few_values(clusters.n, clusters.what("runs"))),
        question="Does it matter which set of reference answers a run is scored with?",
        runs=by_set.runs.names,
    )


_Pairs = dict[tuple[str, str], dict[str, Correlation]]


def _combinations(by_set: ScoresBySet) -> dict[str, Floats]:
    """The scores with each set, each pair of sets and all sets."""
    names = tuple(by_set.scores)
    sizes = sorted({1, 2, len(names)})
    chosen = itertools.chain.from_iterable(itertools.combinations(names, n) for n in sizes)
    return {"+".join(each): by_set.with_sets(each) for each in chosen}


def _answer(by_set: ScoresBySet, pairs: _Pairs) -> str:
    values = sorted(found["Pearson"].value for found in pairs.values())
    n_alike = sum(value > _VERY_ALIKE for value in values)
    span = f"{values[0]:.5f}" if len(values) == 1 else f"{values[0]:.5f} to {values[-1]:.5f}"
    return (
        f"With one reference set or another alone, the scores of {len(by_set.runs.names)} runs correlate by {span} "
        f"(Pearson); {n_alike} of {len(values)} {'pair is' if len(values) == 1 else 'pairs are'} above {_VERY_ALIKE}."
    )


def _words(by_set: ScoresBySet, pairs: _Pairs, clusters: Clusters) -> str:
    listed = "; ".join(f"{a}-{b} {_with_interval(found['Pearson'])}" for (a, b), found in pairs.items())
    (a, b), lowest = min(pairs.items(), key=lambda pair: pair[1]["Kendall"].value)
    farthest = max(float(np.abs(by_set.scores[a] - by_set.scores[b]).max()) for a, b in pairs)
    return (
        f"Scores are means over {by_set.questions}. Pearson's correlations over {clusters.counted('runs')}, with 95 % "
        f"intervals in brackets: {listed}. The rankings agree least between "
        f"{a} and {b} (Kendall {lowest['Kendall'].value:.4f}). A run's scores with two sets differ by {farthest:.4f} "
        "at most."
    )


def _with_interval(found: Correlation) -> str:
    return f"{found.value:.5f}" + ("" if found.low is None else f" ({found.low:.5f} to {found.high:.5f})")


def _pairs_table(pairs: _Pairs, clusters: Clusters) -> Table:
    columns = ("set", "and", "runs", "clusters", *CORRELATION_COLUMNS)
    counts = len(clusters.of), clusters.n
    rows = tuple((*pair, *counts, *correlation_cells(found)) for pair, found in pairs.items())
    title = "Correlations between the scores with one set alone, with 95 % intervals"
    return Table("pairs", title, columns, rows, 5)


def _matrix_table(combinations: dict[str, Floats]) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(coefficient("Pearson", column, other) for other in combinations.values()))
        for name, column in combinations.items()
    )
    return Table("matrix", "Pearson's correlations between combinations of sets", ("sets", *combinations), rows, 5)


def _scores_table(by_set: ScoresBySet) -> Table:
    rows = by_set.runs.rows_by_score(list(by_set.scores.values()), with_models=True)
    return Table("scores", "The score of each run with one set alone", ("run", "model", *by_set.scores), rows)


def _pairs_chart(by_set: ScoresBySet, pairs: _Pairs) -> Scatter:
    return Scatter(
        tuple(
            Points(
                by_set.scores[a],
                by_set.scores[b],
                x_label=f"score with {a} alone",
                y_label=f"score with {b} alone",
                labels=by_set.runs.labels,
                runs=by_set.runs.names,
                has_diagonal=True,
                title=f"{len(by_set.runs.names)} runs, r = {found['Pearson'].value:.5f}",
            )
            for (a, b), found in pairs.items()
        )
    )


def _matrix_chart(combinations: dict[str, Floats]) -> Matrix:
    names = tuple(combinations)
    values = np.array([[coefficient("Pearson", a, b) for b in combinations.values()] for a in combinations.values()])
    return Matrix(names, names, values, "Pearson", correlation_floor(values))
