"""What the tokens of classic metrics are: words by a counter, characters, what blanks separate, or a tokenizer's."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from ...errors import ChecklistError, PfgenError
from ...files.reading import read_stored
from ...files.untrusted_text import unknown_name
from ...suite.units import FileTokenizer
from ..suite import ChecklistSuite
from ..words import Counter, counter_name, counter_there, without, words

BLANKS = "blanks"
_COUNTERS: tuple[Counter, ...] = get_args(Counter)


@dataclass(frozen=True)
class Tokenizing:
    """How texts become tokens."""

    signature: str
    tokens: Callable[[str], Sequence[Any]]
    are_words: bool = False
    note: str | None = None


def open_tokenizing(name: str | None = None, suite: ChecklistSuite | None = None) -> Tokenizing:
    """How texts become tokens, by name."""
    if name is None:
        wanted: Counter = "regex" if suite is None else suite.words
        counter = counter_there(wanted)
        return _by_counter(counter, None if counter == wanted else without(wanted, counter))
    for counter in _COUNTERS:
        if name == counter:
            return _by_counter(counter)
    if name == BLANKS:
        return Tokenizing(BLANKS, str.split, are_words=True)
    if not Path(name).is_file():
        known = [*_COUNTERS, BLANKS]
        raise ChecklistError(f"{unknown_name('kind of tokens', name, known)}, or the path of a tokenizer.json")
    return _by_file(Path(name))


def _by_counter(counter: Counter, note: str | None = None) -> Tokenizing:
    return Tokenizing(counter_name(counter), lambda text: words(text, counter), counter != "characters", note)


def _by_file(path: Path) -> Tokenizing:
    try:
        digest = hashlib.sha1(read_stored(path)).hexdigest()
        tokenizer = FileTokenizer(path, digest)
        tokenizer.tokens([""])
    except PfgenError as error:
        raise ChecklistError(str(error)) from None

    def tokens(text: str) -> list[Any]:
        return [token.key for token in tokenizer.tokens([text])[0]]

    return Tokenizing(f"tokenizer {digest[:12]}", tokens)
