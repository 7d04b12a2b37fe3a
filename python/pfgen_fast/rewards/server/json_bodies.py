"""JSON bodies, decoded strictly, so that mistakes in training programs are reported."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ...base.untrusted_text import in_one_line
from .limits import MAX_VALUES, Refusal

Check = Callable[[Any, str], int]
"""Raises Refusal if the value of a key has a wrong type; returns the number of texts in the value."""

_ESCAPED = re.compile(rb'\\[\\"]')  # matches escaped backslashes too, so that these do not escape a quotation mark


def decoded(
    body: bytes, keys: Mapping[str, Check], optional: Mapping[str, Check] = MappingProxyType({})
) -> dict[str, Any]:
    """The checked values of an object with these keys and no other keys. A duplicate key is refused."""
    import orjson

    if len(body) >= MAX_VALUES and sum(map(body.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise Refusal(413, f"more than {MAX_VALUES:,} commas and brackets, which is the limit; send smaller batches")
    expected = ", ".join(map(repr, keys)) + (f"; optional: {', '.join(map(repr, optional))}" if optional else "")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as problem:
        raise Refusal(400, f"the body is not JSON in UTF-8: {in_one_line(problem.msg)} (byte {problem.pos})") from None
    if not isinstance(value, dict):
        raise Refusal(400, f"expected a JSON object with {expected}")
    for key in value:
        if key not in keys and key not in optional:
            raise Refusal(400, f"unknown key '{in_one_line(key, 40)}'; expected {expected}")
    for key in keys:
        if key not in value:
            raise Refusal(400, f"the key {key!r} is missing; expected {expected}")
    checks = {**optional, **keys}
    n_texts = sum(checks[key](member, key) for key, member in value.items())
    if _n_texts(body) != len(value) + n_texts:  # orjson keeps only the last value of a duplicate key
        raise Refusal(400, f"a key appears twice; expected each key once: {expected}")
    return value


def text_or_texts(value: Any, key: str) -> int:
    """Checks a text or a list of texts."""
    return 1 if isinstance(value, str) else texts(value, key)


def texts(value: Any, key: str) -> int:
    """Checks a list of texts."""
    return len(_items(value, key, str, "a text", "a list of texts"))


def lists_of_texts(value: Any, key: str) -> int:
    """Checks a list of lists of texts."""
    lists = _items(value, key, list, "a list of texts", "a list of lists of texts")
    return sum(texts(list_of_texts, f"{key}[{place}]") for place, list_of_texts in enumerate(lists))


def booleans(value: Any, key: str) -> int:
    """Checks a list of truth values, which has no texts."""
    return 0 * len(_items(value, key, bool, "a truth value", "a list of truth values"))


def integers(value: Any, key: str) -> int:
    """Checks a list of integers, which has no texts."""
    return 0 * len(_items(value, key, int, "an integer", "a list of integers"))


def _items(value: Any, key: str, kind: type, item: str, items: str) -> list[Any]:
    if not isinstance(value, list):
        raise Refusal(400, f"{key}: expected {items}, not {_kind(value)}")
    if not set(map(type, value)) <= {kind}:
        place = next(place for place, member in enumerate(value) if type(member) is not kind)
        raise Refusal(400, f"{key}[{place}]: expected {item}, not {_kind(value[place])}")
    return value


def _n_texts(body: bytes) -> int:
    """The number of keys and texts in a valid document: half the number of quotation marks that are not escaped."""
    n_escaped = sum(escaped[0] == rb"\"" for escaped in _ESCAPED.finditer(body))
    return (body.count(b'"') - n_escaped) // 2


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
