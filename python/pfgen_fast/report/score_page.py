"""The report page of a table of scores: the page of runs, with models in place of runs and items in place of questions.

The page has no answers. All figures are over the items that all models have, as in the leaderboard.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base.errors import TrialsError
from ..base.mean_interval import MeanInterval
from ..base.table import Column
from ..base.untrusted_text import in_one_line
from ..runs.items.item_table import ItemScores
from ..runs.items.ranking import Compared, compared_models, rank_models
from ..suite.rules import shown_metric
from .answers import packed
from .overview import RUN_WORDS, about_page, shown_interval, sweep_of
from .pages import write_page
from .run_page import SCRIPTS, overview_page

MAX_ITEMS = 20_000
MAX_SCORES = 1_000_000

_MAX_COLUMNS = 20
LEFT_OUT = ("report/plots.js",)
"""Scripts for sections that a page of one metric lacks."""


def write_score_report(scores: ItemScores, path: Path, *, metric: str | None = None, name: str) -> None:
    """Writes the page of a table of scores, in one file; its head gives the name of the table."""
    compared = compared_models(scores, metric)
    n_models, n_items = compared.values.shape
    if n_items > MAX_ITEMS or n_models * n_items > MAX_SCORES:
        raise TrialsError(
            f"{n_models:,} models and {n_items:,} items are too many for a page, which holds {MAX_ITEMS:,} items and "
            f"{MAX_SCORES:,} scores; choose models (--models)"
        )
    overview = _overview(scores, compared)
    plots = [(key, "score", f"{overview['words']['score']} against {title}") for key, title, _ in overview["columns"]]
    page = overview_page(
        overview,
        packed(_figures(overview, compared)),
        scripts=[script for script in SCRIPTS if plots or script not in LEFT_OUT],
        section="Scores",
        suite=in_one_line(name),
        notes=overview["notes"],
        plots=plots,
    )
    write_page(path, page)


def _overview(scores: ItemScores, compared: Compared) -> dict[str, Any]:
    """The overview of a page, as `overview.overview_of` makes it for runs, and the notes of the leaderboard."""
    ranking = rank_models(scores, compared.metric)
    table = compared.table
    others = [metric for metric in table.metrics if metric != compared.metric][:_MAX_COLUMNS]
    digits = {column.name: column.digits for column in ranking.table.columns}
    columns = [
        Column(f"metric {number}", in_one_line(metric, 40), digits[f"metric_{metric}"])
        for number, metric in enumerate(others)
    ]
    names = [column.name for column in columns]
    over = "" if compared.clusters is None else f", over {compared.counted_units}"
    words = {
        **page_words("model", "item", suite="scores of"),
        "score": in_one_line(shown_metric(compared.metric, table.metrics), 40),
        "test": compared.test.split(" over")[0],
        "interval": "Wilson" if compared.is_binary else f"Student’s t{over}",
    }
    codes = None
    if compared.clusters is not None:
        numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(compared.clusters))}
        codes = [numbers[cluster] for cluster in compared.clusters]
    subjects = table.subjects or [None] * len(table.items)
    runs: list[dict[str, Any]] = []
    for row, model in zip(compared.order, ranking.models, strict=True):
        by_item = [round(value, 6) for value in compared.values[row].tolist()]
        title, metrics = in_one_line(model.model, 200), dict(zip(names, map(model.metrics.get, others), strict=True))
        runs.append(run_entry(title, model.score, digits["score"], model.rank, model.ranks, by_item) | metrics)
    return {
        "questions": [
            {"id": item, "text": "", "subject": in_one_line(subject, 40) if subject else ""}
            for item, subject in zip(_distinct(table.items), subjects, strict=True)
        ],
        "runs": runs,
        "sweep": sweep_of([(run["name"], None) for run in runs]),
        **about_page(words, columns, digits["score"], is_share=ranking.is_binary),
        "single_trials": [
            key
            for key, metric in {"average": compared.metric, **dict(zip(names, others, strict=True))}.items()
            if metric not in table.n_trials or bool((table.n_trials[metric] <= 1).all())
        ],
        "higher_is_better": compared.higher_is_better,
        "clusters": codes,
        "files": {},
        "n_shown": 0,
        "notes": ranking.notes,
    }


def page_words(run: str, question: str, **others: str) -> dict[str, str]:
    """The words of a page whose runs and questions have other names."""
    names = {"run": run, "runs": f"{run}s", "question": question, "questions": f"{question}s"}
    return RUN_WORDS | names | {key.capitalize(): name.capitalize() for key, name in names.items()} | others


def run_entry(
    name: str,
    score: MeanInterval | None,
    digits: int,
    rank: float | None,
    ranks: tuple[int, int] | None,
    by_item: Sequence[Any],
) -> dict[str, Any]:
    """A run of the overview that has no parts, parameters and samples, as `overview.overview_of` makes it for runs."""
    return {
        **dict.fromkeys(("settings", "rest", "medal"), ""),
        **dict.fromkeys(("link", "worst", "trials")),
        "name": name,
        "title": name,
        "group": "model",
        "parameters": {},
        "sets": [],
        "samples": 0,
        "organisation": in_one_line(name.partition("/")[0], 60) if "/" in name else "",
        "score": score and score.mean,
        **shown_interval(score, digits),
        "rank": rank,
        "ranks": ranks,
        "questions": by_item,
    }


def _figures(overview: dict[str, Any], compared: Compared) -> dict[str, Any]:
    """The figures by item and model, in the order of the leaderboard."""
    order, table = list(compared.order), compared.table
    others = [metric for metric in table.metrics if metric != compared.metric]
    values = {"average": compared.values[order]}
    for (key, _, _), metric in zip(overview["columns"], others, strict=False):
        values[key] = table.values[metric][order]
    return {
        key: [[None if value != value else value for value in item] for item in by_model.T.tolist()]
        for key, by_model in values.items()
    }


def _distinct(items: Sequence[str]) -> list[str]:
    """Short names of items; a name that is there already is followed by the number of the item."""
    names: dict[str, None] = {}
    for number, item in enumerate(items, 1):
        name = in_one_line(item, 200)
        names[name if name not in names else f"{name} (item {number})"] = None
    return list(names)
