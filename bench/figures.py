"""The figures of a measure, as rows of the table: each with its requirement, its target, and whether they are met."""

from __future__ import annotations

from dataclasses import asdict, dataclass
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
        must: The requirement, such as `value <= 20` (of that unit) or `ratio >= 1.5`.
        aim: The target, likewise.
        note: The reason for a missing value.
    """

    what: str
    value: float | None
    unit: str = ""
    ratio: float | None = None
    to: str = ""
    must: str = ""
    aim: str = ""
    note: str = ""

    def met(self, bound: str) -> bool | None:
        """Whether a bound of this row holds; None if there is no bound or no figure."""
        if not bound:
            return None
        of, sign, number = bound.split()
        figure, limit = self.value if of == "value" else self.ratio, float(number.replace(",", ""))
        return None if figure is None else figure >= limit if sign == ">=" else figure <= limit

    @property
    def missed(self) -> bool:
        """Whether the requirement is missed; a figure that could not be measured misses it."""
        return bool(self.must) and not self.met(self.must)

    def as_json(self) -> dict[str, Any]:
        """The row for the JSON of a benchmark; the last two of its fields are for other readers."""
        return {**asdict(self), "must_met": self.met(self.must), "aim_met": self.met(self.aim)}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Row:
        """The row that was written."""
        return cls(**{name: row[name] for name in cls.__dataclass_fields__})
