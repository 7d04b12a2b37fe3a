"""`external`: do the scores agree with other scores, such as those of a judge, of humans or of another leaderboard?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...base.arrays import Floats
from ...base.errors import ExperimentError
from ...base.table import Table
from ...base.untrusted_text import few_names, from_csv_value, in_one_line
from ...suite.rules import SCORES
from ..chart_data import Points, Scatter
from ..finding import Cell, Finding, Picture, correlation_table, finding_table, with_interval
from ..statistics.correlation import COEFFICIENTS, MIN_VALUES, Correlation, check_columns, correlate, is_constant
from .run_means import Cluster, Clusters, Pick, RunMeans, clusters_of, number_in, read_rows

_N_NAMED = 5


@dataclass(frozen=True)
class OutsideScores:
    """Scores of models from another source."""

    path: Path
    columns: Mapping[str, Mapping[str, float]]  # for each column, the known scores by model
    names: tuple[str, ...]  # all models, in the order of the file


def read_outside_scores(path: Path) -> OutsideScores:
    """Reads a CSV file: a header, model names in the first column, scores in the others; an empty score is unknown."""
    header, rows = read_rows(path)
    if len(header) < 2:
        raise ExperimentError(f"{path}: expected a header with a column of names and at least one column of scores")
    columns: dict[str, dict[str, float]] = {name: {} for name in header[1:]}
    names: dict[str, None] = {}
    for number, row in rows:
        where = f"{path}, line {number}"
        name = from_csv_value(row[0].strip())
        if not name or name in names:
            raise ExperimentError(f"{where}: {'a model without a name' if not name else f'{name!r} is repeated'}")
        names[name] = None
        for column, cell in zip(header[1:], row[1:], strict=True):
            if cell.strip():
                columns[column][name] = number_in(cell, f"{where}, column {column!r}")
    if not names:
        raise ExperimentError(f"{path}: the file has no scores")
    return OutsideScores(path, columns, tuple(names))


# --- names


def _plain_name(name: str) -> str:
    """A name in lower case, with the same separator everywhere."""
    return re.sub(r"[\s_.:@-]+", "-", unicodedata.normalize("NFKC", name).casefold()).strip("-")


_RULES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("the same", lambda name: name),
    ("but for case and separators", _plain_name),
    ("but for what comes before the last slash", lambda name: _plain_name(name.rstrip("/").rsplit("/", 1)[-1])),
)
"""The rules for matching names, in order; a pair matches by the first rule for which it is unambiguous."""


def match_names(ours: Sequence[str], theirs: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Matches our names with theirs: by our name, the partner and the rule. Ambiguous names have no partner."""
    matches: dict[str, tuple[str, str]] = {}
    for rule, form in _RULES:
        taken = {partner for partner, _ in matches.values()}
        left = _unambiguous([name for name in ours if name not in matches], form)
        by_form = _unambiguous([name for name in theirs if name not in taken], form)
        matches |= {name: (by_form[formed], rule) for formed, name in left.items() if formed in by_form}
    return matches


def _unambiguous(names: Sequence[str], form: Callable[[str], str]) -> dict[str, str]:
    formed = [form(name) for name in names]
    return {key: name for key, name in zip(formed, names, strict=True) if formed.count(key) == 1}


# --- the experiment


