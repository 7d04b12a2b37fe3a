"""Claims and figures of the DHP benchmark about its data sets, next to our figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...discernment.paper import Published, claims, datasets
from ...experiments.finding import Cell, Table
from .rows import Result

_CLAIM_COLUMNS = ("dataset", "models", "scores", "claim", "ours")
_PUBLISHED_COLUMNS = ("dataset", "model", "score", "published", "evaluator", "ours", "n_items")
_OURS = {
    "d_average": ("printed_d", "average"),
    "d_minimum": ("printed_d", "minimum"),
    "weighted_average": ("weighted_d", "average"),
    "weighted_minimum": ("weighted_d", "minimum"),
}
"""For each score of the paper, the column of our summary to compare it with."""


def paper_tables(results: Sequence[Result], published: Sequence[Published]) -> list[Table]:
    """The claims about the data sets whose plans were run, and the published figures, if any."""
    of_datasets = {
        result: name
        for result in results
        for name in datasets()
        if result.found.scored.plan.name.startswith(f"paper: {name}")
    }
    found = []
    if names := dict.fromkeys([*of_datasets.values(), *(one.dataset for one in published)]):
        found.append(_claims(names, of_datasets))
    if published:
        title = "Figures read off the paper's pictures, next to ours"
        rows = tuple(row for one in published for row in _published_rows(one, of_datasets))
        found.append(Table("published", title, _PUBLISHED_COLUMNS, rows, 2))
    return found


def _claims(names: Iterable[str], of_datasets: dict[Result, str]) -> Table:
    wanted = list(names)
    found = dict.fromkeys(claim for name in wanted for claim in claims(name))
    rows = []
    for claim in found:
        general = not set(claim.datasets) & set(datasets())
        own = [result for result, name in of_datasets.items() if general or name in claim.datasets]
        ours = "; ".join(map(_in_short, own)) or None
        rows.append((", ".join(claim.datasets), claim.models, claim.scores, claim.claim, ours))
    return Table("claims", "What the paper says of its data sets, next to our figures", _CLAIM_COLUMNS, tuple(rows))


def _in_short(result: Result) -> str:
    row = result.summary("printed_d", "all")
    if row is None or row["average"] is None:
        return f"{result.title}: undefined"
    return f"{result.title}: average {row['average']:.1f}, minimum {row['minimum']:.1f}"


def _published_rows(one: Published, of_datasets: dict[Result, str]) -> Iterable[tuple[Cell, ...]]:
    known = (one.dataset, one.model, one.score, one.value)
    own = [result for result, name in of_datasets.items() if name == one.dataset]
    score, statistic = _OURS[one.score]
    for result in own:
        row = result.summary(score, "all")
        yield *known, result.label, None if row is None else row[statistic], result.found.work.n_items
    if not own:
        yield *known, None, None, None
