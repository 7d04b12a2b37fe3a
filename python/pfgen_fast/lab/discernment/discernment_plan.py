"""Plans: lists of perturbations, each of which is a kind with a degree.

`plan_sources` opens plans, also those of the paper and of files, and selects parts of them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral
from typing import Any, Literal

from ...base.errors import DiscernmentError
from ...base.untrusted_text import in_one_line
from .discernment_items import CollectionItem
from .kinds import ALIASES, KINDS, LADDERS, MODEL_DEGREES, Kind, Level, Method, rule_of, unknown

Unit = Literal["permille", "k"]

_PERMILLE = re.compile(r"[1-9][0-9]{0,3}")
_K = re.compile(r"k([1-9][0-9]{0,8})")
_MAX_K = 10**6
_WHOLE = {name for name, kind in KINDS.items() if kind.method == "rule" and not kind.has_degrees}


@dataclass(frozen=True)
class Perturbation:
    """A kind of damage with its degree.

    Attributes:
        kind: The kind: a key of `KINDS` or of `ALIASES`, or any name if the damaged texts are given.
        degree: The name of the degree: the per mille (`30`), `k` and a number (`k5`), or the paper's name (`minor`);
            empty for controls.
        permille: The share of a text's sites that is damaged, in per mille; None if the degree is absolute.
        k: The number of sites that are damaged; None if the degree is relative.
        level: The level of the damage.
        method: The source of the damaged texts; `given` if they come with the items or with a table of scores.
        prompt: The prompt that asks a model for the texts, with placeholders; None for the packaged prompt.
    """

    kind: str
    degree: str = ""
    permille: int | None = None
    k: int | None = None
    level: Level = "word"
    method: Method | Literal["given"] = "rule"
    prompt: str | None = None

    @property
    def name(self) -> str:
        """The kind and the degree, if it has one: `char_delete/30`."""
        return f"{self.kind}/{self.degree}" if self.degree else self.kind

    @property
    def rule(self) -> str:
        """The key of `KINDS` that the kind stands for; the kind itself if it is unknown."""
        return rule_of(self.kind)

    @property
    def is_control(self) -> bool:
        """Whether the change should not matter."""
        return self.level == "control"


@dataclass(frozen=True)
class Plan:
    """The perturbations of a collection, in the order in which they are reported.

    Attributes:
        perturbations: The perturbations, kind by kind, in ascending order of degrees.
        name: The name of the plan.
        notes: Notes on the plan for readers of the results, one sentence each.
        analyser: The name and version of the analyser of Japanese texts; None for the rules.
    """

    perturbations: tuple[Perturbation, ...]
    name: str = "own"
    notes: tuple[str, ...] = ()
    analyser: str | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds, in order."""
        return tuple(dict.fromkeys(change.kind for change in self.perturbations))

    def hash(self, *, tables: str, outside_texts: Mapping[str, Sequence[str | None]] = {}) -> str:
        """A SHA-256 of everything that determines the damaged texts, except for the items and the seed.

        Args:
            tables: The hash of the tables of the rules.
            outside_texts: The texts of perturbations that depend on more than items, plan and seed: by name of the
                perturbation, in the order of the items' IDs.
        """
        own = sorted(self.perturbations, key=lambda change: change.name)
        parts = [[change.name, change.permille, change.k, change.level, change.method] for change in own]
        parts += [[change.name, "prompt", change.prompt] for change in own if change.prompt is not None]
        content = [parts, tables, self.analyser, sorted((name, list(texts)) for name, texts in outside_texts.items())]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def with_given(self, items: Iterable[CollectionItem]) -> Plan:
        """Adds the perturbations whose texts come with items; they replace perturbations with the same name."""
        names = {name: None for item in items for name in item.perturbed}
        if not names:
            return self
        # A kind with a single degree may be named without it.
        own = [change for change in self.perturbations if change.kind not in names or change.rule not in _WHOLE]
        by_name = {change.name: change for change in self.perturbations}
        added = [_given(name, by_name.get(name)) for name in names]
        notes = tuple(
            f"The kind {change.kind} is unknown, so it counts as damage to words."
            for change in {
                change.kind: change for change in added if change.name not in by_name and change.rule not in KINDS
            }.values()
        )
        return replace(self, perturbations=ordered([*own, *added]), notes=(*self.notes, *notes))


def perturbation(
    kind: str, *, permille: int | None = None, k: int | None = None, degree: str | None = None
) -> Perturbation:
    """Makes one perturbation of a known kind."""
    known = kind_named(kind)
    if known.method == "model":
        if permille is not None or k is not None:
            raise DiscernmentError(f"{kind}: made by a model; expected neither permille nor k")
        if (degree or "") not in known.model_degrees:
            raise unknown(f"degree of {kind}", degree or "", [name or "none" for name in known.model_degrees])
        return Perturbation(kind, degree or "", level=known.level, method="model")
    if not known.has_degrees:
        if (permille, k) not in ((None, None), (1000, None)) or (known.ladder is None and permille):
            raise DiscernmentError(f"{kind}: the kind has no degrees; expected neither permille nor k")
        whole = None if known.ladder is None else 1000
        return Perturbation(kind, "" if whole is None else degree or str(whole), whole, None, known.level)
    amount_of(kind, permille, k)
    return Perturbation(kind, degree or (f"k{k}" if permille is None else str(permille)), permille, k, known.level)


