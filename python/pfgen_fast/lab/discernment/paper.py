"""The DHP benchmark (arXiv 2408.13704): its data sets, claims and plans.

The paper prints its results only as pictures, so this module has no figures of it. `read_published` reads figures that
somebody has read off the pictures. Claims are in our words.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...base.errors import DiscernmentError
from ...base.untrusted_text import in_one_line
from .discernment_plan import Perturbation, Plan, kind_named, perturbation
from .names import plain, unknown
from .weights import cell, number_of, rows_of

_FACTS = Path(__file__).parents[2] / "data" / "discernment"

_GENERAL = ("all", "nearly all", "most")
"""Data sets of claims that name no data set."""

_STAND_INS = {
    "fictional_entity": ("term_swap", {"minor": 1, "major": 3}),
    "grammar_error": ("function_word", {"minor": 2, "major": 5}),
    "rewrite_insert": ("sentence_repeat", {"minor": 1, "major": 5}),
}
"""By kind that a model makes: the kind by rules that replaces it, and the number of changes.

If a text has fewer sites, all sites are taken.
"""

_FEWER_ERRORS = {("story", "minor"): 1, ("qa", "minor"): 1, ("qa", "major"): 3}
"""The number of grammatical errors in the short texts of some tasks."""

SCORES = ("d_average", "d_minimum", "weighted_average", "weighted_minimum")
"""The scores that the paper draws."""

_COLUMNS = ("dataset", "model", "score", "value")


@dataclass(frozen=True)
class Claim:
    """A result that the paper states in words."""

    datasets: tuple[str, ...]  # data sets of the claim; `all`, `nearly all` or `most` if the paper does not name them
    models: str
    scores: str
    claim: str  # result, in our words


def facts(name: str) -> list[Mapping[str, str]]:
    """The rows of a packaged table of the paper: `perturbations`, `datasets` or `claims`."""
    with (_FACTS / f"paper-{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def datasets() -> Mapping[str, str]:
    """The tasks of the data sets of the paper, by name of the data set."""
    return {row["dataset"]: row["task"] for row in facts("datasets")}


def find_dataset(name: str) -> str | None:
    """Finds a data set of the paper by its name in any case and with any separators; None if it is unknown."""
    return next((dataset for dataset in datasets() if plain(dataset) == plain(name)), None)


def dataset_named(name: str, *, where: str = "") -> str:
    """Finds a data set of the paper by its name; raises DiscernmentError if it is unknown."""
    dataset = find_dataset(name)
    if dataset is None:
        raise unknown("data set", name, datasets(), where=where)
    return dataset


def claims(dataset: str | None = None) -> tuple[Claim, ...]:
    """The claims of the paper: all claims, or the claims that concern a data set."""
    all_claims = (
        Claim(tuple(row["datasets"].split("; ")), row["models"], row["scores"], row["claim"]) for row in facts("claims")
    )
    if dataset is None:
        return tuple(all_claims)
    wanted = {dataset_named(dataset), *_GENERAL}
    return tuple(claim for claim in all_claims if wanted.intersection(claim.datasets))


# --- plans


def paper_plan(dataset: str, *, rules_only: bool = False) -> Plan:
    """The perturbations of a data set of the paper; a single degree is called `minor`."""
    name = dataset_named(dataset)
    rows = [row for row in facts("perturbations") if row["dataset"] == name]
    kinds = {row["kind"] for row in rows}
    replaced = [f"{ours} stands in for {theirs}" for theirs, (ours, _) in _STAND_INS.items() if theirs in kinds]
    note = f"No language model damages texts: {', '.join(replaced)}."
    perturbations = tuple(_planned(row, rules_only=rules_only) for row in rows)
    return Plan(perturbations, f"paper: {name}", (note,) if rules_only else ())


def _planned(row: Mapping[str, str], *, rules_only: bool) -> Perturbation:
    kind, degree, k = row["kind"], "minor" if row["degree"] == "single" else row["degree"], row["k"]
    if row["method"] == "model":
        if not rules_only:
            return perturbation(kind, degree=degree)
        return perturbation(_STAND_INS[kind][0], k=n_changes(kind, row["task"], degree), degree=degree)
    if not kind_named(kind).has_degrees:
        return perturbation(kind)
    is_whole = k == "all"
    return perturbation(kind, permille=1000 if is_whole else None, k=None if is_whole else int(k), degree=degree)


def n_changes(kind: str, task: str, degree: str) -> int:
    """The number of changes that a prompt asks for."""
    fewer = _FEWER_ERRORS.get((task, degree)) if kind == "grammar_error" else None
    return fewer or _STAND_INS[kind][1][degree]


@dataclass(frozen=True)
class Published:
    """One figure of the paper."""

    dataset: str
    task: str
    model: str
    score: str  # one of `SCORES`; compare it with our `printed_d`, at 100 items
    value: float


def read_published(path: str | Path) -> tuple[Published, ...]:
    """Reads figures of the paper from a table with the columns `dataset`, `model`, `score` and `value`."""
    table: dict[tuple[str, str, str], Published] = {}
    for where, row in rows_of(path, _COLUMNS):
        dataset = dataset_named(cell(row, "dataset", where), where=where)
        model = cell(row, "model", where)
        score = plain(cell(row, "score", where)).replace(" ", "_")
        if score not in SCORES:
            raise unknown("score", row["score"], SCORES, where=where)
        key = (dataset, model, score)
        if key in table:
            raise DiscernmentError(f"{where}: {score} of {in_one_line(model, 60)} on {dataset} is repeated")
        table[key] = Published(dataset, datasets()[dataset], model, score, number_of(row.get("value"), "value", where))
    if not table:
        raise DiscernmentError(f"{path}: no figures; expected a figure in each row")
    return tuple(table.values())
