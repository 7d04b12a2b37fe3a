"""The unit and the lengths that fit answers: decided from their script and their length. Rules: docs/building.md.

The figures of texts are JSON values, which the records of a build keep, so that deciding again reads no answer.
"""

from __future__ import annotations

import functools
import statistics
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from ..base.errors import BuildError
from ..base.untrusted_text import few_names
from ..suite.rules import Lengths
from ..suite.units import PatternTokenizer, Tokenizer

T = TypeVar("T")

WORDS = PatternTokenizer("words")
N_TEXTS = 1000
"""The maximum number of answers, evenly spaced, that figures are computed from."""

LEAST_SHARE = 1 / 3  # the least that the median length may be, as a share of the target; at most it is the limit
_MOST_IN_OTHER = 0.05  # the share of the answers to a question that may be in another script
_N_LETTERS = 400  # how much of a text is read to tell its script
_ALPHABETS = {"Latin", "Greek", "Cyrillic", "Armenian", "Hebrew", "Arabic", "Georgian"}
"""Scripts with letters for sounds and spaces between words, whose words `\\w+` finds."""

_JAPANESE = {"Hiragana", "Katakana", "Katakana-hiragana", "Halfwidth"}


@functools.cache
def _script_of_letter(letter: str) -> str:
    script = unicodedata.name(letter, "").partition(" ")[0].capitalize()
    return "Japanese" if script in _JAPANESE else {"Cjk": "Chinese", "Fullwidth": "Latin"}.get(script, script)


def script_of(text: str) -> str:
    """The script of most letters of a text, such as `"Latin"` or `"Japanese"`; "" if there are no letters."""
    counts = Counter(_script_of_letter(letter) for letter in text[:_N_LETTERS] if letter.isalpha())
    if counts["Japanese"]:
        counts["Japanese"] += counts.pop("Chinese", 0)
    return counts.most_common(1)[0][0] if counts else ""


def is_alphabetic(script: str) -> bool:
    """Whether texts in a script are compared by words."""
    return script in _ALPHABETS


