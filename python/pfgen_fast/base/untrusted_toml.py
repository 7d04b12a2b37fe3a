"""Decodes untrusted TOML; each error is one sentence that names the file."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

from .errors import PfgenError
from .file_reading import read_stored
from .untrusted_json import MAX_DEPTH, Fault, any_object, checked
from .untrusted_text import in_one_line

_MAX_BYTES = 1 << 20
_MAX_KEY = 200
_MAX_INTEGER = (1 << 63) - 1
"""The largest integer that TOML requires; Python refuses to print much larger integers."""
_QUOTED = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|\'[^\'\n]*\'?'
_PART = rf"(?:[A-Za-z0-9_-]+|{_QUOTED})"
_MULTILINE = r'"""(?:[^\\]|\\.)*?(?:"""|\\?\Z)|\'\'\'.*?(?:\'\'\'|\Z)'
_KEY = re.compile(rf"{_MULTILINE}|#[^\n]*|({_PART}(?:[ \t]*\.[ \t]*{_PART})*)", re.DOTALL)
"""A key, or text that can contain the same characters; each scan of a text takes linear time."""


def read_toml(path: Path, *, error: type[PfgenError]) -> dict[str, Any]:
    """The content of a TOML file of at most 1 MiB."""
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    stored = read_stored(path, limit=_MAX_BYTES)
    try:
        text = stored.decode()
        if any(_n_dots(key[1] or "") > MAX_DEPTH for key in _KEY.finditer(text)):
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


def _n_dots(key: str) -> int:
    """The number of dots between the parts of a key."""
    return re.sub(_QUOTED, "", key).count(".") if key.count(".") > MAX_DEPTH else 0


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
