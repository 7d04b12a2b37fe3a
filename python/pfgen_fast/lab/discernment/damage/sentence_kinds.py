"""Damage to sentences: `sentence_...`, `negate`; and other texts in their place: `answer_swap`, `wrong_ending`."""

from __future__ import annotations

import re
from functools import cache

from ..kinds import Impossible, Perturbation
from .sites import Case, Damaging, Edit, edited, few_or_none, n_taken
from .text_reading import Span, TextReading, read, tables

_WITHOUT_NT = {"wo": "will", "ca": "can"}
"""The positive forms of `won't` and `can't`."""


def sentence_reorder(case: Case) -> Damaging:
    """Changes the order of sentences; the white space between them stays."""
    sentences = [case.reading.stripped(sentence) for sentence in case.reading.sentences]
    n = len(sentences)
    choices = case.choices(n)

    def damaged(degree: Perturbation) -> str | Impossible:
        if n < 2 or (degree.k is not None and degree.k > n):
            return few_or_none(n)
        places = [sentences[site] for site in sorted(choices.order[: max(2, n_taken(degree, n))])]
        moved = [*places[1:], places[0]]
        edits = [Edit(place, case.reading.of(other)) for place, other in zip(places, moved, strict=True)]
        return edited(case.reading.text, edits)

    return damaged


def sentence_delete(case: Case) -> Damaging:
    """Deletes sentences."""
    sentences = case.reading.sentences
    n = len(sentences)
    choices = case.choices(n)

    def damaged(degree: Perturbation) -> str | Impossible:
        if n < 2:
            return few_or_none(n)
        k = min(n - 1, n_taken(degree, n))
        left = edited(case.reading.text, [Edit(sentences[site], "") for site in choices.order[:k]])
        reading = TextReading(left, case.reading.language)
        return reading.of(reading.stripped(Span(0, len(left))))

    return damaged


def sentence_repeat(case: Case) -> Damaging:
    """Repeats sentences."""
    reading = case.reading

    def repeated(sentence: Span) -> str:
        return reading.of(sentence if reading.language == "ja" else reading.stripped(sentence))

    return case.replaced(reading.sentences, lambda site, _: _followed(reading, site, repeated(site)))


def sentence_insert(case: Case) -> Damaging:
    """Inserts sentences of other texts."""
    reading = case.reading
    key = ("sentences", reading.language)
    without = ["", *reading.stripped_sentences]
    candidates = case.donors.candidates(
        key, lambda donor: read(donor, reading.language).stripped_sentences, case.group, without
    )
    if reading.sentences and not candidates:
        return lambda _: Impossible.NO_CANDIDATE
    return case.replaced(
        reading.sentences,
        lambda site, generator: _followed(reading, site, candidates[generator.below(len(candidates))]),
    )


def _followed(reading: TextReading, sentence: Span, new: str) -> str:
    """A sentence and a new sentence: in Japanese after its white space, in English after a space."""
    if reading.language == "ja":
        return reading.of(sentence) + new
    end = reading.stripped(sentence).end
    return f"{reading.of(Span(sentence.start, end))} {new}{reading.of(Span(end, sentence.end))}"


def answer_swap(case: Case) -> Damaging:
    """Replaces the text by another text."""
    others = case.donors.candidates("texts", lambda donor: [donor], case.group, [case.reading.text])
    if not others:
        return lambda _: Impossible.NO_CANDIDATE
    chosen = others[case.generator().below(len(others))]
    return lambda _: chosen


def wrong_ending(case: Case) -> Damaging:
    """Replaces the right ending by the wrong ending."""
    return lambda _: Impossible.NO_CANDIDATE if case.alternative is None else case.alternative


def negate(case: Case) -> Damaging:
    """Replaces predicates by their opposites."""
    reading = case.reading
    pattern, opposite = (_japanese(), _opposite_ja) if reading.language == "ja" else (_english(), _opposite_en)
    opposites = {Span(*match.span()): opposite(match) for match in pattern.finditer(reading.seen)}
    sites = [site for site in opposites if reading.joining.isdisjoint(range(*site))]
    return case.replaced(sites, lambda site, _: opposites[site])


@cache
def _japanese() -> re.Pattern[str]:
    longest_first = sorted(tables().negation_ja, key=len, reverse=True)
    followed_by = [*map(re.escape, tables().negation_ja_followed_by), *([r"\Z"] * tables().negation_ja_at_end)]
    return re.compile(f"(?:{'|'.join(longest_first)})(?={'|'.join(followed_by)})")


def _opposite_ja(predicate: re.Match[str]) -> str:
    return tables().negation_ja[predicate.group()]


@cache
def _english() -> re.Pattern[str]:
    with_nt = "ca|wo|do|is|are|was|were|could|would|should|has|have|had|does|did"
    auxiliaries = "|".join(tables().auxiliaries)
    return re.compile(rf"\b(?:(cannot)|({with_nt})(n['’]t)|({auxiliaries})(?! to\b)( not)?)\b", re.IGNORECASE)


def _opposite_en(predicate: re.Match[str]) -> str:
    """The opposite of a verb, negative or positive; the remaining letters keep their case."""
    cannot, before_nt, _, auxiliary, not_behind = predicate.groups()
    if cannot:
        return cannot[:3]
    if before_nt:
        left = _WITHOUT_NT.get(before_nt.lower())
        return before_nt if left is None else left.capitalize() if before_nt[0].isupper() else left
    if not_behind:
        return auxiliary
    return auxiliary + ("not" if auxiliary.lower() == "can" else " not")
