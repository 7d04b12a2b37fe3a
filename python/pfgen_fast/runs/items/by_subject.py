"""Scores by subject: the mean over the items of each subject, with its interval."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from ...base.mean_interval import INTERVAL_HEADS, MeanInterval, mean_interval
from ...base.table import NOTHING, Column, Table, bearing_digits, figure
from ...base.untrusted_text import few_names

FEW_ITEMS = 4
"""Readers see no interval of a subject with fewer items: it is wider than all scores."""

Subjects = Mapping[str, MeanInterval]


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


def subject_record(means: Subjects) -> dict[str, dict[str, Any]]:
    """The figures of each subject, for JSON."""
    return {
        subject: {"score": mean.mean, "score_low": mean.low, "score_high": mean.high, "num_items": mean.n}
        for subject, mean in means.items()
    }


def subject_columns(means: Subjects) -> dict[str, Any]:
    """The figures of one model as columns of a file."""
    ends = {"score": "", "score_low": "_low", "score_high": "_high", "num_items": "_num_items"}
    record = subject_record(means)
    return {f"subject_{subject}{ends[name]}": figures[name] for subject, figures in record.items() for name in figures}


def subject_table(
    names: Sequence[str],
    rows: Sequence[Subjects],
    *,
    model: str = "model",
    items: str = "items",
    is_share: bool = False,
) -> Table:
    """For readers: a row for each model and a column for each subject, or of one model a row for each subject.

    Args:
        names: The names of the models.
        rows: Their scores by subject.
        model: What a model is called.
        items: What the items are called.
        is_share: Whether all scores are 0 or 1, so that a mean has no more digits than its interval bears.
    """

    def texts(mean: MeanInterval) -> tuple[str, str]:
        digits = bearing_digits(mean.half_width) if is_share else 4
        return figure(mean.mean, digits), NOTHING if mean.n < FEW_ITEMS else mean.shown(digits)

    if len(rows) == 1:
        figures = Column("score", is_text=False), Column("interval", INTERVAL_HEADS[is_share], is_text=False)
        cells = [(name, mean.n, *texts(mean)) for name, mean in rows[0].items()]
        return Table([Column("subject"), Column("n", items), *figures], cells)
    subjects = {subject: max(row[subject].n for row in rows if subject in row) for row in rows for subject in row}
    titled = [(subject, f"{subject} ({n:,})") for subject, n in subjects.items()]
    columns = [Column(*head, form=lambda mean: " ".join(texts(mean)), is_optional=True) for head in titled]
    cells_of = [[name, *map(row.get, subjects)] for name, row in zip(names, rows, strict=True)]
    return Table([Column("model", model, is_text=True), *columns], cells_of)


def few_items(means: Subjects, items: str = "items") -> list[str]:
    """A sentence about subjects that have too few items for conclusions."""
    few = [f"{subject} ({mean.n})" for subject, mean in means.items() if mean.n < FEW_ITEMS]
    named = few_names(few, n_code_points=300)
    return [f"–: no interval, because a subject has fewer than {FEW_ITEMS} {items}: {named}"] if few else []
