"""Checks that rows are about the items of a sheet, and that their decisions are among those that its page offers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..files.untrusted_json import Fault, any_object, items, member, or_none, text, unexpected
from ..files.untrusted_text import in_one_line
from .rows import KINDS, Kind
from .sheets import Sheet, row_of

_DECIDED: Mapping[Kind, tuple[str, ...]] = {
    "mark": ("verdicts", "overall"),
    "pair": ("choice",),
    "judgement": ("question", "is_reasonable"),
    "vote": ("metric",),
}


def rows_on(sheet: Sheet) -> Callable[[Any], list[Mapping[str, Any]]]:
    """A check of rows: each is about another item of the sheet, or another question of a judgement."""
    of_items = {_about(row_of(item)): _checks(item, sheet) for item in sheet.items}
    kind_of = _among(KINDS)

    def check(value: Any) -> list[Mapping[str, Any]]:
        seen: set[tuple[str, Any]] = set()

        def row(each: Any) -> Mapping[str, Any]:
            found = any_object(each)
            member(found, "kind", kind_of)
            about = _about(found)
            if about not in of_items:
                raise Fault(f"expected an item of the sheet, not {in_one_line(about, 200)}")
            for name, is_allowed in of_items[about].items():
                member(found, name, is_allowed)
            member(found, "comment", text, "")
            member(found, "unclear", _among((True, False)), False)
            if (about, found.get("question")) in seen:
                raise Fault("expected one row about the item, or about each question of a judgement")
            seen.add((about, found.get("question")))
            return found

        return list(items(value, row))

    return check


def _about(row: Mapping[str, Any]) -> str:
    """What a row is about: all of it except decisions."""
    said = (*_DECIDED[row["kind"]], "comment", "unclear")
    return json.dumps({name: value for name, value in row.items() if name not in said}, sort_keys=True)


def _checks(item: Mapping[str, Any], sheet: Sheet) -> dict[str, Callable[[Any], Any]]:
    """The check of each decision about an item."""
    level = or_none(_among([level["value"] for level in sheet.levels]))

    def verdicts(value: Any) -> Any:
        found, n_questions = items(value, level), len(item["questions"])
        if len(found) != n_questions:
            raise Fault(f"expected {n_questions} verdicts, not {len(found)}")
        return found

    checks: dict[str, Callable[[Any], Any]] = {
        "verdicts": verdicts,
        "overall": or_none(_among(range(11))),
        "choice": or_none(_among(("first", "second", "tie"))),
        "question": _among([verdict["question"] for verdict in item.get("verdicts", ())]),
        "is_reasonable": or_none(_among((True, False))),
        "metric": or_none(_among([metric["name"] for metric in item.get("metrics", ())])),
    }
    return {name: checks[name] for name in _DECIDED[item["kind"]]}


def _among(allowed: Iterable[Any]) -> Callable[[Any], Any]:
    """A check that a value is one of some values; true is not 1."""

    def check(value: Any) -> Any:
        if not any(value == known and isinstance(value, bool) == isinstance(known, bool) for known in allowed):
            raise unexpected(f"one of {', '.join(map(json.dumps, allowed))}", value)
        return value

    return check
