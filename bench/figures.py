"""The figures of a measurement, as rows of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        what: What was measured.
        value: The figure; None where it could not be measured.
        unit: The unit of the value.
        ratio: The value relative to that of another side, which ran in turns with it.
        to: The other side.
        note: The reason for a missing value.
    """

    what: str
    value: float | None
    unit: str = ""
    ratio: float | None = None
    to: str = ""
    note: str = ""

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Row:
        """The row that was written."""
        return cls(**{name: row[name] for name in cls.__dataclass_fields__})
