"""Converts the core's errors about columns of texts to `TrialsError`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from .errors import TrialsError
from .native import _core

COLUMN_ERRORS: tuple[type[Exception], ...] = (_core.BadRow, _core.BadColumn, _core.InvalidAnswer)


def raise_trials_error(error: Exception) -> NoReturn:
    """Raises the `TrialsError` for an error of one of the types in `COLUMN_ERRORS`."""
    row: int | None = None
    if isinstance(error, _core.BadRow):
        column, row, problem = error.args
    elif isinstance(error, _core.BadColumn):
        column, problem = error.args
    else:
        row, byte = error.args
        column, problem = "answers", f"invalid UTF-8 at byte {byte}"
    raise TrialsError(problem, column=column, row=row) from None


@contextmanager
def worded() -> Iterator[None]:
    """Converts `COLUMN_ERRORS` raised in the block to `TrialsError`."""
    try:
        yield
    except COLUMN_ERRORS as error:
        raise_trials_error(error)
