"""Parses a judge's reply: a verdict for each question, or the reason why the reply is unusable.

Nothing is guessed from half a reply. A reply is untrusted, so it is parsed in linear time. Text that is nested too
deeply, or has numbers with too many digits, is unusable with every version of Python. A reply may quote the answer, and
an answer may contain verdicts. So in the profile `plain`, the first bracket begins the verdicts, the reply ends with
the verdicts, and no object in them has a key twice. The profile `upstream` uses the first text that parses.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

from .tasks import LEVELS, Profile

Fault = Literal["form", "number", "ids", "value"]
"""Why a reply is unusable: it is not a list of objects, has the wrong number of them, has unknown question IDs, or has
a verdict that is not a level. Checked in this order."""

_MAX_DEPTH = 500
"""How deep JSON may be nested; every version of Python can read this depth."""

_MAX_LITERAL_DEPTH = 100
_MAX_LITERAL_CHARACTERS = 1_000_000
_MAX_LITERAL_TOKENS = 20_000
"""Python's parser needs a kilobyte and 30 microseconds for each token."""

_MAX_DIGITS = 300
"""Longer whole numbers are read as floats, because Python converts long ones slowly, or not at all."""

_LEVEL_TOLERANCE = 1e-9
_HIGHEST_RATING = 10.0

_JSON_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)
_BRACKET = re.compile(r"[\[{]")
_LANGUAGE = re.compile(r"[\w.+#-]*")
_DIGITS = re.compile(r"\d{1,9}")
_NUMBER = re.compile(r"[-+]?(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eE][-+]?\d{1,3})?")

_LITERAL_TOKEN = re.compile(
    r"""
    (?P<blank> \s+ | \#[^\n]* )
    | (?P<text> [rRuUbB]{0,2} (?: '''(?:[^\\']|\\.|'(?!''))*''' | \"\"\"(?:[^\\"]|\\.|"(?!""))*\"\"\"
                                | '(?:[^\\'\n]|\\.)*' | "(?:[^\\"\n]|\\.)*" ) )
    | (?P<number> [-+]? (?: [0-9][0-9_]{0,99}\.?[0-9]{0,100} | \.[0-9]{1,100} ) (?:[eE][-+]?[0-9]{1,3})? (?!\w) )
    | (?P<name> (?: None | True | False ) (?!\w) )
    | (?P<open> [\[({] ) | (?P<close> [\])}] ) | (?P<separator> [,:] )
    """,
    re.VERBOSE | re.DOTALL,
)
"""The tokens of a Python literal, without operators: Python's parser is slow for long chains of them."""


@dataclass(frozen=True)
class ParsedReply:
    """The verdicts and reasons in a reply, or its fault."""

    verdicts: tuple[float, ...] | None
    reasons: tuple[str | None, ...] = ()
    fault: Fault | None = None


def parse_reply(
    text: str, n_questions: int, levels: Sequence[float] = LEVELS, *, profile: Profile = "plain"
) -> ParsedReply:
    """Reads the verdicts of a reply to a request with a checklist.

    Args:
        text: The reply: a list of objects with `checklist_id`, `evaluation_score` and optionally `reason`, as JSON or
            as a Python literal. It may follow words without brackets, and may be in a code fence.
        n_questions: The number of questions.
        levels: The valid verdicts.
        profile: `upstream` also takes a list between other words or brackets, and the last of equal keys.

    Example:
        >>> parse_reply('[{"checklist_id": 0, "reason": "Clear.", "evaluation_score": 0.75}]', 1)
        ParsedReply(verdicts=(0.75,), reasons=('Clear.',), fault=None)
        >>> parse_reply("I would rather not.", 1).fault
        'form'
    """
    value = value_of_reply(text, "[", "]", profile)
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        is_wrapping = len(lists) == 1 and (profile == "upstream" or len(value) == 1)
        value = lists[0] if is_wrapping else value
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        return ParsedReply(None, fault="form")
    if len(value) != n_questions:
        return ParsedReply(None, fault="number")
    by_id = {_whole_number(entry.get("checklist_id")): entry for entry in value}
    first = next((start for start in (0, 1) if by_id.keys() == set(range(start, start + n_questions))), None)
    if first is None:
        return ParsedReply(None, fault="ids")
    in_order = [by_id[first + question] for question in range(n_questions)]
    verdicts = [_level(entry.get("evaluation_score"), levels) for entry in in_order]
    if None in verdicts:
        return ParsedReply(None, fault="value")
    return ParsedReply(tuple(verdict for verdict in verdicts if verdict is not None), tuple(map(_reason, in_order)))


