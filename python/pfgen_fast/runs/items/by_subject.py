"""Scores by subject: the mean over the items of each subject, with its interval."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from ...base.mean_interval import MeanInterval, mean_interval
from ...base.untrusted_text import few_names

FEW_ITEMS = 6
"""Fewer items than this say little about a subject."""


def by_subject(
    subjects: Iterable[str | None],
    scores: Iterable[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    binary: bool = False,
) -> dict[str, MeanInterval]:
    """The mean score of each subject in the order of the items; items without a subject or a score are left out."""
    pairs: dict[str, list[tuple[float, Hashable]]] = {}
    for number, (subject, score) in enumerate(zip(subjects, scores, strict=True)):
        if subject and score == score:
            pairs.setdefault(subject, []).append((score, number if clusters is None else clusters[number]))
    return {
        subject: mean_interval(
            [score for score, _ in members],
            None if clusters is None else [cluster for _, cluster in members],
            binary=binary,
        )
        for subject, members in pairs.items()
    }


def subject_record(means: Mapping[str, MeanInterval]) -> dict[str, dict[str, Any]]:
    """The figures of each subject, for JSON."""
    return {
        subject: {"score": mean.mean, "score_low": mean.low, "score_high": mean.high, "num_items": mean.n}
        for subject, mean in means.items()
    }


def subject_columns(record: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of `subject_record` as columns of a CSV file."""
    ends = {"score": "", "score_low": "_low", "score_high": "_high", "num_items": "_num_items"}
    return {f"subject_{subject}{ends[name]}": figures[name] for subject, figures in record.items() for name in figures}


def subject_table(rows: Sequence[Mapping[str, MeanInterval]]) -> tuple[list[str], list[list[str]]]:
    """Heads with the largest numbers of items, and cells with means and intervals."""
    subjects = {subject: max(row[subject].n for row in rows if subject in row) for row in rows for subject in row}
    heads = [f"{subject} ({n:,})" for subject, n in subjects.items()]
    return heads, [[_cell(row.get(subject)) for subject in subjects] for row in rows]


def subject_lines(means: Mapping[str, MeanInterval]) -> list[list[str]]:
    """The figures of one model: a row for each subject, with the number of its items."""
    return [[subject, f"{mean.n:,}", f"{mean.mean:.4f}", mean.shown()] for subject, mean in means.items()]


def few_items(means: Mapping[str, MeanInterval], items: str = "items") -> list[str]:
    """Sentences about subjects that have too few items for conclusions, and about missing intervals."""
    few = [f"{subject} ({mean.n})" for subject, mean in means.items() if mean.n < FEW_ITEMS]
    if not few:
        return []
    named = few_names(few, n_code_points=300)
    sentences = [f"subjects with fewer than {FEW_ITEMS} {items}, about which a score tells little: {named}"]
    if any(mean.low is None for mean in means.values()):
        sentences.append(f"–: no interval, because a subject has one of the {items}, or the same score for all")
    return sentences


def _cell(mean: MeanInterval | None) -> str:
    if mean is None:
        return "–"
    return f"{mean.mean:.4f} {mean.shown()}"
