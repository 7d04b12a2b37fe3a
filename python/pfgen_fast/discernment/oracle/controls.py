"""Changes that should not matter: `identity`, `newline`, `punctuation`, `width`."""

from __future__ import annotations

import re
import string

from ..kinds import Impossible
from .damage import Case, Damage
from .typing_errors import full_width

_WIDE_PUNCTUATION = str.maketrans("、。", "，．")
_WIDE_LETTERS = {ord(one): full_width(one) for one in string.ascii_letters + string.digits}
_QUOTES = {'"': "“”", "'": "‘’"}
_OPENING_BEHIND = re.compile(r"[\s(\[{]")


def identity(case: Case) -> Damage:
    """The same text."""
    return lambda _: case.reading.text


def newline(case: Case) -> Damage:
    """The text ends with a new line."""
    return lambda _: case.reading.text + "\n"


def punctuation(case: Case) -> Damage:
    """Other signs of the same meaning: commas and periods in Japanese, quotes in English."""
    reading = case.reading
    if reading.language == "ja":
        changed = reading.text.translate(_WIDE_PUNCTUATION)
    else:
        before = " " + reading.seen
        pairs = zip(reading.text, before, strict=False)
        changed = "".join(_curly(code_point, behind) for code_point, behind in pairs)
    return _if_changed(reading.text, changed)


def _curly(code_point: str, behind: str) -> str:
    if code_point not in _QUOTES:
        return code_point
    return _QUOTES[code_point][0 if _OPENING_BEHIND.match(behind) else 1]


def width(case: Case) -> Damage:
    """Letters and digits of ASCII are full width, in Japanese."""
    text = case.reading.text
    return _if_changed(text, text.translate(_WIDE_LETTERS) if case.reading.language == "ja" else text)


def _if_changed(text: str, changed: str) -> Damage:
    return lambda _: Impossible.NO_SITE if changed == text else changed
