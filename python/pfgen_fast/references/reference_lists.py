"""Reads the references of a batch: a list for each answer."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..errors import TrialsError
from ..files.optional import optional
from ..files.untrusted_text import counted
from ..native import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_LIST = 0xFFFFFFFF
"""The number of a list that is missing."""

_EXPECTED = "expected a list of references for each answer"


@dataclass(frozen=True)
class ReferenceLists:
    """The texts of all lists, where each list begins, and the list of each row; equal lists may have one number."""

    texts: _core.TextColumn
    begins: NDArray[np.uint64]
    of_rows: NDArray[np.uint32]


def read_lists(source: Any, n_rows: int, nulls: Literal["error", "null"]) -> ReferenceLists:
    """Reads the references of `n_rows` answers; raises TrialsError."""
    if source is None or isinstance(source, (str, bytes, dict)):
        raise TrialsError(f"{_EXPECTED}, got {_kind(source)}", column="references")
    rows = _rows(source)
    if len(rows) != n_rows:
        problem = f"{counted(len(rows), 'list')} for {counted(n_rows, 'answer')}; {_EXPECTED}"
        raise TrialsError(problem, column="references")
    return _joined(rows, nulls)


def no_lists(n_rows: int) -> ReferenceLists:
    """One empty list for all rows, for metrics without references."""
    import numpy as np

    return ReferenceLists(_core.TextColumn([], "references"), np.zeros(2, np.uint64), np.zeros(n_rows, np.uint32))


def _rows(source: Any) -> list[Any]:
    """The lists of a column: a sequence, an array, or anything that exports Arrow."""
    if isinstance(source, list):
        return source
    if not hasattr(source, "tolist") and (
        hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")
    ):
        pyarrow = optional("pyarrow", extra="tables", needed_for="a column of references that is Arrow")
        array = pyarrow.chunked_array if hasattr(source, "__arrow_c_stream__") else pyarrow.array
        rows: list[Any] = array(source).to_pylist()
        return rows
    try:
        return list(source.tolist() if hasattr(source, "tolist") else source)
    except TypeError:
        raise TrialsError(f"{_EXPECTED}, got {_kind(source)}", column="references") from None


def _joined(rows: Sequence[Any], nulls: Literal["error", "null"]) -> ReferenceLists:
    import numpy as np

    texts: list[Any] = []
    begins, of_rows = [0], []
    numbers: dict[int, int] = {}  # a list that several rows share is read once; `rows` keeps all lists alive
    for row, given in enumerate(rows):
        number = numbers.get(id(given))
        if number is None:
            if given is None or given != given:
                if nulls == "error":
                    raise TrialsError("expected a list of references, got a null", column="references", row=row)
                number = NO_LIST
            else:
                texts += given if type(given) is list else _list(given, row)
                if len(texts) == begins[-1]:
                    problem = "expected at least one reference, got an empty list"
                    raise TrialsError(problem, column="references", row=row)
                number = len(begins) - 1
                begins.append(len(texts))
            numbers[id(given)] = number
        of_rows.append(number)
    lists = np.array(begins, np.uint64), np.array(of_rows, np.uint32)
    try:
        return ReferenceLists(_core.TextColumn(texts, "references"), *lists)
    except _core.BadRow as error:
        _, at, problem = error.args
        number = bisect_right(begins, at) - 1
        problem = f"reference {at - begins[number]}: {problem}"
        raise TrialsError(problem, column="references", row=of_rows.index(number)) from None


def _list(given: Any, row: int) -> list[Any]:
    if hasattr(given, "tolist"):
        given = given.tolist()
    if isinstance(given, (list, tuple)):
        return list(given)
    raise TrialsError(f"expected a list of references, got {_kind(given)}", column="references", row=row)


def _kind(value: object) -> str:
    return "None" if value is None else f"one {type(value).__name__}"
