"""Bodies of JSON: decoded strictly, because a trainer that sends something else by mistake should hear of it."""

from __future__ import annotations

import re
from typing import Any

from ..files.foreign_text import in_one_line
from .limits import MAX_VALUES, Refusal

# In a text, a quotation mark has a backslash before it, so this finds the ends of keys.
_END_OF_KEY = re.compile(rb'(?<!\\)"[ \t\r\n]*:')


def decoded(body: bytes, keys: tuple[str, ...]) -> list[Any]:
    """The values of an object that has exactly these keys, and no other objects in it.

    Raises:
        Refusal: It is something else.

    Example:
        >>> decoded(b'{"answers": ["It floats."], "questions": "Q07"}', ("questions", "answers"))
        ['Q07', ['It floats.']]
        >>> decoded(b'{"answers": [], "answers": []}', ("answers",))
        Traceback (most recent call last):
        pfgen_fast.serving.limits.Refusal: a key appears twice, or an object is among the texts; expected once 'answers'
    """
    import orjson

    if len(body) >= MAX_VALUES and sum(map(body.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise Refusal(413, f"more than {MAX_VALUES:,} commas and brackets, which is the limit; send smaller batches")
    expected = ", ".join(map(repr, keys))
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as problem:
        raise Refusal(400, f"the body is not JSON in UTF-8: {in_one_line(problem.msg)} (byte {problem.pos})") from None
    if not isinstance(value, dict):
        raise Refusal(400, f"the body is no JSON object; expected one with {expected}")
    for key in value:
        if key not in keys:
            raise Refusal(400, f"unknown key '{in_one_line(key, 40)}'; expected {expected}")
    for key in keys:
        if key not in value:
            raise Refusal(400, f"the key {key!r} is missing; expected {expected}")
    if _n_keys(body) != len(keys):
        raise Refusal(400, f"a key appears twice, or an object is among the texts; expected once {expected}")
    return [value[key] for key in keys]


def _n_keys(body: bytes) -> int:
    """How many keys a valid document has, in all of its objects."""
    return sum(1 for _ in _END_OF_KEY.finditer(body))


def texts(value: Any, key: str) -> list[str]:
    """A list of texts.

    Raises:
        Refusal: It is something else; the message names the place.

    Example:
        >>> texts(["It floats.", None], "answers")
        Traceback (most recent call last):
        pfgen_fast.serving.limits.Refusal: answers[1]: expected a text, not null
    """
    if not isinstance(value, list):
        raise Refusal(400, f"{key}: expected a list of texts, not {_kind(value)}")
    if not set(map(type, value)) <= {str}:
        place = next(place for place, item in enumerate(value) if not isinstance(item, str))
        raise Refusal(400, f"{key}[{place}]: expected a text, not {_kind(value[place])}")
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
