"""Plans: lists of perturbations, each of which is a kind with a degree.

The usual plan, the plans of the DHP benchmark's data sets (arXiv 2408.13704), and selected perturbations.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import Any

from ...base.errors import DiscernmentError
from ...base.untrusted_text import in_one_line
from .discernment_items import CollectionItem
from .kinds import ALIASES, KINDS, LADDERS, MODEL_DEGREES, Kind, Level, Perturbation, plain, rule_of, unknown

USUAL = "usual"
"""The name of the usual plan."""

_FACTS = Path(__file__).parents[2] / "data" / "discernment"
_PERMILLE = re.compile(r"[1-9][0-9]{0,3}")
_PERCENT = re.compile(r"([0-9]{1,3})(?:\.([0-9]))?%")
_K = re.compile(r"k([1-9][0-9]{0,8})")
_MAX_K = 10**6
_WHOLE = {name for name, kind in KINDS.items() if kind.method == "rule" and not kind.has_degrees}


@dataclass(frozen=True)
class Plan:
    """The perturbations of a collection, in the order in which they are reported.

    Attributes:
        perturbations: The perturbations, kind by kind, in ascending order of degrees.
        name: The name of the plan.
        notes: Notes on the plan for readers of the results, one sentence each.
    """

    perturbations: tuple[Perturbation, ...]
    name: str = "own"
    notes: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds, in order."""
        return tuple(dict.fromkeys(change.kind for change in self.perturbations))

    def hash(self, *, tables: str, model_texts: Mapping[str, Sequence[str | None]] = {}) -> str:
        """A SHA-256 of everything that determines the damaged texts, except for the items and the seed.

        Args:
            tables: The hash of the tables of the rules.
            model_texts: The texts that a model made: by name of the perturbation, in the order of the items' IDs.
        """
        own = sorted(self.perturbations, key=lambda change: change.name)
        parts = [[change.name, change.permille, change.k, change.level, change.method] for change in own]
        content = [parts, tables, None, sorted((name, list(texts)) for name, texts in model_texts.items())]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def with_given(self, items: Iterable[CollectionItem]) -> Plan:
        """Adds the perturbations whose texts come with items; they replace perturbations with the same name."""
        names = {name: None for item in items for name in item.perturbed}
        if not names:
            return self
        # A kind with a single degree may be named without it.
        own = [change for change in self.perturbations if change.kind not in names or change.rule not in _WHOLE]
        by_name = {change.name: change for change in self.perturbations}
        added = [replace(by_name[name], method="given") if name in by_name else given(name) for name in names]
        unknown_kinds = dict.fromkeys(change.kind for change in added if change.rule not in KINDS)
        notes = (f"The kind {kind} is unknown, so it counts as damage to words." for kind in unknown_kinds)
        return replace(self, perturbations=ordered([*own, *added]), notes=(*self.notes, *notes))


def given(name: str, level: Level | None = None) -> Perturbation:
    """Makes the perturbation of texts that come with items, or of scores that come with a table."""
    kind, _, degree = name.partition("/")
    known = KINDS.get(rule_of(kind))
    permille, k = _amounts(degree)
    permille = permille if permille and permille <= 1000 else None
    return Perturbation(kind, degree, permille, k, level or (known.level if known else "word"), "given")


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
    unit, high = ("k", _MAX_K) if permille is None else ("permille", 1000)
    if not isinstance(amount, Integral) or isinstance(amount, bool) or not 1 <= int(amount) <= high:
        shown = in_one_line(repr(amount), 40)
        raise DiscernmentError(f"{kind}: {unit} {shown}: expected a whole number from 1 to {high}")
    return int(amount)


def perturbations_named(name: str) -> tuple[Perturbation, ...]:
    """The perturbations that a name stands for: a kind with its degree, or a kind with all its usual degrees."""
    kind, _, degree = name.partition("/")
    known = kind_named(kind)
    if known.method == "model":
        return tuple(perturbation(kind, degree=part) for part in ([degree] if degree else known.model_degrees))
    if not degree and known.has_degrees:
        return tuple(perturbation(kind, permille=permille) for permille in LADDERS[known.ladder or ""])
    permille, k = _amounts(degree)
    if degree and permille is None and k is None:
        shown = in_one_line(repr(degree), 40)
        raise DiscernmentError(f"{in_one_line(name, 60)}: expected a degree such as 3% or k5, not {shown}")
    return (perturbation(kind, permille=permille, k=k),)


def _amounts(degree: str) -> tuple[int | None, int | None]:
    """The per mille or the number of sites that the name of a degree stands for."""
    if percent := _PERCENT.fullmatch(degree):
        degree = str(int(percent[1] + (percent[2] or "0")))
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
    return Plan(perturbations, USUAL).with_given(items)


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


@cache
def paper_facts(name: str) -> list[Mapping[str, str]]:
    """The rows of a packaged table of the paper: `perturbations` or `datasets`."""
    with (_FACTS / f"paper-{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def paper_plan(dataset: str) -> Plan:
    """The perturbations of a data set of the paper; a single degree is called `minor`."""
    rows = [row for row in paper_facts("perturbations") if row["dataset"] == dataset]
    return Plan(tuple(map(_planned, rows)), f"paper: {dataset}")


def _planned(row: Mapping[str, str]) -> Perturbation:
    kind, degree, k = row["kind"], "minor" if row["degree"] == "single" else row["degree"], row["k"]
    if row["method"] == "model":
        return perturbation(kind, degree=degree)
    if not kind_named(kind).has_degrees:
        return perturbation(kind)
    is_whole = k == "all"
    return perturbation(kind, permille=1000 if is_whole else None, k=None if is_whole else int(k), degree=degree)


def open_plan(
    source: Plan | str = USUAL, items: Iterable[CollectionItem] = (), *, kinds: Sequence[str] | None = None
) -> Plan:
    """Opens a plan, or a part of it, and adds the perturbations whose texts come with the items.

    Args:
        source: `usual`, the name of a data set of the paper (such as `SummEval`), or an opened plan.
        items: The items.
        kinds: Kinds, or perturbations such as `char_delete/30`, also if the plan lacks them; by default the whole plan.

    Raises:
        DiscernmentError: There is no such plan, kind or degree.

    Example:
        >>> open_plan("summeval").name, len(open_plan("summeval").perturbations)
        ('paper: SummEval', 12)
        >>> [change.name for change in open_plan(kinds=["negate/500", "newline"]).perturbations]
        ['negate/500', 'newline']
    """
    datasets = {plain(row["dataset"]): row["dataset"] for row in paper_facts("datasets")}
    if isinstance(source, Plan):
        plan = source
    elif source == USUAL:
        plan = usual_plan(items)
    elif plain(source) in datasets:
        plan = paper_plan(datasets[plain(source)]).with_given(items)
    else:
        raise unknown("plan", source, [USUAL, *datasets.values()])
    if kinds is None:
        return plan
    selected = ordered(change for kind in kinds for change in _named(kind, plan))
    if not selected:
        raise DiscernmentError("the plan is empty; expected at least one perturbation")
    return plan if selected == plan.perturbations else Plan(selected, f"{plan.name}, changed", plan.notes)


def _named(name: str, plan: Plan) -> Iterable[Perturbation]:
    """The perturbations of the plan that a name stands for, or else the kind with its usual degrees."""
    own = [change for change in plan.perturbations if name in (change.name, change.kind)]
    if not own and rule_of(name.partition("/")[0]) not in KINDS:
        raise unknown("kind", name, dict.fromkeys([*KINDS, *ALIASES, *plan.kinds]))
    return own or perturbations_named(name)
