"""JSON bodies, decoded strictly, so that mistakes in training programs are reported."""

from __future__ import annotations

import re
from typing import Any

from ..files.untrusted_text import in_one_line
from .limits import MAX_VALUES, Refusal

_ESCAPED = re.compile(rb'\\[\\"]')  # matches escaped backslashes too, so that these do not escape a quotation mark


def decoded(body: bytes, keys: tuple[str, ...]) -> list[str | list[str]]:
    """The values of an object with exactly these keys: texts or lists of texts. A duplicate key is refused."""
    import orjson

    if len(body) >= MAX_VALUES and sum(map(body.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise Refusal(413, f"more than {MAX_VALUES:,} commas and brackets, which is the limit; send smaller batches")
    expected = ", ".join(map(repr, keys))
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as problem:
        raise Refusal(400, f"the body is not JSON in UTF-8: {in_one_line(problem.msg)} (byte {problem.pos})") from None
    if not isinstance(value, dict):
        raise Refusal(400, f"expected a JSON object with {expected}")
    for key in value:
        if key not in keys:
            raise Refusal(400, f"unknown key '{in_one_line(key, 40)}'; expected {expected}")
    for key in keys:
        if key not in value:
            raise Refusal(400, f"the key {key!r} is missing; expected {expected}")
    values = [_texts(value[key], key) for key in keys]
    n_values = sum(len(one) if isinstance(one, list) else 1 for one in values)
    if _n_texts(body) != len(keys) + n_values:  # orjson keeps only the last value of a duplicate key
        raise Refusal(400, f"a key appears twice; expected each key once: {expected}")
    return values


def in_list(value: str | list[str], key: str) -> list[str]:
    """A value that must be a list; raises Refusal if it is a text."""
    if isinstance(value, str):
        raise _no_list(value, key)
    return value


def _texts(value: Any, key: str) -> str | list[str]:
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise _no_list(value, key)
    if not set(map(type, value)) <= {str}:
        place = next(place for place, item in enumerate(value) if not isinstance(item, str))
        raise Refusal(400, f"{key}[{place}]: expected a text, not {_kind(value[place])}")
    return value


def _n_texts(body: bytes) -> int:
    """The number of keys and texts in a valid document: half the number of quotation marks that are not escaped."""
    n_escaped = sum(escaped[0] == rb"\"" for escaped in _ESCAPED.finditer(body))
    return (body.count(b'"') - n_escaped) // 2


def _no_list(value: Any, key: str) -> Refusal:
    return Refusal(400, f"{key}: expected a list of texts, not {_kind(value)}")


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
