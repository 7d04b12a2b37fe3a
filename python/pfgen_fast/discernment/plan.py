"""What is done to each text: a plan lists perturbations, each of which is a kind with a degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .kinds import KINDS, Level, Method


@dataclass(frozen=True)
class Perturbation:
    """A kind of damage with its degree.

    Attributes:
        kind: The kind: a key of `KINDS`, or any name if the damaged texts come from elsewhere.
        degree: The name of the degree: the per mille (`30`), `k` and a number (`k5`), or as the paper has it (`minor`);
            empty for controls.
        permille: The share of a text's sites that is damaged, in per mille; None if the degree is absolute.
        k: The number of sites that are damaged; None if the degree is relative.
        level: What is damaged.
        method: What makes the damaged texts; `given` if they come with the items or with a table of scores.
    """

    kind: str
    degree: str = ""
    permille: int | None = None
    k: int | None = None
    level: Level = "word"
    method: Method | Literal["given"] = "rule"

    @property
    def name(self) -> str:
        """The kind and, if there is one, the degree: `char_delete/30`."""
        return f"{self.kind}/{self.degree}" if self.degree else self.kind

    @property
    def is_control(self) -> bool:
        """Whether the change should not matter."""
        return self.level == "control"


@dataclass(frozen=True)
class Plan:
    """The perturbations of a collection, in the order in which they are reported.

    Attributes:
        perturbations: The perturbations; those of a kind follow one another, by rising degree.
        name: The name of the plan.
    """

    perturbations: tuple[Perturbation, ...]
    name: str = "own"

    def of_kind(self, kind: str) -> tuple[Perturbation, ...]:
        """The perturbations of one kind, by rising degree."""
        return tuple(one for one in self.perturbations if one.kind == kind)


def perturbation(kind: str, *, permille: int | None = None, k: int | None = None) -> Perturbation:
    """One perturbation of a kind that a rule makes.

    Example:
        >>> perturbation("char_delete", permille=30).name, perturbation("char_delete", k=5).name
        ('char_delete/30', 'char_delete/k5')
        >>> perturbation("newline").name
        'newline'
    """
    known = KINDS[kind]
    degree = "" if known.level == "control" else str(permille) if k is None else f"k{k}"
    return Perturbation(kind, degree, permille, k, known.level, known.method)
