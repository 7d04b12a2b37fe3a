"""Keyword rules: parses them from JSON into frozen objects, and searches for their patterns, within a time limit.

A rule is a pattern, an `and` of rules or an `or` of rules (docs/scoring.md, section 4). Rules are checked when they are
parsed.

Python's `re` checks for signals while it searches, so a timer can end a search. This works only in the main thread, and
only on systems with `signal.setitimer`. On Windows and in other threads, there is no limit.
"""

from __future__ import annotations

import contextlib
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..base.errors import PatternTimeout
from ..base.native import _core
from ..base.untrusted_text import shown_value
from .units import beginnings

if TYPE_CHECKING:
    from .units import Spelling

NOT_FOUND = 2**32 - 1  # what stands for the position of a pattern that does not match
REGEX_SYNTAX = frozenset("\\.^$*+?{}[]|()")
_MAX_DEPTH = 32
_FORMS: tuple[Literal["t", "and", "or"], ...] = ("t", "and", "or")

T = TypeVar("T")
PATTERN_SECONDS = 10.0
"""The limit of commands for the search of one pattern in one answer; a usual search takes microseconds."""
_LOOKS = 10  # number of checks within the limit
WHY = "nested repeats, or many repeats in a row, can match in exponentially many ways"


@dataclass(frozen=True)
class Rule:
    """One keyword rule.

    Attributes:
        form: `"t"` (a pattern), `"and"` or `"or"`.
        pattern: The regular expression of a `"t"` rule, otherwise `""`.
        parts: The rules that an `"and"` or `"or"` combines, otherwise `()`.
        name: The rule's name in reports; None uses the name of the deciding pattern.
        importance: 0 to 1; only the importance of a top-level rule has an effect.

    Example:
        >>> freeze_rule({"or": [{"t": "tide"}, {"t": "ebb|flow"}], "importance": 0.5}).parts[1].pattern
        'ebb|flow'
    """

    form: Literal["t", "and", "or"]
    pattern: str = ""
    parts: tuple[Rule, ...] = ()
    name: str | None = None
    importance: float = 1.0

    @property
    def own_name(self) -> str | None:
        """The rule's name in reports: its `name` or its pattern; None if the name of the deciding part is shown."""
        return self.name if self.name is not None else self.pattern if self.form == "t" else None

    def leaves(self) -> Iterator[Rule]:
        """The patterns of the rule, left to right."""
        if self.form == "t":
            yield self
        for part in self.parts:
            yield from part.leaves()

    @property
    def is_plain_text(self) -> bool:
        """Whether the pattern has no regex syntax, so that a substring search is equivalent."""
        return REGEX_SYNTAX.isdisjoint(self.pattern)


def freeze_rule(source: Mapping[str, Any]) -> Rule:
    """Makes a `Rule` from a value in which `rule_faults` finds no fault."""
    form = next(form for form in _FORMS if form in source)
    name, importance = source.get("name"), float(source.get("importance", 1.0))
    if form == "t":
        return Rule("t", pattern=source["t"], name=name, importance=importance)
    return Rule(form, parts=tuple(map(freeze_rule, source[form])), name=name, importance=importance)


def rule_source(rule: object) -> object:
    """The decoded JSON of a rule, as `freeze_rule` takes it; a value that is not a `Rule` is returned unchanged."""
    if not isinstance(rule, Rule):
        return rule
    value = rule.pattern if rule.form == "t" else [rule_source(part) for part in rule.parts]
    source = {rule.form: value, "importance": rule.importance}
    return source if rule.name is None else {**source, "name": rule.name}


def rule_faults(source: object, where: str, depth: int = 1) -> Iterator[str]:
    """Yields one sentence for each fault of a rule."""
    if not isinstance(source, Mapping):
        yield f"{where}: expected an object with one of 't', 'and', 'or', not {shown_value(source)}"
        return
    forms = [form for form in _FORMS if form in source]
    if len(forms) != 1:
        keys = ", ".join(map(repr, forms)) or "no such key"
        yield f"{where}: expected exactly one of the keys 't', 'and', 'or'; found {keys}"
    for key in source:
        if key not in (*_FORMS, "name", "importance"):
            yield f"{where}: unknown key {shown_value(key)}; expected 't', 'and', 'or', 'name' or 'importance'"
    if not isinstance(source.get("name", ""), str):
        yield f"{where}.name: expected a string, not {shown_value(source['name'])}"
    importance = source.get("importance", 1.0)
    if isinstance(importance, bool) or not isinstance(importance, (int, float)) or not 0 <= importance <= 1:
        yield f"{where}.importance: expected a number from 0 to 1, not {shown_value(importance)}"
    for form in forms:
        if form == "t":
            yield from _pattern_faults(source["t"], where)
        else:
            yield from _parts_faults(source[form], f"{where}.{form}", depth)


def _pattern_faults(pattern: object, where: str) -> Iterator[str]:
    if not isinstance(pattern, str):
        yield f"{where}.t: expected a string, not {shown_value(pattern)}"
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # FutureWarning: the pattern still means what it says today
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        yield f"{where}.t: the pattern {shown_value(pattern)} does not compile: {error}"


