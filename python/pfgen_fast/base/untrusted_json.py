"""Decodes and validates untrusted JSON and TOML, and writes JSON; each error names the location of the fault.

A check is a function that converts a decoded value or raises a `Fault`. `checked` converts the fault to an error that
contains the file and the location, such as `questions['Q01'].scores.fluency`.
"""

from __future__ import annotations

import importlib
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from .errors import PfgenError, TrialsError
from .file_reading import read_stored
from .native import _core, cached_property
from .untrusted_text import in_one_line, unknown_name, utf8

T = TypeVar("T")

MAX_NUMBER = 1e15
"""Larger numbers count as infinite, so that sums are always finite."""

MAX_JSON_BYTES = 1 << 24
"""Maximum size of a JSON file that is read completely; published results have half a megabyte."""

MAX_VALUES = 1_000_000
"""Maximum number of values in a JSON text; a value needs many times the memory of its text."""

MAX_DEPTH = 50
"""Maximum depth of nested values, so that code that writes or shows them does not exhaust the stack."""

_REQUIRED: Final[Any] = object()
_MAX_DIGITS = 4300
"""Python refuses to convert longer texts to integers, because the conversion takes quadratic time."""
_STRING_OR_NUMBER = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|-?[0-9][0-9.eE+-]*', re.DOTALL)

_MAX_TOML_BYTES = 1 << 20
_MAX_KEY = 200
_MAX_INTEGER = (1 << 63) - 1
"""The largest integer that TOML requires; Python refuses to print much larger integers."""
_QUOTED = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|\'[^\'\n]*\'?'
_PART = rf"(?:[A-Za-z0-9_-]+|{_QUOTED})"
_MULTILINE = r'"""(?:[^\\]|\\.)*?(?:"""|\\?\Z)|\'\'\'.*?(?:\'\'\'|\Z)'
_KEY = rf"{_MULTILINE}|#[^\n]*|({_PART}(?:[ \t]*\.[ \t]*{_PART})*)"
"""A key, or text that can contain the same characters; each scan of a text takes linear time."""


