"""The interface between readers and writers of tables: column names and batches of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ..base.errors import TrialsError
from ..base.untrusted_text import did_you_mean
from .text_form import TextForm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STANDARD_STREAM = "-"
"""The name of stdin or stdout."""


@dataclass(frozen=True)
class Columns:
    """The names of the columns to read and of the columns to add."""

    inputs: tuple[str, ...]  # columns to read, in the order of the arguments of the scorer
    answer: str  # the input with the answers
    scores: tuple[str, ...]
    optional: tuple[str, ...] = ()  # inputs that may be missing in some rows
    lists: tuple[str, ...] = ()  # inputs that may contain lists of texts

    def check_row(self, row: Mapping[str, Any], location: str) -> None:
        """Raises TrialsError if the keys of a row are not as expected."""
        if not all(name in row for name in self._required) or any(name in row for name in self.scores):
            self._check(list(row), self._required, location)

    def check(self, names: Sequence[str], location: str) -> None:
        """Raises TrialsError if these columns are not as expected."""
        self._check(names, self.inputs, location)

    @cached_property
    def _required(self) -> tuple[str, ...]:
        return tuple(name for name in self.inputs if name not in self.optional)

    def _check(self, names: Sequence[str], needed: tuple[str, ...], location: str) -> None:
        for name in needed:
            if name not in names:
                there = ", ".join(map(repr, names)) or "no columns"
                raise TrialsError(f"{location}: no column {name!r}; there are {there}{did_you_mean(name, names)}")
        for name in self.scores:
            if name in names:
                raise TrialsError(
                    f"{location}: there is already a column {name!r}, the name of a score; rename or drop it"
                )
        for name, times in Counter(names).items():
            if times > 1:
                raise TrialsError(f"{location}: the column {name!r} appears {times} times")


class AnyColumns(Columns):
    """Accepts any columns."""

    def check_row(self, row: Mapping[str, Any], location: str) -> None:
        """Accepts the row."""

    def check(self, names: Sequence[str], location: str) -> None:
        """Accepts the columns."""


class ChosenColumns(AnyColumns):
    """Accepts any columns, each once. A format of columns reads only `inputs`, or all columns if there are none."""

    def check(self, names: Sequence[str], location: str) -> None:
        """Raises TrialsError if a column appears twice."""
        self._check(names, (), location)


class RowBatch(Protocol):
    """A batch of rows of a table, in the form in which they were read."""

    def __len__(self) -> int: ...

    @property
    def form(self) -> TextForm | None:
        """The encoding and line ends of the file, if it is CSV or TSV."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""

    def location(self, row: int | None) -> str:
        """The location of a row for messages: its line, or its row (from 1) and row group (from 0)."""

    def values(self, column: str) -> Any:
        """A column for the scorer."""

    def lists(self, column: str) -> Any:
        """A column of lists of texts for the scorer, in which a text is a list of one text."""

    def rows(self) -> list[dict[str, Any]]:
        """The rows, with values in the types of JSON (or NaN, infinity)."""

    def schema(self) -> Any:
        """The Arrow schema of the columns."""

    def arrays(self, schema: Any) -> list[Any]:
        """The columns as Arrow arrays of the types in `schema`."""

    def only(self, passing: NDArray[np.bool_]) -> RowBatch:
        """The rows for which `passing` is true."""


RowBatches = Generator[RowBatch, None, None]
Scores = Mapping[str, "NDArray[np.float64]"]
"""Columns of scores by name, in order, with NaN for missing scores."""
Write = Callable[[RowBatch, Scores], None]
