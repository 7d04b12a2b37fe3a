"""Sentences of a text in any language, by rules that need no data.

A sentence ends with `.`, `!` or `?` before white space, and with their full-width forms before anything, together with
the closing quotes and brackets behind them; and at an empty line. Abbreviations end sentences, too: what counts here is
that equal sentences are cut alike. All of it takes linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from ...errors import ChecklistError
from ...files.optional import optional

MIN_CHARACTERS = 20
"""A shorter sentence may well stand several times."""

_CLOSING = "[\"'”’»)\\]}）］」』】》〉]*"
# Linear: marks are no closing quotes, so that what is tried behind a mark in vain ends at the next mark.
_BREAK = re.compile(rf"[.!?]{_CLOSING}(?=\s|\Z)|[。．！？][.!?。．！？]*{_CLOSING}|\n[^\S\n]*\n")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, with white space folded to single blanks; none of them is empty."""
    ends = [0, *(match.end() for match in _BREAK.finditer(text)), len(text)]
    found = (text[begin:end] for begin, end in pairwise(ends))
    return [folded for sentence in found if (folded := " ".join(sentence.split()))]


@dataclass(frozen=True, slots=True)
class Repeated:
    """The commonest sentence of a text."""

    sentence: str = ""
    count: int = 0
    longest_run: int = 0


def repeated(listed: Sequence[str], min_characters: int = MIN_CHARACTERS) -> Repeated:
    """The commonest of some sentences; shorter ones do not count, and interrupt no run."""
    long = [sentence for sentence in listed if len(sentence) >= min_characters]
    if not long:
        return Repeated()
    sentence, count = Counter(long).most_common(1)[0]
    return Repeated(sentence, count, max(sum(1 for _ in run) for _, run in groupby(long)))


def published_sentences(text: str) -> list[str]:
    """The sentences by NLTK, as the published figures have them."""
    nltk: Any = optional("nltk", extra="metrics", needed_for="NLTK's sentences", error=ChecklistError)
    try:
        listed: list[str] = nltk.sent_tokenize(text)
    except LookupError:
        raise ChecklistError(
            "NLTK's sentences need its data 'punkt', which are not there: python -m nltk.downloader punkt punkt_tab"
        ) from None
    return listed
