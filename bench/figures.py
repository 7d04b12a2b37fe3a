"""The figures of a measurement, as rows of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One figure."""

    what: str
    value: float | None  # None where it could not be measured
    unit: str = ""
    ratio: float | None = None  # the value relative to that of another side, which ran in turns with it
    to: str = ""  # the other side
    note: str = ""  # the reason for a missing value

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Row:
        return cls(**{name: row[name] for name in cls.__dataclass_fields__})
