"""The figures of a measure, as rows of the table: each with its requirement, its target, and whether they are met."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Bound:
    """A bound of the value or the ratio of a row."""

    of: Literal["value", "ratio"]
    sign: Literal[">=", "<="]
    number: float

    def holds(self, figure: float) -> bool:
        """Whether a figure satisfies the bound."""
        return figure >= self.number if self.sign == ">=" else figure <= self.number


def value(sign: Literal[">=", "<="], number: float) -> Bound:
    """A bound of the value of a row."""
    return Bound("value", sign, number)


def ratio(sign: Literal[">=", "<="], number: float) -> Bound:
    """A bound of the ratio of a row."""
    return Bound("ratio", sign, number)


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        what: What was measured.
        value: The figure; None where it could not be measured.
        unit: The unit of the value.
        ratio: The value relative to that of another side, which ran in turns with it.
        to: The other side.
        must: The requirement.
        aim: The target.
        note: The reason for a missing value.
    """

    what: str
    value: float | None
    unit: str = ""
    ratio: float | None = None
    to: str = ""
    must: Bound | None = None
    aim: Bound | None = None
    note: str = ""

    def met(self, bound: Bound | None) -> bool | None:
        """Whether a bound of this row holds; None if there is no bound or no figure."""
        figure = self.value if bound is None or bound.of == "value" else self.ratio
        return None if bound is None or figure is None else bound.holds(figure)

    @property
    def missed(self) -> bool:
        """Whether the requirement is missed; a figure that could not be measured misses it."""
        return self.must is not None and not self.met(self.must)

    def as_json(self) -> dict[str, Any]:
        """The row for the JSON of a benchmark."""
        return {**asdict(self), "must_met": self.met(self.must), "aim_met": self.met(self.aim)}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Row:
        """The row that was written."""
        bounds = {name: row[name] and Bound(**row[name]) for name in ("must", "aim")}
        others: dict[str, Any] = {name: row[name] for name in ("what", "value", "unit", "ratio", "to", "note")}
        return cls(**others, must=bounds["must"], aim=bounds["aim"])
