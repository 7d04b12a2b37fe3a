"""`relations`: how high the parts of a score are, and how they and the length correlate, over runs and answers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from ...base.arrays import Floats
from ...base.errors import ExperimentError
from ...base.table import Table
from ...suite.rules import PARTS, SCORES
from ..chart_data import Density, Points, Scatter
from ..finding import Cell, Finding, Picture, correlation_table, finding_table, with_interval
from ..statistics.correlation import Correlation, check_columns, coefficient, correlate, is_constant
from .run_means import Cluster, Clusters, RunMeans, clusters_of
from .scored_runs import ScoredRuns

_CORRELATED = (*PARTS, "length")
_N_SAMPLE = 5_000
_LONGEST_SHOWN = 400.0

_Pair = tuple[str, str]
_Found = dict[_Pair, dict[str, Correlation]]


def relations(scored: RunMeans, *, cluster: Cluster = "model", seed: int = 0) -> Finding:
    """Correlates the scores with each other, with intervals: over the runs of models and, if there are any, answers."""
    runs = scored.of_models()
    over_runs, notes = _pairs(runs.means, "runs")
    if not over_runs:
        raise ExperimentError(f"nothing to correlate: {'; '.join(notes)}")
    clusters = clusters_of(runs.models, cluster)
    by_runs = {(a, b): correlate(runs.means[a], runs.means[b], clusters=clusters.numbers) for a, b in over_runs}
    notes += clusters.warnings("runs")
    rows = [(("runs", *pair, len(runs.names), clusters.n), by_name) for pair, by_name in by_runs.items()]
    panels = (runs.points(*pair, title=_title(pair, "r", by_name["Pearson"])) for pair, by_name in by_runs.items())
    pictures = [Picture("runs", "Every run: one score against the other", Scatter(tuple(panels)))]
    over_all = f"Pearson's correlations between the means of {clusters.counted('runs')}: {_listed(by_runs, 'Pearson')}."
    n_answers = ""
    if isinstance(scored, ScoredRuns):
        over_answers, more = _pairs(scored.answer_scores, "answers")
        notes += more
        n_answers, all_runs = f" of {len(scored.run_numbers):,} answers", clusters_of(scored.models, cluster)
        by_answers = _over_answers(scored, over_answers, all_runs, seed)
        counts = len(scored.run_numbers), all_runs.n
        rows += [(("answers", *pair, *counts), by_name) for pair, by_name in by_answers.items()]
        if by_answers:
            title = "Every answer: one score against the other"
            pictures.append(Picture("answers", title, _answers_chart(scored.answer_scores, by_answers)))
            over_all += f" Spearman's correlations over all answers: {_listed(by_answers, 'Spearman')}."
    heads = ("over", "of", "with", "values", "clusters")
    return Finding(
        "relations",
        _answer(runs, by_runs),
        f"{len(scored.names)} runs{n_answers}; 95 % intervals are in brackets. {over_all} {_order(runs)}",
        (
            correlation_table("correlations", "Correlations, with 95 % intervals", heads, rows),
            _parts_table(runs, scored.of_models(yardsticks=True)),
            runs.table("runs", "The runs", ((metric, runs.means[metric]) for metric in ("score", *_CORRELATED))),
        ),
        tuple(pictures),
        (*runs.problems, *notes),
        question="How high are fluency, truthfulness and helpfulness, and how do they and the length correlate?",
        runs=runs.names,
    )


def _parts_table(runs: RunMeans, yardsticks: RunMeans) -> Table:
    """The parts of a score over the runs of models, beside those of the yardsticks."""
    best = int(np.argmax(runs.means["score"]))
    rows: list[tuple[Cell, ...]] = []
    for part in SCORES:
        values = runs.means[part]
        quartiles = np.percentile(values, (25, 50, 75)).tolist()
        rows.append((part, float(values.mean()), *quartiles, float(values[best]), *yardsticks.means[part].tolist()))
    columns = ("part", "mean", "first quartile", "median", "third quartile", "best run", *yardsticks.models)
    title = f"The parts of a score over {len(runs.names)} runs, and those of the best run, {runs.names[best]}"
    return finding_table("parts", title, columns, rows)


def _order(runs: RunMeans) -> str:
    """How many runs have the usual order of the parts."""
    by_mean = sorted(PARTS, key=lambda part: -runs.means[part].mean())
    above = np.all([runs.means[a] > runs.means[b] for a, b in itertools.pairwise(by_mean)], axis=0)
    return f"{above.sum()} of {len(runs.names)} runs have {' > '.join(by_mean)}."


def _pairs(columns: Mapping[str, Floats], what: str) -> tuple[list[_Pair], list[str]]:
    """Pairs of the columns that vary, and sentences about the other columns."""
    varying, notes = [], []
    for name in _CORRELATED:
        try:
            check_columns({name: columns[name]}, what)
            varying.append(name)
        except ExperimentError as error:
            notes.append(str(error))
    return list(itertools.combinations(varying, 2)), notes


def _over_answers(scored: ScoredRuns, pairs: Sequence[_Pair], runs: Clusters, seed: int) -> _Found:
    """Correlations over all answers, with intervals from a sample. Clusters are those of the runs."""
    from scipy.stats import rankdata

    sample = np.random.default_rng(seed).permutation(len(scored.run_numbers))[:_N_SAMPLE]
    clusters = runs.numbers[scored.run_numbers[sample]]
    columns = {metric: scored.answer_scores[metric] for metric in dict.fromkeys(itertools.chain.from_iterable(pairs))}
    ranked = {metric: rankdata(column) for metric, column in columns.items()}
    moved = {}
    for a, b in pairs:
        # Spearman's coefficient is Pearson's coefficient of the ranks, which are computed once for all pairs.
        values = {
            "Pearson": coefficient("Pearson", columns[a], columns[b]),
            "Spearman": coefficient("Pearson", ranked[a], ranked[b]),
            "Kendall": coefficient("Kendall", columns[a], columns[b]),
        }
        x, y = columns[a][sample], columns[b][sample]
        around = {} if is_constant(x) or is_constant(y) else correlate(x, y, clusters=clusters)
        moved[a, b] = {name: _moved(value, around.get(name)) for name, value in values.items()}
    return moved


def _moved(value: float, around: Correlation | None) -> Correlation:
    """The interval of a sample, shifted to the value of the whole."""
    if around is None or around.low is None or around.high is None:
        return Correlation(value)
    low, high = value + around.low - around.value, value + around.high - around.value
    return Correlation(value, max(low, -1.0), min(high, 1.0))


def _answer(runs: RunMeans, by_runs: _Found) -> str:
    by_value = sorted(((by_name["Pearson"], pair) for pair, by_name in by_runs.items()), key=lambda end: end[0].value)
    lowest, highest = (f"{a} and {b}, {with_interval(r)}" for r, (a, b) in (by_value[0], by_value[-1]))
    over = f"Over the {len(runs.names)} runs, Pearson's correlation"
    if len(by_runs) == 1:
        return f"{over} is that of {highest}."
    return f"{over} is highest between {highest}, and lowest between {lowest}."


def _title(pair: _Pair, name: str, correlation: Correlation) -> str:
    return f"{pair[0].capitalize()} and {pair[1]}: {name} = {correlation.value:.2f}"


def _listed(by_pair: _Found, coefficient: str) -> str:
    return "; ".join(f"{a} and {b} {values[coefficient]}" for (a, b), values in by_pair.items())


def _answers_chart(answer_scores: Mapping[str, Floats], by_pair: _Found) -> Density:
    # A few very long answers are drawn at the border.
    shown = {**answer_scores, "length": np.minimum(answer_scores["length"], _LONGEST_SHOWN)}
    labels = {"length": f"length (longer ones at {_LONGEST_SHOWN:g})"}
    panels = (
        Points(
            shown[a], shown[b], labels.get(a, a), labels.get(b, b), _title((a, b), "Spearman's ρ", values["Spearman"])
        )
        for (a, b), values in by_pair.items()
    )
    return Density(tuple(panels), unit="answers")
