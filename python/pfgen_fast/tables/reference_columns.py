"""Scores rows that contain their references, in a column of lists or in several columns, with reference metrics."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..errors import TrialsError
from .arrow_columns import is_list

if TYPE_CHECKING:
    from ..references import ReferenceScorer
    from .rows import Scores


def score_rows(scorer: ReferenceScorer, answers: Any, columns: Sequence[Any], *, skip_missing: bool) -> Scores:
    """The scores of each answer; with `skip_missing`, NaN for rows without an answer or without references."""
    import numpy as np

    if not skip_missing and len(columns) == 1 and _is_arrow_list(columns[0]):
        table = scorer.score(answers, columns[0])
        return {name: table[name] for name in scorer.columns}
    texts, references = values_of(answers), _joined(columns)
    rows = [
        row
        for row, (text, some) in enumerate(zip(texts, references, strict=True))
        if not skip_missing or (text is not None and some)
    ]
    try:
        table = scorer.score([texts[row] for row in rows], [references[row] for row in rows])
    except TrialsError as error:
        row = None if error.row is None else rows[error.row]
        raise TrialsError(error.problem, column=error.column, row=row) from None
    scores = {}
    for name in scorer.columns:
        scores[name] = np.full(len(texts), np.nan)
        scores[name][rows] = table[name]
    return scores


def values_of(column: Any) -> Sequence[Any]:
    """The values of a column of Arrow, polars or Python."""
    if hasattr(column, "to_pylist"):
        return list(column.to_pylist())
    return list(column.to_list()) if hasattr(column, "to_list") else list(column)


def _is_arrow_list(column: Any) -> bool:
    return hasattr(column, "to_pylist") and is_list(column.type)


def _joined(columns: Sequence[Any]) -> list[list[Any]]:
    """The references of each row, from all columns."""
    parts = [[_listed(value, row) for row, value in enumerate(values_of(column))] for column in columns]
    return parts[0] if len(parts) == 1 else [list(chain(*of_row)) for of_row in zip(*parts, strict=True)]


def _listed(value: Any, row: int) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Sequence) or hasattr(value, "tolist"):
        return list(value)
    raise TrialsError(f"expected a list of texts, not {type(value).__name__}", column="references", row=row)