def _parts_faults(parts: object, where: str, depth: int) -> Iterator[str]:
    if not isinstance(parts, list) or not parts:
        yield f"{where}: expected a list of at least one rule, not {shown_value(parts)}"
    elif depth == _MAX_DEPTH:
        yield f"{where[:80]}...: rules are nested more than {_MAX_DEPTH} levels deep"
    else:
        for i, part in enumerate(parts):
            yield from rule_faults(part, f"{where}[{i}]", depth + 1)


def regex_searchers(rules: tuple[Rule, ...], question_id: str) -> list[Callable[[str], int | None]]:
    """A function for each pattern with regex syntax, in the order of the leaves: from a text to the end of a match."""
    return [_searcher(leaf.pattern, question_id) for rule in rules for leaf in rule.leaves() if not leaf.is_plain_text]


def _searcher(pattern: str, question_id: str) -> Callable[[str], int | None]:
    search = re.compile(pattern).search
    where = _where(pattern, question_id)

    def end(text: str) -> int | None:
        match = searched(search, text, where)
        return match.end() if match else None

    return end


def _where(pattern: str, question_id: str) -> str:
    return f"question {question_id}: the pattern {shown_value(pattern)}"


TokenReader = Callable[[str, int], tuple[str, list[int]]]


def token_reader(
    rules: tuple[Rule, ...], spelling: Spelling, question_id: str, *, is_normalised: bool = False
) -> TokenReader:
    """Returns a function that spells an answer in tokens, and finds the position of each pattern up to a limit.

    For profile normalised, the positions are those in each form of the answer.
    """
    patterns = [leaf.pattern for rule in rules for leaf in rule.leaves()]
    searches = [(re.compile(pattern).search, _where(pattern, question_id)) for pattern in patterns]

    def read(text: str, limit: int) -> tuple[str, list[int]]:
        spelled = spelling.read_first(text, limit)
        cut = spelled.cut(limit)
        matches = [searched(search, cut, where) for search, where in searches]
        return spelled.symbols, [spelled.position(match.end()) if match else NOT_FOUND for match in matches]

    def read_normalised(text: str, limit: int) -> tuple[str, list[int]]:
        for beginning in beginnings(text, limit, " "):
            normalised = _core.NormalisedText(beginning, has_spaces=True)
            spelled = spelling.read_first(normalised.units, limit)
            if len(spelled.symbols) > limit:
                break
        n_read = len(spelled.cut(limit))
        positions = []
        for form in normalised.forms:
            cut = form.cut(n_read)
            matches = (searched(search, cut, where) for search, where in searches)
            positions += [spelled.position(form.position(match.end())) if match else NOT_FOUND for match in matches]
        return spelled.symbols, positions

    return read_normalised if is_normalised else read


def depth_first(rules: tuple[Rule, ...]) -> Iterator[Rule]:
    """Yields the rules of one question in the order that the native core takes: each rule before its parts."""
    for rule in rules:
        yield rule
        yield from depth_first(rule.parts)


class _Overdue(Exception):
    """Raised within a search that has taken too long."""


def searched(search: Callable[[str], T], text: str, where: str) -> T:
    """Returns `search(text)`; raises PatternTimeout if the search exceeds the limit of `pattern_time_limit`."""
    try:
        return search(text)
    except _Overdue as overdue:
        raise PatternTimeout(f"{where} takes longer than {overdue} on one answer: {WHY}") from None


def can_be_limited() -> bool:
    """Whether a search can be ended here."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


@contextlib.contextmanager
def pattern_time_limit(seconds: float = PATTERN_SECONDS) -> Iterator[None]:
    """Within this context, a scorer that searches one pattern in one answer for longer raises PatternTimeout.

    Scorers set no limit themselves, because a timer and its signal (SIGALRM) belong to the program. The context
    restores both; it does nothing outside the main thread and on systems without such timers (Windows). It does not
    slow scoring.
    """
    if not can_be_limited():
        yield
        return
    watched: FrameType | None = None  # the search at the last check; Python cannot reuse a frame while it is referenced
    since = 0.0

    def look(number: int, frame: FrameType | None) -> None:
        nonlocal watched, since
        if frame is None or frame.f_code is not searched.__code__:
            watched = None
        elif frame is not watched:
            watched, since = frame, time.monotonic()
        elif time.monotonic() - since >= seconds:
            watched = None  # the timer must not interrupt the handling of the error
            raise _Overdue(f"{seconds:g} s")

    former = signal.signal(signal.SIGALRM, look)
    begun = time.monotonic()
    delay, interval = signal.setitimer(signal.ITIMER_REAL, seconds / _LOOKS, seconds / _LOOKS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        watched = None
        signal.signal(signal.SIGALRM, former)
        if delay:
            signal.setitimer(signal.ITIMER_REAL, max(delay - (time.monotonic() - begun), 1e-3), interval)
