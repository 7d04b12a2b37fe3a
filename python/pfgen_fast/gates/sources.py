"""What gates of Python take: runs, tables of scores in files or in memory, and `ItemScores`."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import TrialsError
from ..files.untrusted_text import few_names
from ..item_scores.reading import is_score_table
from ..item_scores.table import ItemScores
from ..runs.result_tables import score_table_of
from .checks import Figures, figures_of_model

if TYPE_CHECKING:
    from ..scoring.scorer import Scorer


def pair_of(
    new: Any, old: Any, scores: Any = None, scorer: Scorer | None = None
) -> tuple[ItemScores, Literal["runs", "models"]]:
    """The scores of two runs, of two tables with one model each, or of two models of one table (`scores`)."""
    if scores is not None:
        return _table_of(scores).only(models=[str(new), str(old)]), "models"
    are_runs = [_is_run(source) for source in (new, old)]
    if all(are_runs):
        return _scored([new, old], scorer)[0], "runs"
    if any(are_runs):
        raise TrialsError("a run and a table of scores: expected two runs, or two tables")
    return _joined(_one_model(_table_of(new)), _one_model(_table_of(old))), "models"


def figures_of(source: Any, scores: Any = None, scorer: Scorer | None = None) -> tuple[str, Figures, list[str]]:
    """The name and the figures of a run, of a table with one model, or of a model of a table (`scores`).

    Also returns the names of the figures of which lower values are better.
    """
    if scores is None and _is_run(source):
        table, [whole] = _scored([source], scorer)
        figures = figures_of_model(table.only(metrics=["average"]), table.models[0])
        score = {"score": whole["average"], "score_low": figures["average_low"], "score_high": figures["average_high"]}
        return table.models[0], {**score, **{name: whole[name] for name in whole if name != "average"}}, []
    table = _one_model(_table_of(source)) if scores is None else _table_of(scores).only(models=[str(source)])
    lower = [f"{metric}{end}" for metric, is_up in table.higher_is_better.items() if not is_up for end in _ENDS]
    return table.models[0], figures_of_model(table, table.models[0]), lower


_ENDS = ("", "_low", "_high")


def _is_run(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike)) and not is_score_table(Path(source))


def _table_of(source: Any) -> ItemScores:
    table = score_table_of([source])
    if table is None:
        raise TrialsError(f"{source}: expected a table of scores, not a run")
    return table


def _one_model(table: ItemScores) -> ItemScores:
    if len(table.models) != 1:
        raise TrialsError(f"{len(table.models)} models in a table: name the models, and pass the table as scores")
    return table


def _scored(runs: list[Any], scorer: Scorer | None) -> tuple[ItemScores, list[dict[str, float]]]:
    """The scores of runs by question, and the figures of whole runs."""
    from ..runs.checkout import suite_of_all
    from ..runs.comparison import scores_of
    from ..runs.trials import one_run
    from ..scoring.scorer import Scorer

    opened = [one_run(run) for run in runs]
    table, means = scores_of(opened, scorer or Scorer(suite_of_all([run.folder for run in opened])))
    return table, [of.whole for of in means]


def _joined(new: ItemScores, old: ItemScores) -> ItemScores:
    """A table with the models of both tables, on the metrics and items that both have."""
    metrics = [metric for metric in new.metrics if metric in old.metrics]
    if not metrics:
        of_each = few_names(new.metrics), few_names(old.metrics)
        raise TrialsError(f"the tables have no metric in common: {of_each[0]} and {of_each[1]}")
    place = {item: at for at, item in enumerate(old.items)}
    mine = [at for at, item in enumerate(new.items) if item in place]
    if not mine:
        raise TrialsError("the tables have no item in common")
    a = new.only(metrics=metrics, items=mine)
    b = old.only(metrics=metrics, items=[place[item] for item in a.items])
    names: tuple[str, ...] = a.models + b.models
    if a.models == b.models:
        names = (f"{a.models[0]} (new)", f"{b.models[0]} (old)")

    def trials(of: ItemScores, metric: str) -> Any:
        return of.n_trials.get(metric, np.ones((1, len(of.items)), dtype=np.int_))

    return replace(
        a,
        models=names,
        values={metric: np.vstack([a.values[metric], b.values[metric]]) for metric in metrics},
        n_trials={metric: np.vstack([trials(a, metric), trials(b, metric)]) for metric in metrics},
        variances={},
    )
