"""YAML in block style with quoted texts, for which the base installation needs no package.

A text is written as in JSON, which YAML reads too; what YAML would not accept in it is escaped.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..files.untrusted_text import utf8

_PLAIN_KEY = re.compile(r"[a-z][a-z_\-]*[a-z]", re.IGNORECASE)
_WORDS = {"yes", "no", "on", "off", "true", "false", "null"}  # which YAML 1.1 does not read as texts


def yaml_text(value: Any) -> str:
    """A mapping or a list as YAML, which ends with a line break."""
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _member(f"{_key(key)}:", inner, in_list=False)
    elif isinstance(value, (list, tuple)) and value:
        for inner in value:
            yield from _member("-", inner, in_list=True)
    else:
        yield _scalar(value)


def _member(head: str, value: Any, *, in_list: bool) -> Iterator[str]:
    first, *others = _lines(value)
    is_nested = isinstance(value, (Mapping, list, tuple)) and len(value) > 0
    if is_nested and not in_list:
        yield head
        yield f"  {first}"
    else:
        yield f"{head} {first}"
    yield from (f"  {line}" for line in others)


def _key(key: Any) -> str:
    is_plain = isinstance(key, str) and _PLAIN_KEY.fullmatch(key) and key.lower() not in _WORDS
    return str(key) if is_plain else _scalar(key)


def _scalar(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return ".nan" if math.isnan(value) else f"{'-' if value < 0 else ''}.inf"
        text = repr(value)  # YAML 1.1 reads `1e-05` as a text
        return text if "." in text else text.replace("e", ".0e")
    if isinstance(value, datetime.date):  # from a card
        return value.isoformat()
    if isinstance(value, (int, list, tuple, Mapping)):
        return json.dumps(value)
    quoted = json.dumps(utf8(str(value)).decode(), ensure_ascii=False)
    return "".join(character if character.isprintable() else _escape(character) for character in quoted)


def _escape(character: str) -> str:
    code_point = ord(character)
    return f"\\u{code_point:04x}" if code_point <= 0xFFFF else f"\\U{code_point:08x}"
