"""`relations`: how fluency, truthfulness, helpfulness and length correlate, over runs and over answers."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from ..errors import ExperimentError
from ..scoring.metrics import PARTS
from ..statistics.correlation import COEFFICIENTS, Correlation, Floats, check_columns, correlate
from .charts import Density, Points, Scatter
from .finding import Cell, Finding, Picture, Table
from .scored_runs import ScoredRuns

_CORRELATED = (*PARTS, "length")
_N_SAMPLE = 5_000
_LONGEST_SHOWN = 400.0
_COLUMNS = ("over", "of", "with", "values", *(f"{name}{end}" for name in COEFFICIENTS for end in ("", " low", " high")))

_Pair = tuple[str, str]


def relations(scored: ScoredRuns, *, n_resamples: int = 1_000, seed: int = 0) -> Finding:
    """Correlates the scores with each other, with bootstrap intervals.

    Over answers, the bootstrap draws whole runs from a sample of 5,000 answers, because the answers of one run are not
    independent; the coefficients themselves are computed from all answers.

    Args:
        scored: The runs.
        n_resamples: Number of bootstrap resamples.
        seed: The seed of the bootstrap and of the sample.

    Raises:
        ExperimentError: Fewer than two scores vary over the runs.
    """
    over_runs, notes = _pairs({metric: scored.means[metric] for metric in _CORRELATED}, "runs")
    over_answers, more = _pairs({metric: scored.answer_scores[metric] for metric in _CORRELATED}, "answers")
    if not over_runs:
        raise ExperimentError(f"nothing to correlate: {'; '.join(notes)}")
    of_runs = {
        (a, b): correlate(scored.means[a], scored.means[b], n_resamples=n_resamples, seed=seed) for a, b in over_runs
    }
    of_answers = {pair: _over_answers(scored, pair, n_resamples, seed) for pair in over_answers}
    rows = [_row("runs", pair, len(scored.names), found) for pair, found in of_runs.items()]
    rows += [_row("answers", pair, len(scored.run_numbers), found) for pair, found in of_answers.items()]
    tables = (
        Table("correlations", "Correlations, with 95 % bootstrap intervals", _COLUMNS, tuple(rows)),
        _means_table(scored),
    )
    pictures = [Picture("runs", "Every run: one score against the other", _runs_chart(scored, of_runs))]
    if of_answers:
        title = "Every answer: the scales say how many a colour stands for"
        pictures.append(Picture("answers", title, _answers_chart(scored, of_answers)))
    words = _words(scored, of_runs, of_answers)
    notes = [*scored.problems, *notes, *more]
    return Finding(
        "relations",
        _answer(scored, of_runs),
        words,
        tables,
        tuple(pictures),
        tuple(notes),
        question="How do fluency, truthfulness, helpfulness and length correlate?",
        runs=scored.names,
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


def _over_answers(scored: ScoredRuns, pair: _Pair, n_resamples: int, seed: int) -> dict[str, Correlation]:
    x, y = (scored.answer_scores[metric] for metric in pair)
    values = correlate(x, y, n_resamples=0)
    sample = _sample(len(x), seed)
    if np.ptp(x[sample]) == 0 or np.ptp(y[sample]) == 0:
        return values
    around = correlate(x[sample], y[sample], n_resamples=n_resamples, seed=seed, clusters=scored.run_numbers[sample])
    return {name: _moved(value.value, around[name]) for name, value in values.items()}


def _sample(n: int, seed: int) -> NDArray[np.int_]:
    return np.random.default_rng(seed).permutation(n)[:_N_SAMPLE]


def _moved(value: float, around: Correlation) -> Correlation:
    """The interval of a sample, shifted to the value of the whole."""
    assert around.low is not None
    assert around.high is not None
    low, high = value + around.low - around.value, value + around.high - around.value
    return Correlation(value, max(low, -1.0), min(high, 1.0))


def _row(over: str, pair: _Pair, n: int, found: dict[str, Correlation]) -> tuple[Cell, ...]:
    figures = [(found[name].value, found[name].low, found[name].high) for name in COEFFICIENTS]
    return (over, *pair, n, *itertools.chain.from_iterable(figures))


def _means_table(scored: ScoredRuns) -> Table:
    order = np.argsort(-scored.means["score"], kind="stable")
    rows = tuple(
        (scored.names[run], *(float(scored.means[metric][run]) for metric in ("score", *_CORRELATED))) for run in order
    )
    return Table("runs", "The runs", ("run", "score", *_CORRELATED), rows)


def _answer(scored: ScoredRuns, of_runs: dict[_Pair, dict[str, Correlation]]) -> str:
    by_value = sorted(of_runs, key=lambda pair: of_runs[pair]["Pearson"].value)
    lowest, highest = (f"{a} and {b} ({of_runs[a, b]['Pearson'].value:.3f})" for a, b in (by_value[0], by_value[-1]))
    over = f"Over the {len(scored.names)} runs, Pearson's correlation"
    if len(of_runs) == 1:
        return f"{over} is that of {highest}."
    return f"{over} is highest between {highest} and lowest between {lowest}."


def _words(
    scored: ScoredRuns, of_runs: dict[_Pair, dict[str, Correlation]], of_answers: dict[_Pair, dict[str, Correlation]]
) -> str:
    def listed(found: dict[_Pair, dict[str, Correlation]], coefficient: str) -> str:
        return "; ".join(f"{a} and {b} {values[coefficient]}" for (a, b), values in found.items())

    n_answers = f"{len(scored.run_numbers):,}"
    words = f"{len(scored.names)} runs of {n_answers} answers were scored; 95 % bootstrap intervals are in brackets."
    words += f" Pearson's correlations between the means of the runs: {listed(of_runs, 'Pearson')}."
    if of_answers:
        words += f" Spearman's correlations over all answers: {listed(of_answers, 'Spearman')}."
    return words


def _runs_chart(scored: ScoredRuns, found: dict[_Pair, dict[str, Correlation]]) -> Scatter:
    return Scatter(
        tuple(
            Points(
                scored.means[a],
                scored.means[b],
                x_label=a,
                y_label=b,
                title=f"Pearson {values['Pearson'].value:.3f}",
                labels=scored.labels,
                runs=scored.names,
            )
            for (a, b), values in found.items()
        )
    )


def _answers_chart(scored: ScoredRuns, found: dict[_Pair, dict[str, Correlation]]) -> Density:
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
