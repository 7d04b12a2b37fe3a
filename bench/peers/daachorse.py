"""daachorse: a compact double-array automaton over code points, in Rust."""

from __future__ import annotations

from collections.abc import Sequence

from daachorse import CharwiseDoubleArrayAhoCorasick

from .automaton import Occurrences


def build(ngrams: Sequence[str]) -> Occurrences:
    """Its overlapping matches come as they are needed."""
    occurrences: Occurrences = CharwiseDoubleArrayAhoCorasick(list(ngrams)).find_overlapping
    return occurrences
