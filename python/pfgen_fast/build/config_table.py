"""A table of a build's config, whose values are checked when they are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, TypeVar

from ..base.errors import BuildError
from ..base.native import _core
from ..base.untrusted_text import did_you_mean, in_one_line, shown_value
from .answer_tables import check_pattern

T = TypeVar("T")

_NAME = re.compile(r"[^\W_][\w-]{0,63}")  # a valid file name on every system
_KINDS: Mapping[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}
_LEAST: Mapping[str, int] = {"target": 0}
_MOST: Mapping[str, int] = {"max_order": _core.__longest_ngram__}
_MOST_OF_ALL = 2**31 - 1  # the core counts with 32 bits
_KINDS_OF_LIMITS: Mapping[str, type] = {"proposals": int, "seconds": float}


@dataclass(frozen=True)
class ConfigTable:
    """A decoded table, and the place in the config that error messages name, such as `select.`."""

    content: Mapping[str, Any]
    where: str = ""

    def refuse_unknown(self, known: Sequence[str]) -> None:
        """Raises an error that names an unknown key and a similar known one."""
        for key in self.content:
            if key not in known:
                hint = did_you_mean(key, known, otherwise=f"; expected {', '.join(known)}")
                raise BuildError(f"{self.where}{in_one_line(key)}: unknown key{hint}")

    def value(self, key: str, kind: type[T], usual: T) -> T:
        """The value of a key, which must have this type; `usual` if the key is missing."""
        value = self.content.get(key, usual)
        if kind is float and type(value) is int:
            return float(value)  # type: ignore[return-value]
        if type(value) is not kind:
            raise BuildError(f"{self.where}{key}: expected {_KINDS[kind]}, not {shown_value(value)}")
        return value

    def one_of(self, key: str, choices: Sequence[str]) -> str:
        """One of the choices, the first by default."""
        value = self.value(key, str, choices[0])
        if value not in choices:
            raise BuildError(f"{self.where}{key}: expected {' or '.join(map(repr, choices))}, not {value!r}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty if the key is missing."""
        values = self.content.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise BuildError(f"{self.where}{key}: expected a list of texts, not {shown_value(values)}")
        return tuple(values)

    def patterns(self, key: str) -> tuple[str, ...]:
        """A list of regular expressions that RE2 accepts."""
        for index, pattern in enumerate(self.texts(key)):
            check_pattern(pattern, f"{self.where}{key}[{index}]")
        return self.texts(key)

    def table(self, key: str) -> ConfigTable:
        """An inner table; empty if the key is missing."""
        return ConfigTable(self.value(key, dict, {}), f"{self.where}{key}.")

    def file_lists(self, key: str) -> Mapping[str, tuple[str, ...]]:
        """Files or globs by the name of the set: a text, or a list of texts."""
        table = self.table(key)
        lists = {}
        for name, value in table.content.items():
            check_name(f"{table.where}{name}", name)
            paths = [value] if isinstance(value, str) else value
            if not isinstance(paths, list) or not paths or not all(isinstance(path, str) and path for path in paths):
                expected = "expected a file or glob, or a list of them"
                raise BuildError(f"{table.where}{name}: {expected}, not {shown_value(value)}")
            lists[name] = tuple(paths)
        return MappingProxyType(lists)

    def to(self, kind: Callable[..., T]) -> T:
        """Creates an object of a dataclass whose fields have the names of the keys."""
        known: dict[str, Any] = {field.name: field.default for field in fields(kind)}  # type: ignore[arg-type]
        self.refuse_unknown(tuple(known))
        return kind(**{key: self._in_range(key, known[key]) for key in self.content})

    def _in_range(self, key: str, usual: Any) -> Any:
        kind = _KINDS_OF_LIMITS[key] if usual is None else type(usual)
        value = self.value(key, kind, usual)
        least, most = _LEAST.get(key, 1), _MOST.get(key, _MOST_OF_ALL)
        if kind is float and not value > 0:
            raise BuildError(f"{self.where}{key}: expected a number above 0, not {value!r}")
        if kind is int and not least <= value <= most:
            limit = f"at least {least}" if value < least else f"at most {most:,}"
            raise BuildError(f"{self.where}{key}: expected {limit}, not {value!r}")
        return value


def check_name(where: str, name: str) -> None:
    """Checks a name that becomes part of a file name."""
    if not _NAME.fullmatch(name):
        raise BuildError(f"{where}: expected up to 64 letters, digits, '-' and '_', not {shown_value(name)}")