def evenly_spaced(items: Sequence[T], n: int) -> Sequence[T]:
    """At most `n` of the items."""
    return items[:: max(1, -(-len(items) // n))]


def text_figures(texts: Sequence[str], tokenizers: Iterable[Tokenizer | None] = (None, WORDS)) -> dict[str, Any]:
    """The scripts of texts, and their lengths in each unit: the median, the 90th percentile, the share over 150."""
    texts = evenly_spaced(texts, N_TEXTS)
    scripts = Counter(filter(None, map(script_of, texts)))
    lengths = {}
    for tokenizer in tokenizers if texts else ():
        ordered = sorted(map(len, texts if tokenizer is None else tokenizer.tokens(texts)))
        over = sum(length > Lengths().limit for length in ordered) / len(ordered)
        lengths[unit_name(tokenizer)] = [statistics.median(ordered), ordered[len(ordered) * 9 // 10], over]
    return {"scripts": dict(scripts.most_common()), "lengths": lengths}


def unit_name(tokenizer: Tokenizer | None) -> str:
    """The name of a unit in options and records."""
    return "character" if tokenizer is None else tokenizer.source["tokenizer"]


def units_of(tokenizer: Tokenizer | None) -> str:
    """The plural of a unit in sentences."""
    return "characters" if tokenizer is None else "words" if tokenizer == WORDS else "tokens"


@dataclass(frozen=True)
class Fit:
    """The unit and the lengths of one question."""

    tokenizer: Tokenizer | None
    lengths: Lengths
    typical: int  # the length that the reference answers should have, in the unit
    script: str  # of most answers
    median: float  # typical length of the answers, in the unit: their median, unless it is given
    share_over: float  # share of the answers that are longer than the usual limit

    @property
    def unit(self) -> str:
        """The name of the unit."""
        return unit_name(self.tokenizer)


def fits(lengths: Lengths, median: float, *, slack: float = 1.0) -> bool:
    """Whether answers with a median length are neither much shorter than the target nor cut at the limit."""
    return LEAST_SHARE / slack * lengths.target <= median <= lengths.limit


def lengths_of(target: int | None = None, limit: int | None = None) -> Lengths | None:
    """The lengths that a user chose, the limit being one and a half times the target; None if nothing is chosen."""
    if target is None and limit is None:
        return None
    try:
        return Lengths(target or max(1, (limit or 0) * 2 // 3), limit or (target or 0) + max(1, (target or 0) // 2))
    except ValueError as error:
        raise BuildError(f"score.target and score.limit: {error}") from None


def fit_answers(
    figures: Mapping[str, Sequence[Mapping[str, Any]]],
    units: Mapping[str, Tokenizer | None],
    *,
    lengths: Lengths | None = None,
    typical: int | None = None,
) -> dict[str, Fit]:
    """Decides the unit and the lengths of each question.

    Questions of one unit share their lengths if these fit the answers to each of them: 100 and 150 if possible, else
    twice and three times the median length; otherwise each question has its own.

    Args:
        figures: The `text_figures` of the answers to each question, by ID; a question without any answer is left out.
        units: The units that are not left to the script, by ID of the question.
        lengths: The lengths of all questions; by default they are decided.
        typical: The length that the reference answers will have; by default it is that of the answers.
    """
    answers = {
        question_id: _Answers.of(several, units, question_id, typical)
        for question_id, parts in figures.items()
        if (several := [part for part in parts if part["lengths"]])
    }
    by_unit: dict[Tokenizer | None, list[_Answers]] = {}
    for part in answers.values():
        by_unit.setdefault(part.tokenizer, []).append(part)
    shared = {tokenizer: lengths or _shared_lengths(parts) for tokenizer, parts in by_unit.items()}
    decided = {}
    for question_id, part in answers.items():
        pair = shared[part.tokenizer] or Lengths.fitting(part.median)
        is_usual = pair == Lengths() and part.median >= pair.target * 2 / 3
        goal = typical or (pair.target if is_usual else max(1, round(part.median)))
        decided[question_id] = Fit(part.tokenizer, pair, goal, part.script, part.median, part.share_over)
    return decided


class _Answers(NamedTuple):
    """Figures of the answers to a question in all sets."""

    tokenizer: Tokenizer | None
    script: str
    median: float
    share_over: float

    @classmethod
    def of(
        cls,
        several: Sequence[Mapping[str, Any]],
        units: Mapping[str, Tokenizer | None],
        question_id: str,
        typical: int | None,
    ) -> _Answers:
        script = next(iter(_scripts(several)), "")
        tokenizer = units.get(question_id, WORDS if is_alphabetic(script) else None)
        medians, _, over = zip(*(part["lengths"][unit_name(tokenizer)] for part in several), strict=True)
        return cls(tokenizer, script, typical or statistics.median(medians), statistics.mean(over))


def _scripts(several: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The number of answers in each script, the most frequent first."""
    return dict(sum((Counter(part["scripts"]) for part in several), Counter[str]()).most_common())


def _shared_lengths(parts: Sequence[_Answers]) -> Lengths | None:
    """The first lengths that fit all questions; None if no lengths do."""
    pairs = (Lengths(), Lengths.fitting(statistics.median(part.median for part in parts)))
    return next((pair for pair in pairs if all(fits(pair, part.median) for part in parts)), None)


def fit_sentences(fits_of: Mapping[str, Fit], units: Container[str] = (), *, decides_lengths: bool = True) -> list[str]:
    """What was decided, and why: a sentence or two for each unit; `units` are IDs of questions with a given unit."""
    groups: dict[Tokenizer | None, dict[str, Fit]] = {}
    for question_id, fit in fits_of.items():
        groups.setdefault(fit.tokenizer, {})[question_id] = fit
    sentences = []
    for tokenizer, group in groups.items():
        unit = units_of(tokenizer)
        where = "" if len(groups) == 1 else f"{few_names(list(group))}: "
        if scripts := sorted({fit.script or "no script" for name, fit in group.items() if name not in units}):
            sentences.append(f"{where}unit {unit}, because the script of the answers is {' and '.join(scripts)}")
        if decides_lengths:
            sentences.append(where + _lengths_sentence(unit, list(group.values())))
    return sentences


def _lengths_sentence(unit: str, group: Sequence[Fit]) -> str:
    pairs = sorted({(fit.lengths.target, fit.lengths.limit) for fit in group})
    medians = sorted(fit.median for fit in group)
    usual, over = Lengths(), statistics.mean(fit.share_over for fit in group)
    typical = f"typical length of {statistics.median(medians):,.0f} {unit}"
    if pairs == [(usual.target, usual.limit)]:
        return f"target {usual.target} and limit {usual.limit}, as usual, which fit answers with a {typical}"
    why = f"some answers are much shorter than the usual target of {usual.target}"
    if over > 0.1:
        why = f"{over:.0%} of the answers are longer than the usual limit of {usual.limit} {unit}"
    if len(pairs) == 1:
        return f"target {pairs[0][0]:,} and limit {pairs[0][1]:,}, about 2 and 3 times the {typical}, because {why}"
    return (
        f"targets from {pairs[0][0]:,} to {pairs[-1][0]:,}, about 2 times the typical length of the answers to each "
        f"question ({medians[0]:,.0f} to {medians[-1]:,.0f} {unit}), and limits of 3 times, because {why}, and no "
        "single target fits all questions"
    )


def mixed_scripts(figures: Mapping[str, Sequence[Mapping[str, Any]]], *, by_question: bool = True) -> list[str]:
    """A sentence for the questions that have answers in several scripts, and one if questions differ in script."""
    mixed, by_script = [], dict[str, list[str]]()
    for question_id, several in figures.items():
        scripts = _scripts(several)
        for script in list(scripts)[:1]:
            by_script.setdefault(script, []).append(question_id)
        for script in list(scripts)[1:2]:
            share = scripts[script] / sum(scripts.values())
            if share > _MOST_IN_OTHER:
                mixed.append(f"{question_id} ({share:.0%} {script}, most others {next(iter(scripts))})")
    sentences = []
    if mixed:
        sentences.append(
            f"the answers to one question are in several scripts: {few_names(mixed)}; a reference set has one "
            "language, so remove the other answers ([normalise] remove)"
        )
    if by_question and len(by_script) > 1:
        languages = "; ".join(f"{script}: {few_names(ids)}" for script, ids in by_script.items())
        sentences.append(f"the suite mixes scripts ({languages}); compare scores within one script only")
    return sentences
