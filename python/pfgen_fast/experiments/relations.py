"""`relations`: how fluency, truthfulness, helpfulness and length correlate, over runs and over answers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ..errors import ExperimentError
from ..statistics.correlation import (
    Correlation,
    Floats,
    check_columns,
    coefficient,
    correlate,
    few_values,
    is_constant,
    scipy_stats,
)
from ..suite.rules import PARTS
from .chart_data import Density, Points, Scatter
from .finding import CORRELATION_COLUMNS, Finding, Picture, Table, correlation_cells
from .run_means import Cluster, Clusters, RunMeans, clusters_of
from .scored_runs import ScoredRuns

_CORRELATED = (*PARTS, "length")
_N_SAMPLE = 5_000
_LONGEST_SHOWN = 400.0
_COLUMNS = ("over", "of", "with", "values", "clusters", *CORRELATION_COLUMNS)

_Pair = tuple[str, str]
_Found = dict[_Pair, dict[str, Correlation]]


def relations(scored: ScoredRuns | RunMeans, *, cluster: Cluster = "model", seed: int = 0) -> Finding:
    """Correlates the scores with each other, with intervals, over the runs of models and over answers.

    Over answers, intervals come from a sample of 5,000 answers, whose clusters are those of their runs; the
    coefficients themselves are computed from all answers.
    """
    all_runs = scored if isinstance(scored, RunMeans) else scored.run_means
    runs = all_runs.chosen(all_runs.rows_of_models())
    over_runs, notes = _pairs({metric: runs.means[metric] for metric in _CORRELATED}, "runs")
    if not over_runs:
        raise ExperimentError(f"nothing to correlate: {'; '.join(notes)}")
    clusters = clusters_of(runs.models, cluster)
    of_runs = {(a, b): correlate(runs.means[a], runs.means[b], clusters=clusters.of) for a, b in over_runs}
    notes += few_values(clusters.n, clusters.what("runs"))
    counts = len(runs.names), clusters.n
    rows = [("runs", *pair, *counts, *correlation_cells(found)) for pair, found in of_runs.items()]
    pictures = [Picture("runs", "Every run: one score against the other", _runs_chart(runs, of_runs))]
    of_answers: _Found = {}
    if isinstance(scored, ScoredRuns):
        over_answers, more = _pairs({metric: scored.answer_scores[metric] for metric in _CORRELATED}, "answers")
        notes += more
        all_clusters = clusters_of(scored.models, cluster)
        of_answers = _over_answers(scored, over_answers, all_clusters, seed)
        counts = len(scored.run_numbers), all_clusters.n
        rows += [("answers", *pair, *counts, *correlation_cells(found)) for pair, found in of_answers.items()]
        if of_answers:
            title = "Every answer: the scales say how many a colour stands for"
            pictures.append(Picture("answers", title, _answers_chart(scored, of_answers)))
    means = runs.rows_by_score([runs.means[metric] for metric in ("score", *_CORRELATED)])
    return Finding(
        "relations",
        _answer(runs, of_runs),
        _words(scored, runs, clusters, of_runs, of_answers),
        (
            Table("correlations", "Correlations, with 95 % intervals", _COLUMNS, tuple(rows)),
            Table("runs", "The runs", ("run", "score", *_CORRELATED), means),
        ),
        tuple(pictures),
        (*runs.problems, *notes),
        question="How do fluency, truthfulness, helpfulness and length correlate?",
        runs=runs.names,
    )


def _pairs(columns: dict[str, Floats], what: str) -> tuple[list[_Pair], list[str]]:
    """Pairs of the columns that vary, and sentences about the others."""
    varying, notes = [], []
    for name, column in columns.items():
        try:
            check_columns({name: column}, what)
            varying.append(name)
        except ExperimentError as error:
            notes.append(str(error))
    return list(itertools.combinations(varying, 2)), notes


def _over_answers(scored: ScoredRuns, pairs: Sequence[_Pair], of_runs: Clusters, seed: int) -> _Found:
    sample = np.random.default_rng(seed).permutation(len(scored.run_numbers))[:_N_SAMPLE]
    clusters = of_runs.of[scored.run_numbers[sample]]
    columns = {metric: scored.answer_scores[metric] for metric in dict.fromkeys(itertools.chain.from_iterable(pairs))}
    ranked = {metric: scipy_stats().rankdata(column) for metric, column in columns.items()}
    found = {}
    for a, b in pairs:
        # Ranked once for all pairs: Spearman's coefficient is Pearson's of the ranks.
        values = {
            "Pearson": coefficient("Pearson", columns[a], columns[b]),
            "Spearman": coefficient("Pearson", ranked[a], ranked[b]),
            "Kendall": coefficient("Kendall", columns[a], columns[b]),
        }
        x, y = columns[a][sample], columns[b][sample]
        if is_constant(x) or is_constant(y):
            found[a, b] = {name: Correlation(value) for name, value in values.items()}
            continue
        around = correlate(x, y, clusters=clusters)
        found[a, b] = {name: _moved(value, around[name]) for name, value in values.items()}
    return found


def _moved(value: float, around: Correlation) -> Correlation:
    """The interval of a sample, shifted to the value of the whole."""
    if around.low is None or around.high is None:
        return Correlation(value)
    low, high = value + around.low - around.value, value + around.high - around.value
    return Correlation(value, max(low, -1.0), min(high, 1.0))


def _answer(runs: RunMeans, of_runs: _Found) -> str:
    by_value = sorted(of_runs, key=lambda pair: of_runs[pair]["Pearson"].value)
    lowest, highest = (f"{a} and {b} ({of_runs[a, b]['Pearson'].value:.3f})" for a, b in (by_value[0], by_value[-1]))
    over = f"Over the {len(runs.names)} runs, Pearson's correlation"
    if len(of_runs) == 1:
        return f"{over} is that of {highest}."
    return f"{over} is highest between {highest} and lowest between {lowest}."


def _words(
    scored: ScoredRuns | RunMeans, runs: RunMeans, clusters: Clusters, of_runs: _Found, of_answers: _Found
) -> str:
    def listed(found: _Found, coefficient: str) -> str:
        return "; ".join(f"{a} and {b} {values[coefficient]}" for (a, b), values in found.items())

    answers = f" of {len(scored.run_numbers):,} answers" if isinstance(scored, ScoredRuns) else ""
    words = (
        f"{len(scored.names)} runs{answers}; 95 % intervals are in brackets. Pearson's correlations between the means "
        f"of {clusters.counted('runs')}: {listed(of_runs, 'Pearson')}."
    )
    if of_answers:
        words += f" Spearman's correlations over all answers: {listed(of_answers, 'Spearman')}."
    return words


def _runs_chart(runs: RunMeans, found: _Found) -> Scatter:
    return Scatter(
        tuple(
            Points(
                runs.means[a],
                runs.means[b],
                x_label=a,
                y_label=b,
                title=f"Pearson {values['Pearson'].value:.3f}",
                labels=runs.labels,
                runs=runs.names,
            )
            for (a, b), values in found.items()
        )
    )


def _answers_chart(scored: ScoredRuns, found: _Found) -> Density:
    return Density(
        tuple(
            Points(
                _shown(a, scored.answer_scores[a]),
                _shown(b, scored.answer_scores[b]),
                x_label=_axis_label(a),
                y_label=_axis_label(b),
                title=f"Spearman {values['Spearman'].value:.3f}",
            )
            for (a, b), values in found.items()
        ),
        unit="answers",
    )


def _shown(metric: str, values: Floats) -> Floats:
    """The values, with the few very long answers moved to the border."""
    return np.minimum(values, _LONGEST_SHOWN) if metric == "length" else values


def _axis_label(metric: str) -> str:
    return f"length (longer ones at {_LONGEST_SHOWN:g})" if metric == "length" else metric