def external(
    runs: RunMeans, files: Sequence[OutsideScores], *, pick: Pick = "best", cluster: Cluster = "model"
) -> Finding:
    """Correlates our scores with other scores of the same models."""
    models = runs.one_per_model(pick)
    compared: list[_Compared] = []
    problems = []
    unmatched: list[tuple[Cell, ...]] = []
    for file in files:
        partners = match_names(models.models, file.names)
        theirs = {partner for partner, _ in partners.values()}
        unmatched += [(file.path.name, "ours", model) for model in models.models if model not in partners]
        unmatched += [(file.path.name, "theirs", name) for name in file.names if name not in theirs]
        for column, values in file.columns.items():
            title = in_one_line(f"{file.path.stem}: {column}" if len(files) > 1 else column, 60)
            try:
                where = f"{file.path}, column {column!r}"
                compared.append(_compared(title, where, models, values, partners, cluster))
            except ExperimentError as error:
                problems.append(str(error))
    if not compared:
        raise ExperimentError("; ".join(problems))
    fewest = min((part.clusters for part in compared), key=lambda clusters: clusters.n)
    which = "The best run" if pick == "best" else "The mean of the runs"
    words = [f"{which} of each model counts. 95 % intervals are in brackets."]
    rows: list[tuple[tuple[Cell, ...], Mapping[str, Correlation]]] = []
    for part in compared:
        by_coefficient = ", ".join(f"{name} {part.correlations['score'][name]}" for name in COEFFICIENTS)
        words.append(f"With {part.name}, over {part.clusters.counted('models')}: {by_coefficient}.")
        counts = len(part.models.names), part.clusters.n
        rows += [((part.name, metric, *counts), by_name) for metric, by_name in part.correlations.items()]
    title = "Correlations over models, with 95 % intervals"
    return Finding(
        "external",
        _answer(compared),
        " ".join(words),
        (
            correlation_table("correlations", title, ("scores", "with our", "models", "clusters"), rows),
            *(part.pairs_table(number) for number, part in enumerate(compared, start=1)),
            finding_table("unmatched", "Models without a partner", ("file", "whose", "model"), unmatched),
        ),
        tuple(part.picture(number) for number, part in enumerate(compared, start=1)),
        (*runs.problems, *(f"left out: {problem}" for problem in problems), *fewest.warnings("models")),
        question="Do the scores agree with scores from elsewhere?",
        runs=runs.names,
    )


@dataclass(frozen=True)
class _Compared:
    """A column of other scores, with the models that have a partner in it."""

    name: str  # name of the column
    models: RunMeans  # our models
    partners: Sequence[tuple[str, str]]  # names in the column, each with the rule that matched it
    theirs: Floats
    clusters: Clusters  # clusters of dependent models
    correlations: Mapping[str, Mapping[str, Correlation]]  # correlations with each of our metrics

    @property
    def pearson(self) -> Correlation:
        """The correlation with our score."""
        return self.correlations["score"]["Pearson"]

    def pairs_table(self, number: int) -> Table:
        """The models in common, the best first."""
        ours, theirs = self.models.means["score"].tolist(), self.theirs.tolist()
        rows = [
            (model, partner, our, their, rule)
            for model, (partner, rule), our, their in zip(self.models.models, self.partners, ours, theirs, strict=True)
        ]
        rows.sort(key=lambda row: -row[2])
        columns = ("model", "theirs", "our score", self.name, "names are")
        return finding_table(f"models-{number}", f"Models in common: {self.name}", columns, rows)

    def picture(self, number: int) -> Picture:
        """The other scores against ours."""
        title = f"{len(self.theirs)} models, Pearson {self.pearson.value:.4f}"
        ours, labels = self.models.means["score"], self.models.models
        points = Points(ours, self.theirs, "our score", self.name, title, labels=labels)
        return Picture(f"scatter-{number}", f"{self.name} against our score", Scatter((points,)))


def _compared(
    name: str,
    where: str,
    models: RunMeans,
    values: Mapping[str, float],
    partners: Mapping[str, tuple[str, str]],
    cluster: Cluster,
) -> _Compared:
    common = {model: partner for model, partner in partners.items() if partner[0] in values}
    if len(common) < MIN_VALUES:
        raise ExperimentError(
            f"{where}: {len(common)} models in common, expected at least {MIN_VALUES}; ours are "
            f"{few_names(models.models, _N_NAMED)}, theirs {few_names(list(values), _N_NAMED) or 'none'}"
        )
    theirs = np.array([values[partner] for partner, _ in common.values()])
    check_columns({where: theirs}, "models")
    ours = models.chosen([models.models.index(model) for model in common])
    check_columns({"our score": ours.means["score"]}, "models")
    clusters = clusters_of(ours.models, cluster)
    correlations = {
        metric: correlate(ours.means[metric], theirs, clusters=clusters.numbers)
        for metric in SCORES
        if not is_constant(ours.means[metric])
    }
    return _Compared(name, ours, tuple(common.values()), theirs, clusters, correlations)


def _answer(compared: Sequence[_Compared]) -> str:
    named = [
        f"{column.name} by Pearson {with_interval(column.pearson)} over {len(column.theirs)} models"
        for column in sorted(compared, key=lambda column: column.pearson.value)
    ]
    if len(compared) == 1:
        return f"Our score correlates with {named[0]}."
    return f"Of {len(compared)} other scores, ours correlates most with {named[-1]} and least with {named[0]}."
