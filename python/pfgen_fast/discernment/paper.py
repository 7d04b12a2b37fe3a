"""What the DHP benchmark (arXiv 2408.13704) did: its data sets, models and requests, its claims, and its plans.

Its results are printed as pictures only, so there are no figures of it here; `read_published` reads figures that
somebody has read off the pictures. Claims are in our words.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import DiscernmentError
from ..files.untrusted_text import in_one_line
from .names import plain, unknown
from .plan import Perturbation, Plan, perturbation
from .weights import cell, number_of, rows_of

_FACTS = Path(__file__).parents[1] / "data" / "discernment"

_GENERAL = ("all", "nearly all", "most")
"""Data sets of claims that are about no data set in particular."""

_STAND_INS = {"fictional_entity": "term_swap", "grammar_error": "function_word", "rewrite_insert": "sentence_repeat"}
"""The kinds by rules that stand for those that a language model makes."""

_STAND_IN_K = {
    ("fictional_entity", "minor"): 1,
    ("fictional_entity", "major"): 3,
    ("grammar_error", "minor"): 2,
    ("grammar_error", "major"): 5,
    ("rewrite_insert", "minor"): 1,
    ("rewrite_insert", "major"): 5,
}
"""How many changes the model is asked for; where a text has fewer sites, all of them are taken."""

_FEWER_ERRORS = {("story", "minor"): 1, ("qa", "minor"): 1, ("qa", "major"): 3}
"""How many grammatical errors the short texts of some tasks get."""

SCORES = ("d_average", "d_minimum", "weighted_average", "weighted_minimum")
"""The scores that the paper draws."""

_COLUMNS = ("dataset", "model", "score", "value")


@dataclass(frozen=True)
class Dataset:
    """A data set of the paper."""

    name: str
    task: str
    language: str  # language, or the languages of a translation
    domain: str  # what the texts are about
    metrics: tuple[str, ...]  # metrics, each rated from 1 to 5
    n_items: int
    texts: str  # which texts were damaged
    licence: str  # licence; empty if it is not stated


@dataclass(frozen=True)
class Claim:
    """A result that the paper states in words."""

    datasets: tuple[str, ...]  # data sets that it is about; `all`, `nearly all` or `most` if these are not named
    models: str
    scores: str
    claim: str  # result, in our words


def facts(name: str) -> list[Mapping[str, str]]:
    """The rows of a packaged table of the paper: `perturbations`, `datasets`, `models`, `requests` or `claims`."""
    with (_FACTS / f"paper-{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def datasets() -> Mapping[str, Dataset]:
    """The data sets of the paper, by name."""
    return {
        row["dataset"]: Dataset(
            row["dataset"],
            row["task"],
            row["language"],
            row["domain"],
            tuple(row["metrics"].split()),
            int(row["n_items"]),
            row["texts"],
            row["licence"],
        )
        for row in facts("datasets")
    }


def dataset_named(name: str, *, where: str = "") -> Dataset:
    """A data set of the paper, whatever the case and the separators of its name."""
    for dataset in datasets().values():
        if plain(dataset.name) == plain(name):
            return dataset
    raise unknown("data set", name, datasets(), where=where)


def claims(dataset: str | None = None) -> tuple[Claim, ...]:
    """The results that the paper states in words: all, or those that concern a data set."""
    found = (
        Claim(tuple(row["datasets"].split("; ")), row["models"], row["scores"], row["claim"]) for row in facts("claims")
    )
    if dataset is None:
        return tuple(found)
    wanted = {dataset_named(dataset).name, *_GENERAL}
    return tuple(claim for claim in found if wanted.intersection(claim.datasets))


# --- plans


def paper_plan(dataset: str, *, rules_only: bool = False) -> Plan:
    """The perturbations of a data set of the paper. Where there is one degree only, it is `minor`."""
    found = dataset_named(dataset)
    rows = [row for row in facts("perturbations") if row["dataset"] == found.name]
    perturbations = tuple(_stand_in(row) if rules_only and row["method"] == "model" else _planned(row) for row in rows)
    kinds = {row["kind"] for row in rows}
    replaced = [f"{ours} stands in for {theirs}" for theirs, ours in _STAND_INS.items() if theirs in kinds]
    note = f"No language model damages texts: {', '.join(replaced)}."
    return Plan(perturbations, f"paper: {found.name}", (note,) if rules_only else ())


def _degree(row: Mapping[str, str]) -> str:
    return "minor" if row["degree"] == "single" else row["degree"]


def _planned(row: Mapping[str, str]) -> Perturbation:
    kind = row["kind"]
    if row["method"] == "model":
        return perturbation(kind, degree=_degree(row))
    if kind in ("random_ending", "random_answer", "wrong_ending"):
        return perturbation(kind)
    if row["k"] == "all":
        return perturbation(kind, permille=1000, degree=_degree(row))
    return perturbation(kind, k=int(row["k"]), degree=_degree(row))


def _stand_in(row: Mapping[str, str]) -> Perturbation:
    kind, degree = row["kind"], _degree(row)
    k = _STAND_IN_K[kind, degree]
    if kind == "grammar_error":
        k = _FEWER_ERRORS.get((row["task"], degree), k)
    return perturbation(_STAND_INS[kind], k=k, degree=degree)


@dataclass(frozen=True)
class Published:
    """One figure of the paper."""

    dataset: str
    task: str
    model: str
    score: str  # one of `SCORES`. It is to be compared with our `printed_d`, at 100 items
    value: float


def read_published(path: str | Path) -> tuple[Published, ...]:
    """Reads figures of the paper from a table with the columns `dataset`, `model`, `score` and `value`."""
    found: dict[tuple[str, str, str], Published] = {}
    for where, row in rows_of(path, _COLUMNS):
        dataset = dataset_named(cell(row, "dataset", where), where=where)
        model = cell(row, "model", where)
        score = plain(cell(row, "score", where)).replace(" ", "_")
        if score not in SCORES:
            raise unknown("score", row["score"], SCORES, where=where)
        key = (dataset.name, model, score)
        if key in found:
            raise DiscernmentError(f"{where}: {score} of {in_one_line(model, 60)} on {dataset.name} is there twice")
        found[key] = Published(dataset.name, dataset.task, model, score, number_of(row.get("value"), "value", where))
    if not found:
        raise DiscernmentError(f"{path}: no figures; expected one in each row")
    return tuple(found.values())
