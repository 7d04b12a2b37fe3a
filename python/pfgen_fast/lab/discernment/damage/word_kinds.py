"""Damage to words and terms; `term_swap` replaces names and technical terms by terms of other texts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from ..kinds import Impossible, Perturbation
from .character_kinds import ascii_form, in_form_of
from .sites import Candidates, Case, Damaging, Edit, Generator, damaged_part, edited, n_taken
from .text_reading import Span, TextReading, read, tables

_NUMBER = re.compile("[0-9０-９]+")
_ALONE = re.compile("(?<=[KTA])H(?=[KTAO])")
_TERMS = re.compile("T{3,}|K{2,}")
_RUNS = re.compile("T+|K+")
_APOSTROPHES = re.compile("['’]")


def word_delete(case: Case) -> Damaging:
    """Deletes consecutive words; longer runs contain the shorter runs."""
    words = case.reading.words
    chosen, n = case.generator().below(len(words)), len(words)

    def without_run(k: int) -> str:
        start = chosen * (n - k + 1) // n
        return _without(case.reading, words[start : start + k])

    return damaged_part(n, without_run)


def word_drop(case: Case) -> Damaging:
    """Deletes words at random places."""
    words = case.reading.words
    order = case.choices(len(words)).order
    return damaged_part(len(words), lambda k: _without(case.reading, sorted(words[site] for site in order[:k])))


def _without(reading: TextReading, words: list[Span]) -> str:
    """Deletes words; in English also a white-space character next to each word."""
    if reading.language == "ja":
        return edited(reading.text, [Edit(word, "") for word in words])
    end = len(reading.text)
    behind: list[Span] = []  # the remaining text after the word, its first part last
    for word in reversed(words):
        if word.end < end:
            behind.append(Span(word.end, end))
        end = word.start
        if end and reading.seen[end - 1].isspace():
            end = reading.bounds[bisect_left(reading.bounds, end) - 1]
        elif behind and reading.seen[behind[-1].start].isspace():
            start, last = behind.pop()
            if reading.character(start).end < last:
                behind.append(Span(reading.character(start).end, last))
    return reading.text[:end] + "".join(map(reading.of, reversed(behind)))


def word_swap(case: Case) -> Damaging:
    """Swaps neighbouring words; the text between them stays."""
    words = case.reading.words
    differ = [i for i in range(len(words) - 1) if case.reading.of(words[i]) != case.reading.of(words[i + 1])]
    return case.swapped(words, differ)


def word_repeat(case: Case) -> Damaging:
    """Doubles words."""
    reading = case.reading
    between = " " if reading.language == "en" else ""
    return case.replaced(reading.words, lambda site, _: reading.of(site) + between + reading.of(site))


def number_change(case: Case) -> Damaging:
    """Replaces the first digits of numbers."""
    sites = [Span(match.start(), match.start() + 1) for match in _NUMBER.finditer(case.reading.seen)]

    def other_digit(site: Span, generator: Generator) -> str:
        digit = case.reading.of(site)
        others = "123456789".replace(ascii_form(digit), "")
        return in_form_of(digit, others[generator.below(len(others))])

    return case.replaced(sites, other_digit)


def function_word(case: Case) -> Damaging:
    """Replaces particles, articles, prepositions and so on by others, which is usually a grammatical error."""
    reading = case.reading
    if reading.language == "en":
        sites = [word for word in reading.words if reading.of(word).lower() in _function_words()]
    else:
        sites = [span for span in _particles(reading) if reading.of(span) in tables().particles]
    return case.replaced(sites, lambda site, generator: _other_of_set(reading.of(site), generator))


def _particles(reading: TextReading) -> Iterable[Span]:
    """The hiragana that are alone between two content words, or before a comma."""
    alone = [Span(*match.span()) for match in _ALONE.finditer(reading.classes)]
    return [span for span in alone if reading.classes[span.end] != "O" or reading.seen[span.end] == "、"]


@cache
def _function_words() -> dict[str, tuple[str, ...]]:
    """The set of each particle and function word."""
    return {word: words for words in (tables().particles, *tables().function_words) for word in words}


def _other_of_set(word: str, generator: Generator) -> str:
    others = [other for other in _function_words()[word.lower()] if other != word.lower()]
    other = others[generator.below(len(others))]
    return other[0].upper() + other[1:] if word[0].isupper() else other


class Term(NamedTuple):
    """A term; only a term of the same class can replace it."""

    text: str
    term_class: str


def term_swap(case: Case) -> Damaging:
    """Replaces all occurrences of terms by terms of the donors."""
    reading = case.reading
    places = _places(reading)
    terms = list(dict.fromkeys(_terms(reading)))
    choices = case.choices(len(terms))
    occurring = {reading.of(place) for place in places}
    candidates = {term_class: _candidates(case, term_class, occurring) for _, term_class in terms}

    def damaged(degree: Perturbation) -> str | Impossible:
        if not terms:
            return Impossible.NO_SITE
        new: dict[str, str] = {}
        for site in choices.order[: n_taken(degree, len(terms))]:
            text, term_class = terms[site]
            if same_class := candidates[term_class]:
                new[text] = same_class[choices.at(site).below(len(same_class))]
        if not new:
            return Impossible.NO_CANDIDATE
        return edited(reading.text, [Edit(place, new[text]) for place in places if (text := reading.of(place)) in new])

    return damaged


def _candidates(case: Case, term_class: str, occurring: set[str]) -> Candidates:
    """The donors' terms of a class that do not occur in the text."""

    def donated(donor: str) -> list[str]:
        return [text for text, other_class in _terms(read(donor, case.reading.language)) if other_class == term_class]

    key = ("terms", term_class, case.reading.language)
    return case.donors.candidates(key, donated, case.group, occurring)


def _places(reading: TextReading) -> list[Span]:
    """The places where terms can occur: words up to an apostrophe, or runs of one script."""
    if reading.language == "ja":
        return [Span(*match.span()) for match in _RUNS.finditer(reading.classes)]
    apostrophes = [_APOSTROPHES.search(reading.seen, *word) for word in reading.words]
    pairs = zip(reading.words, apostrophes, strict=True)
    return [Span(word.start, apostrophe.start()) if apostrophe else word for word, apostrophe in pairs]


def _terms(reading: TextReading) -> list[Term]:
    if reading.language == "ja":
        runs = _TERMS.finditer(reading.classes)
        return [Term(reading.of(Span(*run.span())), run.group()[0]) for run in runs]
    starts = [word.start for word in reading.words]
    first_words = {bisect_left(starts, sentence.start) for sentence in reading.sentences}
    names = [word for i, word in enumerate(_places(reading)) if _is_name(reading, word, i in first_words)]
    return [Term(reading.of(name), "A") for name in names]


def _is_name(reading: TextReading, word: Span, is_first: bool) -> bool:
    """Whether a word has a capital that its place in the sentence does not explain."""
    if reading.of(word) == "I" or not reading.seen[word.start].isupper():
        return False
    second = reading.character(word.start).end
    return not is_first or (second < word.end and reading.seen[second].isupper())