def parse_overall(text: str, *, profile: Profile = "plain") -> ParsedReply:
    """Reads the rating of a reply to a request for one overall rating of 0 to 10.

    Args:
        text: The reply: one object with `evaluation_score` and optionally `reason`.
        profile: As for `parse_reply`.

    Example:
        >>> parse_overall('{"reason": "Good.", "evaluation_score": "8"}').verdicts, parse_overall("8").fault
        ((8.0,), 'form')
    """
    value = value_of_reply(text, "{", "}", profile)
    if not isinstance(value, dict):
        return ParsedReply(None, fault="form")
    rating = _number(value.get("evaluation_score"))
    if rating is None or not 0 <= rating <= _HIGHEST_RATING:
        return ParsedReply(None, fault="value")
    return ParsedReply((rating,), (_reason(value),))


class _Unparsed(Exception):
    pass


def value_of_reply(text: str, opening: str = "[", closing: str = "]", profile: Profile = "plain") -> Any:
    """The value of a reply; None if nothing parses."""
    if profile == "upstream":
        text = _without_fence(text.strip())
        begin, end = text.find(opening), text.rfind(closing)
        part = text[begin : end + 1] if 0 <= begin < end else ""
    else:
        text = text.strip().removesuffix("```").rstrip()
        first = _BRACKET.search(text)
        text = part = text[first.start() :] if first else ""
    for parse, source in ((_json, text), (_json, "" if part == text else part), (_literal, part)):
        with contextlib.suppress(_Unparsed):
            return parse(source, keys_are_unique=profile != "upstream")
    return None


def _without_fence(text: str) -> str:
    if not (text.startswith("```") and text.endswith("```") and len(text) >= 6):
        return text
    inside = text[3:-3]
    language = _LANGUAGE.match(inside)
    return inside[language.end() if language else 0 :].strip()


def _json(text: str, *, keys_are_unique: bool) -> Any:
    marks = (match[0][0] for match in _JSON_STRUCTURE.finditer(text))
    if _is_deeper_than(_MAX_DEPTH, (1 if mark in "[{" else -1 for mark in marks if mark != '"')):
        raise _Unparsed
    try:
        hook = _object if keys_are_unique else dict
        return json.loads(
            text,
            strict=False,
            parse_int=lambda digits: int(digits) if len(digits) <= _MAX_DIGITS else float(digits),
            object_pairs_hook=hook,
        )
    except (ValueError, RecursionError):
        raise _Unparsed from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _Unparsed
    return members


def _is_deeper_than(limit: int, brackets: Iterator[int]) -> bool:
    return any(depth > limit for depth in accumulate(brackets))


def _literal(text: str, *, keys_are_unique: bool) -> Any:
    if len(text) >= _MAX_LITERAL_CHARACTERS or _is_deeper_than(_MAX_LITERAL_DEPTH, _literal_brackets(text)):
        raise _Unparsed
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about unknown escapes, which stay unchanged
            tree = ast.parse(text, mode="eval")
        if keys_are_unique:
            _check_keys(tree)
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise _Unparsed from None


def _check_keys(tree: ast.AST) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            keys = [ast.literal_eval(key) for key in node.keys if key is not None]
            if len(set(keys)) < len(node.keys):
                raise _Unparsed


def _literal_brackets(text: str) -> Iterator[int]:
    """The brackets outside of strings; raises _Unparsed at any token that is not part of a plain literal."""
    position, n_tokens, may_be_signed = 0, 0, True
    while position < len(text):
        match = _LITERAL_TOKEN.match(text, position)
        n_tokens += 1
        if match is None or n_tokens > _MAX_LITERAL_TOKENS:
            raise _Unparsed
        if match.lastgroup == "number" and match[0][0] in "+-" and not may_be_signed:
            raise _Unparsed
        if match.lastgroup in ("open", "close"):
            yield 1 if match.lastgroup == "open" else -1
        if match.lastgroup != "blank":
            may_be_signed = match.lastgroup in ("open", "separator")
        position = match.end()


def _whole_number(value: Any) -> int | None:
    """The ID of a question: a whole number, or digits in a string."""
    if isinstance(value, str):
        return int(value) if _DIGITS.fullmatch(value.strip()) else None
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return int(value) if is_whole and not isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    """A finite number, also in a string, but not a boolean."""
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value := value.strip()) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return float(value) if is_number else None


def _level(value: Any, levels: Sequence[float]) -> float | None:
    number = _number(value)
    near = (float(level) for level in levels if number is not None and abs(level - number) <= _LEVEL_TOLERANCE)
    return next(near, None)


def _reason(entry: dict[Any, Any]) -> str | None:
    reason = entry.get("reason")
    return reason if isinstance(reason, str) else None
