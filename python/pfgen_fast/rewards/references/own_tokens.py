"""Tokens of a tokenizer that the user wrote, as numbers for the core."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.errors import TrialsError
from ...base.native import _core
from ...base.untrusted_text import shown_value

Tokenize = Callable[[str], Iterable[Hashable]]
TokenArrays = tuple[NDArray[np.uint32], NDArray[np.uint64]]

_END_OF_SENTENCE = 0xFFFFFFFF


class TokenNumbers:
    """The numbers of tokens; the tokenizer is called once for each different text."""

    def __init__(self, tokenize: Tokenize, *, lowercase: bool) -> None:
        self._tokenize, self._lowercase = tokenize, lowercase
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[str, list[int]] = {}

    def of_texts(self, column: _core.TextColumn) -> TokenArrays:
        """The tokens of each text, and where they begin."""
        return _arrays([] if text is None else self._of(text) for text in column.tolist())

    def of_sentences(self, column: _core.TextColumn) -> TokenArrays:
        """The tokens of each line that is not empty, with a mark after each line."""
        return _arrays(
            [number for line in (text or "").split("\n") if line for number in (*self._of(line), _END_OF_SENTENCE)]
            for text in column.tolist()
        )

    def _of(self, text: str) -> list[int]:
        numbers = self._known.get(text)
        if numbers is None:
            tokens: Any = self._tokenize(text.lower() if self._lowercase else text)
            try:
                numbers = [self._numbers.setdefault(token, len(self._numbers)) for token in tokens]
            except TypeError:
                problem = f"expected the tokenizer to return a list of tokens, got {shown_value(tokens)}"
                raise TrialsError(problem) from None
            self._known[text] = numbers
        return numbers


def _arrays(texts: Iterable[list[int]]) -> TokenArrays:
    numbers: list[int] = []
    begins = [0]
    for text in texts:
        numbers += text
        begins.append(len(numbers))
    return np.array(numbers, np.uint32), np.array(begins, np.uint64)
