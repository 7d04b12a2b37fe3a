"""`external`: do the scores agree with other scores: of a judge, of humans, of another leaderboard?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import ExperimentError
from ..files.untrusted_text import from_csv_value, in_one_line
from ..statistics.correlation import COEFFICIENTS, MIN_VALUES, Correlation, Floats, check_columns, correlate, few_values
from ..suite.rules import SCORES
from .chart_data import Points, Scatter
from .finding import CORRELATION_COLUMNS, Cell, Finding, Picture, Table, correlation_cells
from .leaderboard_table import header_of, number_in, read_rows
from .run_means import Cluster, Clusters, Pick, RunMeans, clusters_of

_N_NAMED = 5


@dataclass(frozen=True)
class OutsideScores:
    """Scores of models from another source."""

    path: Path
    columns: Mapping[str, Mapping[str, float]]  # for each column, the scores of the models that have one
    names: tuple[str, ...]  # all models, in the order of the file


def read_scores(path: Path) -> OutsideScores:
    """Reads a CSV file with a header, model names in the first column, and scores in the others; empty is unknown."""
    rows = read_rows(path)
    if not rows or len(rows[0][1]) < 2:
        raise ExperimentError(f"{path}: expected a header: the column of names, and at least one of scores")
    header = header_of(path, rows)
    columns: dict[str, dict[str, float]] = {name: {} for name in header[1:]}
    names: dict[str, None] = {}
    for number, row in rows[1:]:
        where = f"{path}, line {number}"
        name = from_csv_value(row[0].strip())
        if not name or name in names:
            raise ExperimentError(f"{where}: {'a model without a name' if not name else f'{name!r} is repeated'}")
        names[name] = None
        for column, cell in zip(header[1:], row[1:], strict=True):
            if cell.strip():
                columns[column][name] = number_in(cell, f"{where}, column {column!r}")
    if not names:
        raise ExperimentError(f"{path}: holds no scores")
    return OutsideScores(path, columns, tuple(names))


# --- names

_SEPARATORS = re.compile(r"[\s_.:@-]+")


def _plain_name(name: str) -> str:
    """A name in lower case, with all separators replaced by the same one."""
    return _SEPARATORS.sub("-", unicodedata.normalize("NFKC", name).casefold()).strip("-")


RULES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("the same", lambda name: name),
    ("but for case and separators", _plain_name),
    ("but for what comes before the last slash", lambda name: _plain_name(name.rstrip("/").rsplit("/", 1)[-1])),
)
"""The rules for matching names, in order; the first rule under which a pair is unambiguous applies."""


def match_names(ours: Sequence[str], theirs: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Matches our names with theirs and returns the partner and the rule; ambiguous names remain without a partner."""
    found: dict[str, tuple[str, str]] = {}
    for rule, form in RULES:
        left = [name for name in ours if name not in found]
        taken = {partner for partner, _ in found.values()}
        by_form = _unambiguous([name for name in theirs if name not in taken], form)
        for name, formed in ((name, form(name)) for name in _unambiguous(left, form).values()):
            if formed in by_form:
                found[name] = (by_form[formed], rule)
    return found


def _unambiguous(names: Sequence[str], form: Callable[[str], str]) -> dict[str, str]:
    formed = [form(name) for name in names]
    return {key: name for key, name in zip(formed, names, strict=True) if formed.count(key) == 1}


# --- the experiment


def models_of(runs: RunMeans, pick: Pick) -> dict[str, dict[str, float]]:
    """By model, the value of each metric: that of its run with the highest score, or the mean of its runs."""
    found = runs.one_per_model(pick)
    return {
        model: {metric: float(found.means[metric][row]) for metric in SCORES} for row, model in enumerate(found.models)
    }


def external(
    runs: RunMeans, files: Sequence[OutsideScores], *, pick: Pick = "best", cluster: Cluster = "model"
) -> Finding:
    """Correlates our scores with the scores of others, model by model."""
    models = models_of(runs, pick)
    compared: list[_Compared] = []
    problems = []
    for file in files:
        partners = match_names(list(models), file.names)
        for column, values in file.columns.items():
            try:
                compared.append(_compare(models, file, column, values, partners, cluster, several=len(files) > 1))
            except ExperimentError as error:
                problems.append(str(error))
    if not compared:
        raise ExperimentError("; ".join(problems))
    fewest = min((each.clusters for each in compared), key=lambda clusters: clusters.n)
    left_out = [f"left out: {problem}" for problem in problems]
    return Finding(
        "external",
        _answer(compared),
        _words(compared, pick),
        (
            _correlations(compared),
            *(_pairs_table(each, models, number) for number, each in enumerate(compared, start=1)),
            _unmatched(files, models),
        ),
        tuple(_picture(each, models, number) for number, each in enumerate(compared, start=1)),
        (*runs.problems, *left_out, *few_values(fewest.n, fewest.what("models"))),
        question="Do the scores agree with scores from elsewhere?",
        runs=runs.names,
    )


