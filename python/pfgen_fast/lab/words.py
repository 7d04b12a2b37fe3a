"""Words of a text by a named counter, which is part of every signature; sentences; and a table of lengths.

`regex`, the default, needs no package. `nltk` gives the published figures (exactly with version 3.8.1). `characters`
counts code points except white space, for languages without spaces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice, pairwise
from statistics import fmean
from typing import Any, Literal, get_args

from ..base.errors import ChecklistError, optional
from ..base.table import Column, Table

Counter = Literal["regex", "nltk", "characters"]
COUNTERS: tuple[Counter, ...] = get_args(Counter)

_WORD = re.compile(r"\w+(?:[-.,:/]\w+)*|['’]\w+|[^\w\s]")
_VISIBLE = re.compile(r"\S")


def words(text: str, counter: Counter = "regex") -> list[str]:
    """The words of a text in order; punctuation marks count as words."""
    if counter == "regex":
        return _WORD.findall(text)
    if counter == "characters":
        return _VISIBLE.findall(text)
    tokens: list[str] = _nltk().word_tokenize(text)
    return tokens


def first_words(text: str, n_words: int, counter: Literal["regex", "characters"] = "regex") -> str:
    """The first words of a text; the whole text if it has no more words."""
    if len(text) <= n_words:  # a word has at least one character
        return text
    matches = (_VISIBLE if counter == "characters" else _WORD).finditer(text)
    last = next(islice(matches, n_words - 1, None), None)
    return text if last is None or next(matches, None) is None else text[: last.end()]


def counter_name(counter: Counter) -> str:
    """The counter with its version, for a signature."""
    return f"nltk {_nltk().__version__}" if counter == "nltk" else counter


def counter_there(counter: Counter) -> Counter:
    """The counter, or `regex` instead of `nltk` if NLTK or its data are missing."""
    return "regex" if counter == "nltk" and not has_nltk() else counter


def instead_of_nltk(*effects: str) -> str:
    """A note of what NLTK lacks here, and of what happens instead."""
    return f"{_lack()}; instead, {' and '.join(effects)}"


def nltk_sentences(text: str) -> list[str]:
    """The sentences of a text by NLTK."""
    listed: list[str] = _nltk().sent_tokenize(text)
    return listed


_CLOSERS = "[\"'”’»)\\]}）］」』】》〉]*"


# A sentence ends with a mark before white space, with a full-width mark before anything, and at an empty line.
# Abbreviations end sentences, too: it only matters that equal sentences are cut alike.
# Matching takes linear time: no mark is a closing quote, so an attempt that fails after a mark stops at the next mark.
_BREAK = re.compile(rf"[.!?]{_CLOSERS}(?=\s|\Z)|[。．！？][.!?。．！？]*{_CLOSERS}|\n[^\S\n]*\n")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, not empty, with white space folded to single blanks."""
    ends = [0, *(match.end() for match in _BREAK.finditer(text)), len(text)]
    parts = (text[begin:end] for begin, end in pairwise(ends))
    return [folded for sentence in parts if (folded := " ".join(sentence.split()))]


def length_table(groups: Mapping[str, Sequence[str]], counter: Counter = "nltk") -> Table:
    """Lengths of groups of texts: the means of characters, words and sentences, and the fewest and most words.

    Words and sentences are those of NLTK, as in the papers; those of our rules if NLTK or its data are missing.
    """
    used = counter_there(counter)
    split = nltk_sentences if used == "nltk" else sentences
    titles = {"group": "texts", "n": "number", "least_words": "fewest words", "most_words": "most words"}
    titles["words"] = f"words ({counter_name(used)})"
    rows = []
    for group, texts in groups.items():
        n_words = [len(words(text, used)) for text in texts]
        means = (fmean(map(len, texts)), fmean(n_words), fmean(len(split(text)) for text in texts))
        rows.append((group, len(texts), *means, min(n_words), max(n_words)))
    names = ("group", "n", "characters", "words", "sentences", "least_words", "most_words")
    columns = [Column(name, titles.get(name, ""), 1) for name in names]
    return Table(columns, rows, "Mean lengths of texts", "lengths", significant=12)


def has_nltk() -> bool:
    """Whether NLTK and its sentence data are installed."""
    return not _lack()


@cache
def _lack() -> str:
    """A sentence about the package or the data that NLTK's words need and that are missing; empty if none are."""
    try:
        _nltk()
    except ChecklistError as error:
        return str(error)
    return ""


@cache
def _nltk() -> Any:
    nltk = optional("nltk", extra="metrics", needed_for="the word counter nltk", error=ChecklistError)
    try:
        nltk.word_tokenize("a b")
    except LookupError:
        raise ChecklistError(
            "the word counter nltk needs NLTK's data 'punkt', which are not installed: python -m nltk.downloader punkt "
            "punkt_tab"
        ) from None
    return nltk
