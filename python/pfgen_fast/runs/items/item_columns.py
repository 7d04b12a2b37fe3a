"""The columns of a table of scores: names that the user gives, and guesses from usual names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ...base.errors import TrialsError
from ...base.untrusted_text import did_you_mean, few_names, in_one_line
from ...rewards.references.metrics import METRICS
from ...suite.rules import AVERAGE_FIRST

_USUAL = {
    "item": (
        "item", "item_id", "question_id", "qid", "doc_id", "task_id", "problem_id", "prompt_id", "example_id",
        "instance_id", "sample_id", "id", "question", "problem", "prompt", "example", "instance", "sample", "doc_hash",
    ),
    "model": ("model", "model_name", "model_id", "system", "system_id", "checkpoint", "run", "run_id", "perturbation"),
    "trial": (
        "trial", "epoch", "attempt", "repeat", "repetition", "replicate", "seed", "sample_index", "run", "run_id",
    ),
    "metric": ("metric", "metric_name", "measure", "criterion", "scorer"),
    "score": (
        "score", "accuracy", "acc", "correct", "is_correct", "exact_match", "em", "passed", "pass", "f1",
        "reward", "rating", "grade", "value",
    ),
    "subject": ("subject", "category", "domain", "topic", "subset", "task", "dataset"),
    "cluster": ("cluster", "cluster_id", "document", "document_id", "passage", "passage_id", "context_id"),
}  # fmt: skip
"""Usual names of columns in lower case, the most usual name first."""

OUR_SCORES = tuple(name for name in dict.fromkeys((*AVERAGE_FIRST, *METRICS)) if name not in _USUAL["score"])
"""The columns that `pfgen-fast score` writes, the one that ranks first."""

_PLURAL = {"item": "items", "model": "models", "score": "scores", "trial": "trials", "metric": "metrics"}
_PLURAL |= {"subject": "subjects", "cluster": "clusters"}


@dataclass(frozen=True, kw_only=True)
class ColumnNames:
    """The names of the columns of a table of scores.

    A column that is not named is found by its usual names. An empty name stands for no column.

    Attributes:
        item: The column with the names of the items.
        model: The column with the names of the models.
        score: The columns with scores; several columns are several metrics.
        trial: The column that tells the trials of a model on one item apart.
        metric: The column with the names of the metrics.
        subject: The column with the subject of each item.
        cluster: The column with the cluster of each item, such as its document.

    Example:
        >>> ColumnNames(item="problem", score=("accuracy", "f1")).score
        ('accuracy', 'f1')
    """

    item: str | None = None
    model: str | None = None
    score: tuple[str, ...] = ()
    trial: str | None = None
    metric: str | None = None
    subject: str | None = None
    cluster: str | None = None


def found_columns(named: ColumnNames, names: Sequence[str], where: str) -> tuple[ColumnNames, str]:
    """The columns of a table that has columns with these names, and a sentence about the guesses, or an empty text."""
    free = [name for name in names if name]
    for name in _named(named):
        if name not in free:
            there = few_names(free, 12) or "no columns"
            raise TrialsError(f"{where}: no column '{in_one_line(name)}'; there are {there}{did_you_mean(name, free)}")
    free = [name for name in free if name not in _named(named)]
    columns = named
    guesses = []
    for kind, usual in _USUAL.items():
        if getattr(named, kind) not in (None, ()):
            continue
        matches = _matches(free, usual)
        # Several columns of scores are several metrics, unless one is named score, or metrics are in a column.
        if kind != "score" or columns.metric or "score" in matches:
            matches = matches[:1]
        ours = _our_scores(free, has_models=bool(columns.model)) if kind == "score" and not columns.metric else []
        if "average" in ours or not matches:
            matches = ours or matches
        if matches:
            values: dict[str, Any] = {kind: tuple(matches) if kind == "score" else matches[0]}
            columns = replace(columns, **values)
            free = [name for name in free if name not in matches]
            if matches != [kind]:
                guesses.append(f"{_PLURAL[kind]} from {' and '.join(repr(in_one_line(name, 40)) for name in matches)}")
    return columns, f"read {', '.join(guesses)}, columns chosen by their usual names" if guesses else ""


def _named(columns: ColumnNames) -> list[str]:
    values = [getattr(columns, field.name) for field in fields(columns)]
    return [name for value in values if value for name in ([value] if isinstance(value, str) else value)]


def _our_scores(names: Sequence[str], *, has_models: bool) -> list[str]:
    """The columns that `pfgen-fast score` has written; a lone `average` may also be a model of a wide table."""
    ours = [name for name in OUR_SCORES if name in names]
    if ours == ["average"] and not has_models:
        return []
    prefixes = tuple(f"{name}_" for name in ours if name in ("fluency", "truthfulness"))
    return ours + [name for name in names if name not in ours and name.startswith(prefixes or ("\0",))]


def _matches(names: Sequence[str], usual: Sequence[str]) -> list[str]:
    """The names that are usual, the most usual first."""
    places = {name: place for place, name in enumerate(usual)}
    plain = {name: re.sub(r"[\s\-.]+", "_", name.strip().lower()) for name in names}
    return sorted((name for name in names if plain[name] in places), key=lambda name: places[plain[name]])
