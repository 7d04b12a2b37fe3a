"""Normalises answers: Unicode form, white space, and ordered lists of rules, some of which remove an answer.

The packaged lists, with the reason of each rule, are in `data/normalise`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import BuildError
from ..base.untrusted_json import Fault, checked, items, keyed, read_toml, text, unexpected
from ..base.untrusted_text import in_one_line
from .answer_tables import arrow, matches, re2_pattern

WHITE_SPACE = ("single", "trim", "keep")  # how white space may be treated; the first is the default
EMPTY = "nothing is left"  # the reason for removing an answer that has no characters left

_LISTS = Path(__file__).parents[1] / "data" / "normalise"
# RE2's \s matches ASCII only; \p{Z} matches the spaces and separators of Unicode.
_SPACE = r"[\s\v\p{Z}\x{1c}-\x{1f}\x{85}]"


@dataclass(frozen=True)
class Rewrite:
    """A rule of a list, which rewrites parts of an answer or removes the whole answer."""

    name: str  # its name in records and reports
    # `"replace"` (every match of the pattern becomes the text), `"characters"` (each character of the pattern becomes
    # the character at the same index of the text) or `"remove"` (an answer that matches is removed)
    kind: str
    pattern: str  # regular expression, or characters
    text: str = ""  # replacement; `\1` is the first group of the pattern
    reason: str = ""  # reason for the rule


def packaged_lists() -> list[str]:
    """The names of the packaged lists of rules."""
    return sorted(path.stem for path in _LISTS.glob("*.toml"))


def read_list(name: str, folder: Path = Path()) -> list[Rewrite]:
    """Reads a list of rules: a packaged one by its name, or one in a TOML file of the same form."""
    path = _LISTS / f"{name}.toml" if name in packaged_lists() else folder / name
    if not path.is_file():
        raise BuildError(
            f"normalise.lists: no list {name!r}; expected {', '.join(packaged_lists())} or the path of a TOML file"
        )
    rules: list[Rewrite] = checked(read_toml(path, error=BuildError), _RULES, str(path), error=BuildError)["rule"]
    for name, n in Counter(rule.name for rule in rules).items():
        if n > 1:
            raise BuildError(f"{path}: {n} rules have the name {name!r}; expected unique names")
    return rules


def some_text(value: Any) -> str:
    """A text that is not empty."""
    if value == "":
        raise unexpected("a text that is not empty", value)
    return text(value)


def texts(value: Any) -> tuple[str, ...]:
    """A list of texts."""
    return items(value, text)


_RULE = keyed(
    {"name": some_text, "reason": text, "pattern": text, "text": text, "characters": texts, "remove": re2_pattern},
    "name",
)


def _rules(value: Any) -> list[Rewrite]:
    if value == []:
        raise unexpected("one or more [[rule]] tables", value)
    return list(items(value, _rule))


def _rule(value: Any) -> Rewrite:
    settings = _RULE(value)
    name, reason = settings.pop("name"), settings.pop("reason", "")
    if settings.keys() == {"pattern", "text"}:
        pattern, new = replacement(settings["pattern"], settings["text"])
        return Rewrite(name, "replace", pattern, new, reason)
    if settings.keys() == {"remove"}:
        return Rewrite(name, "remove", settings["remove"], reason=reason)
    if settings.keys() != {"characters"}:
        raise Fault(f"rule {in_one_line(name)}: expected 'pattern' and 'text', or 'characters', or 'remove'")
    pair = settings["characters"]
    if len(pair) != 2 or not pair[0] or len(pair[0]) != len(pair[1]) or len(set(pair[0])) < len(pair[0]):
        raise Fault("expected two texts of the same length, the first with each character once").inside(".characters")
    return Rewrite(name, "characters", pair[0], pair[1], reason)


_RULES = keyed({"rule": _rules}, "rule")


def replacement(pattern: str, text: str) -> tuple[str, str]:
    """A pattern and its replacement, which RE2 accepts."""
    re2_pattern(pattern)
    pa = arrow()
    try:
        _replaced(pa.array([""], pa.string()), pattern, text)
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        problem = str(error).removeprefix("Invalid replacement string: ")
        raise Fault(f"the pattern {pattern!r} cannot be replaced with {text!r}: {problem}") from None
    return pattern, text


def _replaced(answers: Any, pattern: str, text: str) -> Any:
    return arrow("pyarrow.compute").replace_substring_regex(answers, pattern, text)


def normalised_answers(
    answers: Any, *, nfkc: bool = False, white_space: str = WHITE_SPACE[0], rules: Sequence[Rewrite] = ()
) -> tuple[Any, NDArray[np.int32], dict[int, int]]:
    """Normalises answers in the order of the arguments."""
    compute = arrow("pyarrow.compute")
    if nfkc:  # by Python's tables: the `utf8_normalize` of pyarrow 25.0.1 composes nothing
        normal = [unicodedata.normalize("NFKC", text) for text in answers.to_pylist()]
        answers = arrow().array(normal, answers.type)
    if white_space == "single":
        answers = _changed(answers, _SPACE, lambda some: _replaced(some, _SPACE + "+", " "))
    if white_space != "keep":
        ends = rf"\A{_SPACE}+|{_SPACE}+\z"
        answers = _changed(answers, ends, lambda some: _replaced(some, ends, ""))
    touched = _touched(answers, rules)
    changed, removed_of_touched, n_changed = _by_rules(answers.filter(touched), rules)
    removed_by = np.full(len(answers), -1, np.int32)
    removed_by[np.asarray(touched)] = removed_of_touched
    answers = compute.replace_with_mask(answers, touched, changed)
    removed_by[np.asarray(compute.equal(answers, "")) & (removed_by < 0)] = len(rules)
    return answers, removed_by, n_changed


def _touched(answers: Any, rules: Sequence[Rewrite]) -> Any:
    """Which answers match any of the rules. Matching all patterns at once takes little more time than matching one."""
    pa = arrow()
    if not rules:
        return pa.array(np.zeros(len(answers), bool))
    try:
        return matches(answers, "|".join(f"(?:{_pattern(rule)})" for rule in rules))
    except pa.ArrowInvalid:  # the combined pattern is too long for RE2
        return pa.array(np.ones(len(answers), bool))


def _by_rules(answers: Any, rules: Sequence[Rewrite]) -> tuple[Any, NDArray[np.int32], dict[int, int]]:
    """Applies all rules. Returns the answers, the rule that removes each, and how many answers each rule changed."""
    compute = arrow("pyarrow.compute")
    removed_by = np.full(len(answers), -1, np.int32)
    n_changed = {}
    for number, rule in enumerate(rules):
        if rule.kind == "remove":
            removed_by[np.asarray(matches(answers, rule.pattern)) & (removed_by < 0)] = number
        else:
            before, answers = answers, _applied(rule, answers)
            if answers is not before:
                n_changed[number] = int(compute.sum(compute.not_equal(before, answers)).as_py() or 0)
    return answers, removed_by, n_changed


def _applied(rule: Rewrite, answers: Any) -> Any:
    if rule.kind == "replace":
        return _changed(answers, rule.pattern, lambda some: _replaced(some, rule.pattern, rule.text))
    pa, table = arrow(), str.maketrans(rule.pattern, rule.text)

    def translated(some: Any) -> Any:
        return pa.array([answer.translate(table) for answer in some.to_pylist()], pa.string())

    return _changed(answers, _pattern(rule), translated)


def _pattern(rule: Rewrite) -> str:
    """The regular expression that a rule matches."""
    if rule.kind != "characters":
        return rule.pattern
    return "[" + "".join(f"\\x{{{ord(character):x}}}" for character in rule.pattern) + "]"


def _changed(answers: Any, pattern: str, change: Any) -> Any:
    """Changes only the answers that match the pattern, because matching takes a fraction of the time of replacing."""
    compute = arrow("pyarrow.compute")
    there = matches(answers, pattern)
    if not compute.any(there).as_py():
        return answers
    return compute.replace_with_mask(answers, there, change(answers.filter(there)))


def first_objections(answers: Any, *, wrong: Sequence[str] = (), required: Sequence[str] = ()) -> NDArray[np.int32]:
    """The index of the first pattern that rejects each answer; -1 if none does."""
    first = np.full(len(answers), -1, np.int32)
    for number, pattern in enumerate((*wrong, *required)):
        hit = np.asarray(matches(answers, pattern))
        against = hit if number < len(wrong) else ~hit
        first[against & (first < 0)] = number
    return first