class Fault(Exception):
    """An unexpected value, and its location relative to the checked value."""

    def __init__(self, problem: str, *, number: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.number = number  # the text of the invalid number
        self.place = ""

    def inside(self, step: str) -> Fault:
        """The same fault, with its location relative to the enclosing value."""
        self.place = step + self.place
        return self

    def __str__(self) -> str:
        return f"{self.place.removeprefix('.')}: {self.problem}" if self.place else self.problem


def read_json(path: Path, *, error: type[PfgenError] = TrialsError, limit: int = MAX_JSON_BYTES) -> Any:
    """The value in a JSON file of at most `limit` bytes."""
    return parse_json(read_stored(path, limit=limit, error=error), str(path), error=error)


def parse_json(
    content: bytes | str,
    where: str,
    *,
    error: type[PfgenError] = TrialsError,
    parse_float: Callable[[str], float] | None = None,
) -> Any:
    """Decodes JSON, and refuses duplicate keys; NaN and infinities are accepted."""
    if _n_values(content) > MAX_VALUES:
        raise error(f"{where}: JSON of more than {MAX_VALUES:,} values, which is the limit")
    text = ""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        return json.loads(text, object_pairs_hook=unique, parse_float=parse_float)
    except UnicodeDecodeError as problem:
        before = problem.object[: problem.start]
        line = f", line {before.count(10) + 1}" if b"\n" in problem.object.rstrip() else ""
        reason = f"{line}: not UTF-8 (byte {problem.start}: {problem.reason})"
    except json.JSONDecodeError as problem:
        reason = f"{_position(text, problem.pos)}: not JSON: {problem.msg}"
    except RecursionError:
        reason = ": JSON nested too deeply"
    except Fault as fault:
        tokens = _STRING_OR_NUMBER.finditer(text) if fault.number else ()
        starts = (token.start() for token in tokens if token[0] == fault.number)
        reason = f"{next((_position(text, start) for start in starts), '')}: {fault}"
    except ValueError:  # Python refuses to convert it
        digits = re.search(f"(?<![0-9])[0-9]{{{_MAX_DIGITS + 1}}}", text)
        place = _position(text, digits.start()) if digits else ""
        reason = f"{place}: not JSON that can be read: an integer has more than {_MAX_DIGITS:,} digits"
    raise error(where + reason)


def _n_values(content: bytes | str) -> int:
    """An upper bound for the number of values: commas and brackets in strings count too. 0 for short content."""
    if len(content) < MAX_VALUES:
        return 0
    marks = (",", "[", "{", ":")
    return sum(content.count(mark) if isinstance(content, str) else content.count(mark.encode()) for mark in marks)


def _position(text: str, index: int) -> str:
    """A position for a message. The line is omitted if the text has only one line, because `where` contains it."""
    line = f", line {text.count(chr(10), 0, index) + 1}" if "\n" in text.rstrip() else ""
    return f"{line}, column {index - text.rfind(chr(10), 0, index)}"


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Makes an object from its members, for `json.loads`; raises a `Fault` if a key appears twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Fault(f"the key {in_one_line(repr(twice))} appears twice in one object")
    return members


def checked(value: Any, check: Callable[[Any], T], where: str, *, error: type[PfgenError] = TrialsError) -> T:
    """Returns `check(value)`, or raises an `error` with the location of the fault."""
    try:
        return check(value)
    except Fault as fault:
        raise error(f"{where}: {fault}") from None


def member(holder: Any, name: str, check: Callable[[Any], T], default: T = _REQUIRED) -> T:
    """Checks a member of an object; without a default, the member is required."""
    try:
        value = holder[name]
    except KeyError:
        if default is _REQUIRED:
            raise Fault(f"the key {name!r} is missing") from None
        return default
    except TypeError:
        raise unexpected("an object", holder) from None
    try:
        return check(value)
    except Fault as fault:
        raise fault.inside(f".{name}") from None


def keyed(checks: Mapping[str, Callable[[Any], Any]], *required: str) -> Callable[[Any], dict[str, Any]]:
    """A check of an object that has only the keys of `checks`, each of which checks its value."""

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise unexpected("an object", value)
        for key in value:
            if key not in checks:
                raise Fault(unknown_name("key", key, checks))
        return {key: member(value, key, checks[key]) for key in dict.fromkeys((*required, *value))}

    return check


def entries(value: Any, check: Callable[[Any], T]) -> dict[str, T]:
    """Checks the values of an object with arbitrary keys."""
    if not isinstance(value, dict):
        raise unexpected("an object", value)
    entries: dict[str, T] = {}
    key = ""
    try:
        for key, entry in value.items():
            entries[key] = check(entry)
    except Fault as fault:
        raise fault.inside(f"['{in_one_line(key)}']") from None
    return entries


def items(value: Any, check: Callable[[Any], T]) -> tuple[T, ...]:
    """Checks the items of a list."""
    if not isinstance(value, list):
        raise unexpected("a list", value)
    items: list[T] = []
    try:
        for item in value:
            items.append(check(item))
    except Fault as fault:
        raise fault.inside(f"[{len(items)}]") from None
    return tuple(items)


def or_none(check: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """A check that also accepts null."""
    return lambda value: None if value is None else check(value)


def one_of(known: Iterable[Any]) -> Callable[[Any], Any]:
    """A check that a value is one of the known strings, numbers or truths; true is not 1."""
    listed = list(known)

    def check(value: Any) -> Any:
        if value not in listed or isinstance(value, bool) != isinstance(listed[listed.index(value)], bool):
            names = (choice if isinstance(choice, str) else json.dumps(choice) for choice in listed)
            raise unexpected(f"one of {', '.join(names)}", value)
        return value

    return check


def text(value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise unexpected("a string", value)
    return value


def number(value: Any) -> float:
    """A number; null, and numbers that are not finite or exceed `MAX_NUMBER`, become NaN."""
    kind = type(value)
    if kind is float:
        return value if -MAX_NUMBER <= value <= MAX_NUMBER else math.nan
    if kind is int:
        return float(value) if -MAX_NUMBER <= value <= MAX_NUMBER else math.nan
    if value is None:
        return math.nan
    raise unexpected("a number", value)


def finite(value: Any) -> float:
    """A number that is finite and does not exceed `MAX_NUMBER`."""
    amount = number(value)
    if math.isnan(amount):
        raise unexpected("a number", value)
    return amount


def count(value: Any) -> int:
    """A whole number from 0 to `MAX_NUMBER`."""
    if type(value) is not int or not 0 <= value <= MAX_NUMBER:
        raise unexpected(f"a whole number from 0 to {MAX_NUMBER:.0e}", value)
    return value


def any_object(value: Any) -> dict[str, Any]:
    """An object with values of any shape, nested at most `MAX_DEPTH` deep."""
    if not isinstance(value, dict):
        raise unexpected("an object", value)
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer)]
        level = [inner for inner in level if isinstance(inner, (dict, list))]
        if not level:
            return value
    raise Fault(f"nested more than {MAX_DEPTH} deep")


def unexpected(expected: str, value: Any) -> Fault:
    """The fault for a value of another kind; the message contains the value, shortened and escaped."""
    if isinstance(value, dict):
        shown = "an object"
    elif isinstance(value, list):
        shown = "a list" if value else "an empty list"
    elif isinstance(value, str):
        shown = f"'{in_one_line(value, 40)}'"
    else:
        shown = in_one_line(json.dumps(value, default=str), 40)  # TOML also has dates
    return Fault(f"expected {expected}, not {shown}")


def read_toml(path: Path, *, error: type[PfgenError]) -> dict[str, Any]:
    """The content of a TOML file of at most 1 MiB."""
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    stored = read_stored(path, limit=_MAX_TOML_BYTES, error=error)
    try:
        text = stored.decode()
        for key in re.finditer(_KEY, text, re.DOTALL):
            if (key[1] or "").count(".") > MAX_DEPTH and re.sub(_QUOTED, "", key[1]).count(".") > MAX_DEPTH:
                raise RecursionError  # parsing would take quadratic time
        content = toml.loads(text)
    except UnicodeDecodeError as problem:
        raise error(f"{path}: not TOML: not UTF-8 (byte {problem.start}: {problem.reason})") from None
    except toml.TOMLDecodeError as problem:
        raise error(f"{path}: not TOML: {in_one_line(problem, 200)}") from None
    except RecursionError:
        raise error(f"{path}: not TOML that can be read: nested too deeply") from None
    except ValueError:  # Python refuses to convert it
        raise error(f"{path}: not TOML that can be read: an integer has thousands of digits") from None
    return checked(content, _showable, str(path), error=error)


def _showable(value: Any) -> dict[str, Any]:
    """Checks that the keys and integers of an object fit into an error message."""
    pending: list[tuple[str, Any]] = [("", any_object(value))]
    while pending:
        place, inner = pending.pop()
        if isinstance(inner, dict):
            for key in inner:
                if len(key) > _MAX_KEY:
                    raise Fault(f"the key {in_one_line(key, 40)} has more than {_MAX_KEY} characters").inside(place)
            pending.extend((f"{place}.{in_one_line(key)}", part) for key, part in inner.items())
        elif isinstance(inner, list):
            pending.extend((f"{place}[{index}]", part) for index, part in enumerate(inner))
        elif isinstance(inner, int) and not -_MAX_INTEGER <= inner <= _MAX_INTEGER:
            raise Fault("an integer of more than 64 bits").inside(place)
    return value  # type: ignore[no-any-return]


class WrittenJson(bytes):
    """The JSON of an object, which `json_bytes` inserts as it is."""

    @cached_property
    def decoded(self) -> dict[str, Any]:
        """The object."""
        return json.loads(self)  # type: ignore[no-any-return]


def json_bytes(value: Any, *, is_compact: bool = False) -> bytes:
    """Encodes a value in UTF-8 as `json.dumps(value, ensure_ascii=False, indent=2)` does.

    NumPy's arrays are lists. Compact JSON has no spaces, and null for a number that is not finite.
    """
    content = _core.json_bytes(value, WrittenJson, is_compact)
    if content is None:  # an unusual type, a lone surrogate, or many levels
        layout: Any = {"allow_nan": False, "separators": (",", ":")} if is_compact else {"indent": 2}
        content = utf8(json.dumps(value, ensure_ascii=False, default=_decoded, **layout))
    return content


def _decoded(part: Any) -> dict[str, Any]:
    if isinstance(part, WrittenJson):
        return part.decoded
    raise TypeError(f"Object of type {type(part).__name__} is not JSON serializable")
