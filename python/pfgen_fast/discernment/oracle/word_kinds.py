"""Damage to words: `word_delete`, `word_drop`, `word_swap`, `word_repeat`, `number_change`, `function_word`."""

from __future__ import annotations

import re

from ..tables import tables
from .damage import Case, Damage, Edit, damaged_part, edited, replaced_sites, swapped_neighbours
from .randomness import Generator
from .texts import Span, TextReading
from .typing_errors import ascii_form, in_form_of

_NUMBER = re.compile("[0-9０-９]+")
_ALONE = re.compile("(?<=[KTA])H(?=[KTA、])")


def word_delete(case: Case) -> Damage:
    """Deletes consecutive words; longer runs contain the shorter runs."""
    words = case.reading.words
    chosen, n = case.generator().below(len(words)), len(words)

    def without_run(k: int) -> str:
        start = chosen * (n - k + 1) // n
        return _without(case.reading, words[start : start + k])

    return damaged_part(n, without_run)


def word_drop(case: Case) -> Damage:
    """Deletes words at random places."""
    words = case.reading.words
    order = case.choices(len(words)).order
    return damaged_part(len(words), lambda k: _without(case.reading, sorted(words[site] for site in order[:k])))


def _without(reading: TextReading, words: list[Span]) -> str:
    """Deletes words; in English also a white-space character next to each word."""
    if reading.language == "ja":
        return edited(reading.text, [Edit(word, "") for word in words])
    end = len(reading.characters)
    behind: list[Span] = []  # the remaining characters after the word, the next one last
    for word in reversed(words):
        first, last = reading.character_at[word.start], reading.character_at.get(word.end, len(reading.characters))
        behind += reversed(reading.characters[last:end])
        end = first
        if end and _is_white_space(reading, reading.characters[end - 1]):
            end -= 1
        elif behind and _is_white_space(reading, behind[-1]):
            behind.pop()
    return "".join(map(reading.of, [*reading.characters[:end], *reversed(behind)]))


def _is_white_space(reading: TextReading, character: Span) -> bool:
    return reading.text[character.start].isspace()


def word_swap(case: Case) -> Damage:
    """Swaps neighbouring words; the text between them stays."""
    words = case.reading.words
    differ = [i for i in range(len(words) - 1) if case.reading.of(words[i]) != case.reading.of(words[i + 1])]
    return swapped_neighbours(case, words, differ)


def word_repeat(case: Case) -> Damage:
    """Doubles words."""
    reading = case.reading
    between = " " if reading.language == "en" else ""
    return replaced_sites(case, reading.words, lambda site, _: reading.of(site) + between + reading.of(site))


def number_change(case: Case) -> Damage:
    """Replaces the first digits of numbers."""
    sites = [Span(match.start(), match.start() + 1) for match in _NUMBER.finditer(case.reading.seen)]
    return replaced_sites(case, sites, lambda site, generator: _other_first_digit(case.reading.of(site), generator))


def _other_first_digit(digit: str, generator: Generator) -> str:
    others = "123456789".replace(ascii_form(digit), "")
    return in_form_of(digit, others[generator.below(len(others))])


def function_word(case: Case) -> Damage:
    """Replaces particles, articles, prepositions and so on by others, which is usually a grammatical error."""
    reading = case.reading
    sites = _particles(reading) if reading.language == "ja" else _function_words(reading)
    return replaced_sites(case, sites, lambda site, generator: _other_of_set(reading.of(site), generator))


def _particles(reading: TextReading) -> list[Span]:
    """The particles that are alone between two content words, or before a comma; or the particles of an analyser."""
    if reading.analysis is not None:
        return [span for span in reading.analysis.particles if reading.of(span) in tables().particles]
    looked_at = "".join("、" if seen == "、" else of for seen, of in zip(reading.seen, reading.classes, strict=True))
    alone = [Span(*match.span()) for match in _ALONE.finditer(looked_at)]
    return [span for span in alone if reading.of(span) in tables().particles]


def _function_words(reading: TextReading) -> list[Span]:
    known = {word for words in tables().function_words for word in words}
    return [word for word in reading.words if reading.of(word).lower() in known]


def _other_of_set(word: str, generator: Generator) -> str:
    (words,) = (words for words in (tables().particles, *tables().function_words) if word.lower() in words)
    others = [other for other in words if other != word.lower()]
    other = others[generator.below(len(others))]
    return other[0].upper() + other[1:] if word[0].isupper() else other
