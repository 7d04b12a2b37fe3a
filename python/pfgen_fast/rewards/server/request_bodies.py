"""The JSON of the server: bodies are decoded strictly, so that mistakes in training programs are reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...base.untrusted_json import parse_json
from ...base.untrusted_text import in_one_line
from .admission import Refusal

JSON = "application/json"

Kind = Any
"""The kind of a value: a type, `object` for any value, or a list of the kind of its items."""

_QUESTIONS = "questions"  # the only list that may be a text instead
_ITEMS = {str: "a text", bool: "a truth value", int: "an integer", dict: "an object"}
_LISTS = {str: "texts", bool: "truth values", int: "integers", object: "values"}
_TYPES = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}


@dataclass(frozen=True)
class Reply:
    """A reply."""

    content: bytes
    kind: str = JSON
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def decoded(
    body: bytes, keys: Mapping[str, Kind], optional: Mapping[str, Kind], *, is_open: bool = False
) -> dict[str, Any]:
    """The object in a body, with values of these kinds; only with `is_open`, it may have other keys."""
    expected = ", ".join(map(repr, keys)) + (f"; optional: {', '.join(map(repr, optional))}" if optional else "")
    value = parse_json(body, "the body")
    if not isinstance(value, dict):
        raise Refusal(400, f"expected a JSON object with {expected}")
    kinds = {**optional, **keys}
    for key in keys:
        if key not in value:
            raise Refusal(400, f"the key {key!r} is missing; expected {expected}")
    for key, item in value.items():
        if key in kinds:
            if key != _QUESTIONS or not isinstance(item, str):
                _check(item, kinds[key], key)
        elif not is_open:
            raise Refusal(400, f"unknown key '{in_one_line(key, 40)}'; expected {expected}")
    return value


def _check(value: Any, kind: Kind, place: str) -> None:
    """Raises Refusal for a value of another kind."""
    if isinstance(kind, list):
        [item] = kind
        if not isinstance(value, list):
            raise Refusal(400, f"{place}: expected {_named(kind)}, not {_TYPES.get(type(value), 'a number')}")
        if isinstance(item, list) or (item is not object and not set(map(type, value)) <= {item}):
            for row, part in enumerate(value):
                _check(part, item, f"{place}[{row}]")
    elif kind is not object and type(value) is not kind:
        raise Refusal(400, f"{place}: expected {_named(kind)}, not {_TYPES.get(type(value), 'a number')}")


def _named(kind: Kind) -> str:
    if not isinstance(kind, list):
        return _ITEMS[kind]
    return "a list of lists of texts" if isinstance(kind[0], list) else f"a list of {_LISTS[kind[0]]}"
