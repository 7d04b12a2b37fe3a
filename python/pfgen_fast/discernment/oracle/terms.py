"""`term_swap`: replaces names and technical terms by terms of other texts."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from ..kinds import Impossible
from .damage import Case, Damage, Degree, Edit, edited, n_taken
from .texts import Span, TextReading

_RUNS = re.compile("T{3,}|K{2,}")
_ALL_RUNS = re.compile("T+|K+")
_NAME = "name"
"""The class of all terms that an analyser finds."""
_APOSTROPHES = re.compile("['’]")


class Term(NamedTuple):
    """A term; only a term of the same class can replace it."""

    text: str
    term_class: str


def term_swap(case: Case) -> Damage:
    """Replaces all occurrences of terms by terms of the donors."""
    places = list(_places(case.reading))
    terms = list(dict.fromkeys(_terms(case.reading)))
    choices = case.choices(len(terms))
    candidates = _candidates(case, {case.reading.of(place) for place in places})

    def damaged(degree: Degree) -> str | Impossible:
        if not terms:
            return Impossible.NO_SITE
        new: dict[str, str] = {}
        for site in choices.order[: n_taken(degree, len(terms))]:
            text, term_class = terms[site]
            if of_class := candidates.get(term_class):
                new[text] = of_class[choices.at(site).below(len(of_class))]
        if not new:
            return Impossible.NO_CANDIDATE
        edits = [Edit(place, new[case.reading.of(place)]) for place in places if case.reading.of(place) in new]
        return edited(case.reading.text, edits)

    return damaged


def _candidates(case: Case, occurring: set[str]) -> dict[str, list[str]]:
    """By class, the donors' terms that do not occur in the text."""
    found: dict[str, set[str]] = {}
    for donor in case.donors:
        for text, term_class in _donated(case, donor):
            if text not in occurring:
                found.setdefault(term_class, set()).add(text)
    return {term_class: sorted(texts) for term_class, texts in found.items()}


def _donated(case: Case, donor: str) -> list[Term]:
    if case.analyse is None:
        return _terms(TextReading(donor, case.reading.language))
    return [Term(donor[start:end], _NAME) for start, end in case.analyse(donor).terms]


def _places(reading: TextReading) -> list[Span]:
    """The places where terms can occur: words up to an apostrophe, runs of one script, or words of an analyser."""
    if reading.analysis is not None:
        return reading.words
    if reading.language == "ja":
        return [Span(*match.span()) for match in _ALL_RUNS.finditer(reading.classes)]
    return [_before_apostrophe(reading, word) for word in reading.words]


def _before_apostrophe(reading: TextReading, word: Span) -> Span:
    found = _APOSTROPHES.search(reading.seen, word.start, word.end)
    return Span(word.start, found.start()) if found else word


def _terms(reading: TextReading) -> list[Term]:
    if reading.analysis is not None:
        return [Term(reading.of(term), _NAME) for term in reading.analysis.terms]
    if reading.language == "ja":
        runs = _RUNS.finditer(reading.classes)
        return [Term(reading.of(Span(*run.span())), run.group()[0]) for run in runs]
    first_words = _first_words(reading)
    names = [word for word in _places(reading) if _is_name(reading, word, word.start in first_words)]
    return [Term(reading.of(name), "A") for name in names]


def _first_words(reading: TextReading) -> set[int]:
    starts = [word.start for word in reading.words]
    found = (bisect_left(starts, sentence.start) for sentence in reading.sentences)
    return {starts[number] for number in found if number < len(starts)}


def _is_name(reading: TextReading, word: Span, is_first: bool) -> bool:
    """Whether a word has a capital that its place in the sentence does not explain."""
    if reading.of(word) == "I" or not reading.text[word.start].isupper():
        return False
    second = reading.characters[reading.character_at[word.start]].end
    return not is_first or (second < word.end and reading.text[second].isupper())
