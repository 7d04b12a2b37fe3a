"""`parts`: which part of a score is hardest, how far do runs get in each part, and when are answers helpful?"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np

from ..errors import ExperimentError
from ..statistics.correlation import MIN_VALUES, Floats
from ..suite.rules import PARTS, SCORES
from .chart_data import Scatter
from .finding import Cell, Finding, Picture, Table
from .run_means import RunMeans

_RISES = (0.01, 0.05, 0.1, 0.25, 0.5)
_NAMED_RISE = 0.1
_BEFORE = ("fluency", "truthfulness", "score")
_QUANTILES = (0, 25, 50, 75, 100)


@dataclass(frozen=True)
class Rise:
    """The value of one metric from which on another metric is above a level."""

    value: float  # value that best separates the runs: half-way between two runs
    n_misplaced: int  # number of runs on the wrong side of the value
    n_above: int  # number of runs above the level


def rise(x: Floats, y: Floats, level: float) -> Rise | None:
    """Finds the value of `x` that best separates runs with `y` above a level from the others; None if no value does."""
    order = np.argsort(x, kind="stable")
    sorted_x, above = x[order], y[order] > level
    # Cut k has k runs below it. Misplaced are runs below it that are above the level, and the opposite.
    misplaced = np.r_[0, np.cumsum(above)] + np.r_[np.cumsum(~above[::-1])[::-1], 0]
    between = np.flatnonzero(sorted_x[1:] > sorted_x[:-1]) + 1
    if not len(between) or misplaced[between].min() >= min(misplaced[0], misplaced[-1]):
        return None
    cut = between[int(np.argmin(misplaced[between]))]
    value = float(sorted_x[cut - 1] + sorted_x[cut]) / 2
    return Rise(round(value, 6), int(misplaced[cut]), int(above.sum()))


_Rises = dict[tuple[float, str], Rise | None]


def parts(runs: RunMeans) -> Finding:
    """Compares fluency, truthfulness and helpfulness of the runs of models with one another and with yardsticks."""
    models, systems = runs.chosen(runs.rows_of_models()), runs.chosen(runs.rows_of_systems())
    if len(models.names) < MIN_VALUES:
        raise ExperimentError(f"{len(models.names)} runs of models: expected at least {MIN_VALUES}")
    rises = {
        (level, metric): rise(models.means[metric], models.means["helpfulness"], level)
        for level in _RISES
        for metric in _BEFORE
    }
    orders = Counter(map(_order, *(models.means[part].tolist() for part in PARTS)))
    order_rows = tuple((order, count, count / orders.total()) for order, count in orders.most_common())
    parts_chart = Scatter(tuple(models.points("score", part) for part in PARTS))
    rise_chart = Scatter(tuple(models.points(part, "helpfulness") for part in _BEFORE[:2]))
    return Finding(
        "parts",
        _answer(models, rises),
        _words(models, systems, orders, rises),
        (
            _difficulty_table(models),
            Table("orders", "The order of the parts in a run", ("order", "runs", "share"), order_rows),
            _ceiling_table(models, systems),
            _rise_table(rises),
            runs.table("runs", "The runs", ((metric, runs.means[metric]) for metric in SCORES), with_models=True),
        ),
        (
            Picture("parts", "Every run: each part against the score", parts_chart),
            Picture("rise", "Every run: helpfulness against the other parts", rise_chart),
        ),
        runs.problems,
        question="Which part of a score is hardest, and from where on are answers helpful?",
        runs=runs.names,
    )


def _order(*values: float) -> str:
    """The parts from the highest to the lowest value."""
    ranked = sorted(zip(values, PARTS, strict=True), key=lambda pair: -pair[0])
    words = ranked[0][1]
    for (above, _), (value, part) in itertools.pairwise(ranked):
        words += f" {'=' if value == above else '>'} {part}"
    return words


def _by_difficulty(models: RunMeans) -> list[tuple[str, float]]:
    """The parts with their means, from the easiest to the hardest."""
    return sorted(((part, float(models.means[part].mean())) for part in PARTS), key=lambda pair: -pair[1])


def _answer(models: RunMeans, rises: _Rises) -> str:
    *easier, (hardest, lowest) = _by_difficulty(models)
    others = " and ".join(f"{part} ({mean:.3f})" for part, mean in easier)
    words = (
        f"{hardest.capitalize()} is the hardest part: {lowest:.3f} on average over {len(models.names)} runs, below "
        f"{others}"
    )
    found = rises[_NAMED_RISE, "fluency"]
    return words + (f"; helpfulness rises above {_NAMED_RISE} from fluency {found.value:.2f} on." if found else ".")


def _words(models: RunMeans, systems: RunMeans, orders: Counter[str], rises: _Rises) -> str:
    def figures(runs: RunMeans, run: int) -> str:
        return ", ".join(f"{metric} {runs.means[metric][run]:.3f}" for metric in SCORES)

    (order, count), *_ = orders.most_common()
    best = int(np.argmax(models.means["score"]))
    sentences = [
        f"{count} of {len(models.names)} runs have {order}.",
        f"The best run, {models.names[best]}, reaches {figures(models, best)}.",
        *(f"{name} reaches {figures(systems, run)}." for run, name in enumerate(systems.models)),
    ]
    for metric in _BEFORE:
        if found := rises[_NAMED_RISE, metric]:
            sentences.append(
                f"Helpfulness is above {_NAMED_RISE} from {metric} {found.value:.3f} on ({found.n_misplaced} of "
                f"{len(models.names)} runs are on the wrong side)."
            )
    return " ".join(sentences)


def _difficulty_table(models: RunMeans) -> Table:
    columns = ("part", "mean", "lowest", "first quartile", "median", "third quartile", "highest")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (part, mean, *map(float, np.percentile(models.means[part], _QUANTILES)))
        for part, mean in _by_difficulty(models)
    )
    return Table("difficulty", "The parts from the easiest to the hardest, over the runs of models", columns, rows)


def _ceiling_table(models: RunMeans, systems: RunMeans) -> Table:
    of_systems = (column for name in systems.models for column in (name, f"best run / {name}"))
    columns = ("part", "best run", "it reaches", *of_systems)
    rows: list[tuple[Cell, ...]] = []
    for metric in SCORES:
        best = int(np.argmax(models.means[metric]))
        value = float(models.means[metric][best])
        ratios = ((of, value / of if of else None) for of in systems.means[metric].tolist())
        rows.append((metric, models.names[best], value, *itertools.chain.from_iterable(ratios)))
    title = "The ceiling: the best run of each part next to human and reference answers"
    return Table("ceiling", title, columns, tuple(rows))


def _rise_table(rises: _Rises) -> Table:
    of_metrics = (column for metric in _BEFORE for column in (f"from {metric}", "on the wrong side"))
    rows: list[tuple[Cell, ...]] = []
    for level in _RISES:
        found = [rises[level, metric] for metric in _BEFORE]
        n_above = next((each.n_above for each in found if each), None)
        if n_above is not None:
            figures = [(each.value, each.n_misplaced) if each else (None, None) for each in found]
            rows.append((f"{level:g}", n_above, *(cell for figure in figures for cell in figure)))
    columns = ("helpfulness above", "runs", *of_metrics)
    return Table("rise", "From where on helpfulness rises", columns, tuple(rows))
