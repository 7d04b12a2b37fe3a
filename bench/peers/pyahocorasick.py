"""pyahocorasick: an automaton with a Python object at each pattern, in C."""

from __future__ import annotations

from collections.abc import Sequence

from ahocorasick import Automaton

from .automaton import Occurrences


def build(ngrams: Sequence[str]) -> Occurrences:
    """Its matches tell the last position only, so each pattern carries its length."""
    automaton = Automaton()
    for index, ngram in enumerate(ngrams):
        automaton.add_word(ngram, (len(ngram) - 1, index))
    automaton.make_automaton()

    def occurrences(text: str) -> list[tuple[int, int, int]]:
        return [(last - before, last + 1, index) for last, (before, index) in automaton.iter(text)]

    return occurrences