@dataclass(frozen=True)
class _Compared:
    """A column of others' scores, with the models that have a partner in it."""

    name: str  # name of the column
    models: tuple[str, ...]  # our names of the models
    partners: tuple[tuple[str, str], ...]  # their names, each with the rule that found it
    values: Floats
    clusters: Clusters  # which of the models depend on one another
    correlations: Mapping[str, Mapping[str, Correlation]]  # correlations with each of our metrics


def _compare(
    models: Mapping[str, Mapping[str, float]],
    file: OutsideScores,
    column: str,
    values: Mapping[str, float],
    partners: Mapping[str, tuple[str, str]],
    cluster: Cluster,
    *,
    several: bool,
) -> _Compared:
    common = [(model, *partner) for model, partner in partners.items() if partner[0] in values]
    where = f"{file.path}, column {column!r}"
    if len(common) < MIN_VALUES:
        raise ExperimentError(
            f"{where}: {len(common)} models in common, expected at least {MIN_VALUES}; ours are {_some(list(models))}, "
            f"theirs {_some(list(values))}"
        )
    theirs = np.array([values[partner] for _, partner, _ in common])
    check_columns({where: theirs}, "models")
    clusters = clusters_of([model for model, _, _ in common], cluster)
    correlations = {}
    for metric in SCORES:
        ours = np.array([models[model][metric] for model, _, _ in common])
        if metric == "score":
            check_columns({"our score": ours}, "models")
        if np.ptp(ours) > 0:
            correlations[metric] = correlate(ours, theirs, clusters=clusters.of)
    return _Compared(
        name=in_one_line(f"{file.path.stem}: {column}" if several else column, 60),
        models=tuple(model for model, _, _ in common),
        partners=tuple((partner, rule) for _, partner, rule in common),
        values=theirs,
        clusters=clusters,
        correlations=correlations,
    )


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(in_one_line(name, 60) for name in names[:_N_NAMED])
    return f"{shown} and {len(names) - _N_NAMED} more" if len(names) > _N_NAMED else shown or "none"


def _correlations(compared: Sequence[_Compared]) -> Table:
    columns = ("scores", "with our", "models", "clusters", *CORRELATION_COLUMNS)
    rows = tuple(
        (each.name, metric, len(each.models), each.clusters.n, *correlation_cells(values))
        for each in compared
        for metric, values in each.correlations.items()
    )
    return Table("correlations", "Correlations over models, with 95 % intervals", columns, rows)


def _pairs_table(each: _Compared, models: Mapping[str, Mapping[str, float]], number: int) -> Table:
    rows = [
        (model, partner, models[model]["score"], float(value), rule)
        for model, (partner, rule), value in zip(each.models, each.partners, each.values, strict=True)
    ]
    rows.sort(key=lambda row: -row[2])
    columns = ("model", "theirs", "our score", each.name, "names are")
    return Table(f"models-{number}", f"Models in common: {each.name}", columns, tuple(rows))


def _unmatched(files: Sequence[OutsideScores], models: Mapping[str, Mapping[str, float]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for file in files:
        partners = match_names(list(models), file.names)
        theirs = {partner for partner, _ in partners.values()}
        rows += [(file.path.name, "ours", model) for model in models if model not in partners]
        rows += [(file.path.name, "theirs", name) for name in file.names if name not in theirs]
    return Table("unmatched", "Models without a partner", ("file", "whose", "model"), tuple(rows))


def _answer(compared: Sequence[_Compared]) -> str:
    def of(each: _Compared) -> str:
        pearson = each.correlations["score"]["Pearson"].value
        return f"{each.name} by Pearson {pearson:.3f} over {len(each.models)} models"

    if len(compared) == 1:
        return f"Our score correlates with {of(compared[0])}."
    by_value = sorted(compared, key=lambda each: each.correlations["score"]["Pearson"].value)
    most, least = of(by_value[-1]), of(by_value[0])
    return f"Of {len(compared)} other scores, ours correlates most with {most} and least with {least}."


def _words(compared: Sequence[_Compared], pick: Pick) -> str:
    found = []
    for each in compared:
        values = each.correlations["score"]
        by_coefficient = ", ".join(f"{name} {values[name]}" for name in COEFFICIENTS)
        found.append(f"With {each.name}, over {each.clusters.counted('models')}: {by_coefficient}.")
    which = "The best run" if pick == "best" else "The mean of the runs"
    return f"{which} of each model counts. 95 % intervals are in brackets. {' '.join(found)}"


def _picture(each: _Compared, models: Mapping[str, Mapping[str, float]], number: int) -> Picture:
    ours = np.array([models[model]["score"] for model in each.models])
    pearson = each.correlations["score"]["Pearson"].value
    points = Points(
        ours,
        each.values,
        x_label="our score",
        y_label=each.name,
        title=f"{len(ours)} models, Pearson {pearson:.4f}",
        labels=each.models,
    )
    return Picture(f"scatter-{number}", f"{each.name} against our score", Scatter((points,)))