def amount_of(kind: str, permille: int | None, k: int | None) -> int:
    """Checks the degree of a kind that needs a degree, and returns its per mille or number of sites."""
    if (permille is None) == (k is None):
        raise DiscernmentError(f"{kind}: expected either permille or k, not {'neither' if k is None else 'both'}")
    amount: Any = k if permille is None else permille
    whole = int(amount) if isinstance(amount, Integral) and not isinstance(amount, bool) else amount
    check_ladder((whole,), kind, "k" if permille is None else "permille")
    return int(whole)


def perturbations_named(name: str) -> tuple[Perturbation, ...]:
    """The perturbations that a name stands for: a kind with its degree, or a kind with all its usual degrees."""
    kind, _, degree = name.partition("/")
    known = kind_named(kind)
    if not degree:
        if known.method == "model":
            return tuple(perturbation(kind, degree=degree) for degree in known.model_degrees)
        return degrees_of(kind, LADDERS[known.ladder or ""], "permille") if known.has_degrees else (perturbation(kind),)
    if known.method == "model":
        return (perturbation(kind, degree=degree),)
    permille, k = _amounts(degree)
    if permille is None and k is None:
        shown = in_one_line(repr(degree), 40)
        raise DiscernmentError(f"{in_one_line(name, 60)}: expected a degree such as 30 (per mille) or k5, not {shown}")
    return (perturbation(kind, permille=permille, k=k),)


def _amounts(degree: str) -> tuple[int | None, int | None]:
    """The per mille or the number of sites that the name of a degree stands for."""
    permille, k = _PERMILLE.fullmatch(degree), _K.fullmatch(degree)
    return int(degree) if permille else None, int(k[1]) if k else None


def kind_named(name: str) -> Kind:
    """Finds a kind by its name, or by the paper's name."""
    known = KINDS.get(rule_of(name))
    if known is None:
        raise unknown("kind", name, [*KINDS, *ALIASES])
    return known


def usual_plan(items: Iterable[CollectionItem] = ()) -> Plan:
    """Makes the plan of all kinds that rules make, each with its ladder, and of the texts that come with the items.

    `wrong_ending` is left out unless an item has an alternative.

    Example:
        >>> plan = usual_plan()
        >>> len(plan.perturbations), [one.name for one in plan.perturbations if one.is_control]
        (95, ['identity', 'newline', 'punctuation', 'width'])
    """
    items = list(items)
    has_alternative = any(item.alternative is not None for item in items)
    kinds = [
        kind for kind in KINDS.values() if kind.method == "rule" and (kind.needs != "alternative" or has_alternative)
    ]
    perturbations = tuple(change for kind in kinds for change in perturbations_named(kind.name))
    return Plan(perturbations, "usual").with_given(items)


def degrees_of(kind: str, degrees: Sequence[int], unit: Unit) -> tuple[Perturbation, ...]:
    """Makes the perturbations of a kind with several degrees."""
    check_ladder(degrees, kind, unit)
    return tuple(perturbation(kind, **dict[str, Any]({unit: degree})) for degree in degrees)


def check_ladder(degrees: Sequence[int], where: str, unit: Unit) -> None:
    """Raises DiscernmentError if degrees are out of range or not ascending."""
    if not degrees:
        raise DiscernmentError(f"{where}: {unit}: expected at least one degree")
    high = 1000 if unit == "permille" else _MAX_K
    for degree in degrees:
        if type(degree) is not int or not 1 <= degree <= high:
            shown = in_one_line(repr(degree), 40)
            raise DiscernmentError(f"{where}: {unit} {shown}: expected a whole number from 1 to {high}")
    for low, next_one in pairwise(degrees):
        if next_one <= low:
            raise DiscernmentError(f"{where}: {unit}: expected ascending degrees, but {next_one} follows {low}")


def ordered(perturbations: Iterable[Perturbation]) -> tuple[Perturbation, ...]:
    """Groups perturbations by kind, in ascending order of degrees; of repeated names the last counts."""
    by_name = {change.name: change for change in perturbations}
    kinds = {kind: at for at, kind in enumerate(dict.fromkeys(change.kind for change in by_name.values()))}
    return tuple(sorted(by_name.values(), key=lambda change: (kinds[change.kind], *_rank(change))))


def _rank(change: Perturbation) -> tuple[int, int]:
    """The rank of a degree among the degrees of its kind; unknown names of degrees keep their order."""
    if change.degree in MODEL_DEGREES:
        return 2, MODEL_DEGREES.index(change.degree)
    if change.permille is not None:
        return 0, change.permille
    return (1, change.k) if change.k is not None else (3, 0)


def _given(name: str, planned: Perturbation | None) -> Perturbation:
    """Makes the perturbation of texts that come with items."""
    if planned is not None:
        return replace(planned, method="given", prompt=None)
    kind, _, degree = name.partition("/")
    known = KINDS.get(rule_of(kind))
    permille, k = _amounts(degree)
    level: Level = known.level if known else "word"
    return Perturbation(kind, degree, permille if permille and permille <= 1000 else None, k, level, "given")
