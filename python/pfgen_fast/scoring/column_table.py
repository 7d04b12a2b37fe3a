"""Base of the tables of scores: columns are attributes and items, and rows are dictionaries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..base.native import _core
from ..base.notebook import NotebookTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    Floats = NDArray[np.float64]


class ColumnTable(NotebookTable):
    """A table whose columns are attributes and items; most columns are floats."""

    _floats: dict[str, Floats]  # columns of floats, in order

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def rows(self, start: int, stop: int) -> Self:
        """The rows from `start` up to `stop` as a new table, without a copy."""

    def __getitem__(self, column: str) -> NDArray[Any]:
        try:
            return self._floats[column]
        except KeyError:
            raise KeyError(f"no column {column!r}; there are {', '.join(self.columns)}") from None

    def __getattr__(self, name: str) -> Floats:
        # Python calls this only for names that are not ordinary attributes.
        if not name.startswith("_") and name in self.columns:
            return self._floats[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yields rows as dictionaries from column to value."""
        values = zip(*(self[name].tolist() for name in self.columns), strict=True)
        return (dict(zip(self.columns, row, strict=True)) for row in values)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Exports the table to Arrow consumers; NaN becomes null, and contiguous columns are not copied."""
        import numpy as np

        columns = list(map(np.ascontiguousarray, self._floats.values()))
        return _core.export_stream(len(self), None, list(self._floats), columns)

    def __copy__(self) -> Self:
        return self.rows(0, len(self))

    def __deepcopy__(self, memo: object) -> Self:
        return self.rows(0, len(self))  # nothing in it changes

    def _columns(self) -> dict[str, Any]:
        return {name: self[name] for name in self.columns}

    def _described(self, is_scored: Any, names: Sequence[str]) -> str:
        """The number of answers, and the means of some columns."""
        if not is_scored.any():
            return f"{type(self).__name__}({len(self)} answers, none scored)"
        means = ", ".join(f"{name} {column[column == column].mean():.4f}" for name in names for column in [self[name]])
        return f"{type(self).__name__}({len(self)} answers{'; mean ' if names else ''}{means})"
