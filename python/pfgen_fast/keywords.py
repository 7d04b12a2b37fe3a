"""Keyword rules: parsed from JSON into frozen objects, and their regex patterns applied.

A rule is exactly one of a pattern, an `and` of rules, an `or` of rules (docs/scoring.md, section 4).
A rule that exists is valid: everything is checked when it is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .errors import SuiteError

NOT_FOUND = 9999
"""The position of a pattern that does not match (a number, because the rules compare it)."""

_REGEX_SYNTAX = frozenset("\\.^$*+?{}[]|()")
_MAX_DEPTH = 32
_FORMS: tuple[Literal["t", "and", "or"], ...] = ("t", "and", "or")


@dataclass(frozen=True)
class Rule:
    """One keyword rule.

    Attributes:
        form: `"t"` (a pattern), `"and"` or `"or"`.
        pattern: The regular expression of a `"t"` rule, otherwise `""`.
        parts: The rules that an `"and"` or `"or"` combines, otherwise `()`.
        name: What reports call the rule; None lets the deciding pattern name it.
        importance: 0..1; only that of a top-level rule has an effect.

    Example:
        >>> parse_rule({"or": [{"t": "tide"}, {"t": "ebb|flow"}], "importance": 0.5}).parts[1].pattern
        'ebb|flow'
    """

    form: Literal["t", "and", "or"]
    pattern: str = ""
    parts: tuple[Rule, ...] = ()
    name: str | None = None
    importance: float = 1.0

    def leaves(self) -> Iterator[Rule]:
        """The patterns of the rule, left to right."""
        if self.form == "t":
            yield self
        for part in self.parts:
            yield from part.leaves()

    @property
    def is_plain_text(self) -> bool:
        """Whether the pattern holds no regex syntax, so that a substring search means the same."""
        return _REGEX_SYNTAX.isdisjoint(self.pattern)


def parse_rule(source: object, where: str = "rule", depth: int = 1) -> Rule:
    """Checks one rule as it stands in a question file and freezes it.

    Args:
        source: The decoded JSON value.
        where: What error messages call the place, such as `keywords[2].and[0]`.
        depth: How deep the rule lies within others; a bound keeps hostile files from exhausting the stack.

    Raises:
        SuiteError: The value is not a rule.
    """
    if not isinstance(source, Mapping):
        raise SuiteError(f"{where}: a rule is an object with one of 't', 'and', 'or', not {_shown(source)}")
    forms = [form for form in _FORMS if form in source]
    if len(forms) != 1:
        found = ", ".join(map(repr, forms)) or "none of them"
        raise SuiteError(f"{where}: a rule has exactly one of 't', 'and', 'or'; this one has {found}")
    form = forms[0]
    unknown = [key for key in source if key not in (form, "name", "importance")]
    if unknown:
        raise SuiteError(f"{where}: unknown key {unknown[0]!r}; a rule has {form!r}, 'name', 'importance'")
    name = source.get("name")
    if "name" in source and not isinstance(name, str):
        raise SuiteError(f"{where}.name: a name is a string, not {_shown(name)}")
    importance = _parse_importance(source.get("importance", 1.0), where)
    if form == "t":
        return Rule("t", pattern=_parse_pattern(source["t"], where), name=name, importance=importance)
    parts = source[form]
    if not isinstance(parts, list) or not parts:
        raise SuiteError(f"{where}.{form}: expected a list of at least one rule, not {_shown(parts)}")
    if depth == _MAX_DEPTH:
        raise SuiteError(f"{where[:80]}...: rules nested more than {_MAX_DEPTH} deep")
    parsed = tuple(parse_rule(part, f"{where}.{form}[{i}]", depth + 1) for i, part in enumerate(parts))
    return Rule(form, parts=parsed, name=name, importance=importance)


def _parse_importance(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise SuiteError(f"{where}.importance: expected a number from 0 to 1, not {_shown(value)}")
    return float(value)


def _parse_pattern(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise SuiteError(f"{where}.t: a pattern is a string, not {_shown(value)}")
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError) as error:
        raise SuiteError(f"{where}.t: the pattern {_shown(value)} does not compile: {error}") from None
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def regex_searchers(rules: tuple[Rule, ...]) -> list[Callable[[str], int]]:
    """One function per pattern with regex syntax, in the order of the leaves: text to position.

    The native core searches plain text itself and calls these for the rest, so both share
    the meaning of `re.search` exactly.
    """
    return [_searcher(leaf.pattern) for rule in rules for leaf in rule.leaves() if not leaf.is_plain_text]


def _searcher(pattern: str) -> Callable[[str], int]:
    search = re.compile(pattern).search

    def position(text: str) -> int:
        match = search(text)
        return match.end() if match else NOT_FOUND

    return position


def flatten(rules: tuple[Rule, ...]) -> tuple[list[tuple[Any, ...]], list[str | None]]:
    """The rules as the native core takes them: nodes in depth-first order, and what each is called.

    Returns:
        nodes: `(form, n_parts, pattern or None, is_named, importance)`; a pattern of None stands for
            the next of `regex_searchers`.
        names: For every node its own name, else its pattern; None where the deciding part names it.
    """
    nodes: list[tuple[Any, ...]] = []
    names: list[str | None] = []

    def add(rule: Rule) -> None:
        text = rule.pattern if rule.form == "t" and rule.is_plain_text else None
        nodes.append((rule.form, len(rule.parts), text, rule.name is not None, rule.importance))
        names.append(rule.name if rule.name is not None else rule.pattern if rule.form == "t" else None)
        for part in rule.parts:
            add(part)

    for rule in rules:
        add(rule)
    return nodes, names
