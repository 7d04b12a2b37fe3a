"""Checks that rows are about the items of a sheet, and that their decisions are among those that its page offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..files.untrusted_json import Fault, any_object, items, member, one_of, or_none, text
from ..files.untrusted_text import in_one_line
from .rows import DECIDED, KINDS, about
from .sheets import Sheet, row_of


def rows_on(sheet: Sheet) -> Callable[[Any], list[Mapping[str, Any]]]:
    """A check of rows: each is about another item of the sheet, or another question of a judgement."""
    of_items = {about(row_of(item)): _checks(item, sheet) for item in sheet.items}
    kind_of = one_of(KINDS)

    def check(value: Any) -> list[Mapping[str, Any]]:
        seen: set[tuple[str, Any]] = set()

        def row(each: Any) -> Mapping[str, Any]:
            found = any_object(each)
            member(found, "kind", kind_of)
            subject = about(found)
            if subject not in of_items:
                raise Fault(f"expected an item of the sheet, not {in_one_line(subject, 200)}")
            for name, is_allowed in of_items[subject].items():
                member(found, name, is_allowed)
            member(found, "comment", text, "")
            member(found, "unclear", one_of((True, False)), False)
            part = subject, found.get("question")
            if part in seen:
                raise Fault("expected one row about the item, or about each question of a judgement")
            seen.add(part)
            return found

        return list(items(value, row))

    return check


def _checks(item: Mapping[str, Any], sheet: Sheet) -> dict[str, Callable[[Any], Any]]:
    """The check of each decision about an item."""
    level = or_none(one_of([level["value"] for level in sheet.levels]))

    def verdicts(value: Any) -> Any:
        found, n_questions = items(value, level), len(item["questions"])
        if len(found) != n_questions:
            raise Fault(f"expected {n_questions} verdicts, not {len(found)}")
        return found

    checks: dict[str, Callable[[Any], Any]] = {
        "verdicts": verdicts,
        "overall": or_none(one_of(range(11))),
        "choice": or_none(one_of(("first", "second", "tie"))),
        "question": one_of([verdict["question"] for verdict in item.get("verdicts", ())]),
        "is_reasonable": or_none(one_of((True, False))),
        "metric": or_none(one_of([metric["name"] for metric in item.get("metrics", ())])),
    }
    return {name: checks[name] for name in DECIDED[item["kind"]]}
