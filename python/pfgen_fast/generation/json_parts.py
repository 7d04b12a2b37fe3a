"""Reads parts of decoded JSON from a server; a part that is missing or has another type becomes empty or None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base.untrusted_text import in_one_line

_MOST_TOKENS = 10**9  # larger reported numbers are ignored


def without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def merged(body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """A body with further members; objects with the same name are merged."""
    members = dict(body)
    for name, value in extra.items():
        ours = members.get(name)
        members[name] = merged(ours, value) if isinstance(ours, Mapping) and isinstance(value, Mapping) else value
    return members


def member_of(value: Any, *keys: str | int) -> Any:
    """The value at these keys and indices of decoded JSON; None if a key or index is missing."""
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def list_in(value: Any, *keys: str | int) -> list[Any]:
    """The list at these keys and indices of decoded JSON; empty if it is missing."""
    entries = member_of(value, *keys)
    return entries if isinstance(entries, list) else []


def texts_of(value: Any, kind: str | None = None) -> str:
    """A text, or the joined texts of a list of parts, optionally of one type; empty for other values."""
    if isinstance(value, str):
        return value
    texts = (member_of(part, "text") for part in list_in(value) if kind in (None, member_of(part, "type")))
    return "".join(text for text in texts if isinstance(text, str))


def tokens(value: Any) -> int:
    """A number of tokens that a server reports; 0 if it is invalid."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else 0


def error_text(error: Any) -> str:
    """The message of a decoded error, in one line."""
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        error = error["message"]
    return in_one_line(error, 300)
