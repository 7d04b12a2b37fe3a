"""Tokens as units of n-grams, in place of characters. Rules: docs/scoring.md, section 8.

A text in tokens is *spelled*: it becomes a string with one code point for each token. Code that counts code points
therefore counts tokens, and the core and the index format are the same for both units.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from ..base.errors import SuiteError, TrialsError, optional
from ..base.file_reading import read_stored
from ..base.native import _core, cached_property
from ..base.untrusted_text import shown_value

PATTERNS = {"whitespace": r"\S+", "words": r"\w+|[^\w\s]"}
"""Tokenizers by name, for Unicode 13.0. `whitespace`: each sequence without whitespace is a token. `words`: each word
and each other visible character is a token."""

# Truthfulness also skips tokens that are one of these characters.
_SELF_SPELLED = frozenset("^$、。・「」『』（）【】［］〈〉《》")
_FIRST = 0x40000  # the first of the planes without assigned characters
_N_SYMBOLS = 0x110000 - _FIRST
_UNKNOWN = "\U0003fffe"  # a noncharacter, which spells no other token


_READ_PER_UNIT = 8  # characters of a long answer that are read at first
_ENDS_WORD = "[0-9A-Za-zÀ-ÖØ-öø-ÿΑ-Ωα-ωА-яぁ-ゖァ-ヺ一-龥가-힣]"  # in every version of Unicode; compiled when needed
# The parts of a tokenizer.json that act on a word, and the characters at which some of them split: the tokens before
# such a character, if it follows a letter or digit, do not depend on the text from there on.
_OF_WORDS = frozenset(
    ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Strip", "Prepend", "BertNormalizer", "Nmt",
     "Precompiled", "Digits", "Punctuation", "UnicodeScripts", "ByteLevel")
)  # fmt: skip
_SPLITS = {
    "BertPreTokenizer": " \n。、",
    "ByteLevel": " \n。、",
    "Metaspace": " ",
    "Whitespace": " \n。、",
    "WhitespaceSplit": " \n",
}


class Token(NamedTuple):
    """A token: its identity and its span in the text."""

    key: str | int
    start: int
    end: int


@dataclass(frozen=True)
class PatternTokenizer:
    """A tokenizer defined by a regular expression; `name` is one of `PATTERNS`."""

    name: str
    noun: ClassVar[str] = "word"

    @property
    def source(self) -> dict[str, str]:
        """The keys that select it in a question file."""
        return {"unit": "token", "tokenizer": self.name}

    @property
    def native(self) -> _core.TokenPattern:
        """The tokenizer of the core."""
        return getattr(_core.TokenPattern, self.name)  # type: ignore[no-any-return]

    def tokens(self, texts: Sequence[str]) -> list[list[Token]]:
        """The tokens of each text."""
        spans = (_core.token_spans(self.native, text) for text in texts)
        return [
            [Token(text[start:end], start, end) for start, end in of_text]
            for text, of_text in zip(texts, spans, strict=True)
        ]


@dataclass(frozen=True)
class FileTokenizer:
    """A tokenizer.json of Hugging Face `tokenizers` in the suite's folder, loaded on first use."""

    path: Path
    sha1: str
    noun: ClassVar[str] = "token"

    @property
    def source(self) -> dict[str, str]:
        """The keys that select it in a question file."""
        return {"unit": "token", "tokenizer": self.path.name, "tokenizer_sha1": self.sha1}

    def tokens(self, texts: Sequence[str]) -> list[list[Token]]:
        """The tokens of each text."""
        # Placeholders of the same length replace lone surrogates, which the package refuses.
        encodable = [re.sub("[\ud800-\udfff]", "\ufffd", text) for text in texts]
        encodings = self._loaded.encode_batch(encodable, add_special_tokens=False)
        return [
            [Token(key, *span) for key, span in zip(encoding.ids, encoding.offsets, strict=True)]
            for encoding in encodings
        ]

    @cached_property
    def _loaded(self) -> Any:
        content = self.checked_content()
        tokenizers = optional("tokenizers", extra="tokens", needed_for=f"the tokenizer {self.path}")
        try:
            loaded = tokenizers.Tokenizer.from_str(content.decode())
        except Exception as error:  # the package raises plain Exception
            raise SuiteError(f"{self.path}: not a tokenizer of the package 'tokenizers': {error}") from None
        loaded.no_truncation()
        loaded.no_padding()
        return loaded

    @cached_property
    def separators(self) -> str:
        """The characters before which a text may be cut, after a letter or digit; empty if this may change tokens."""
        spec = json.loads(self._loaded.to_str())
        normalisers = _flat(spec.get("normalizer"), "normalizers")
        pieces = _flat(spec.get("pre_tokenizer"), "pretokenizers")
        separators = ""
        for part in (*normalisers, *pieces):
            kind = part.get("type")
            if part in pieces and kind in _SPLITS and part.get("use_regex", True) and part.get("split", True):
                separators += _SPLITS[kind]
            elif kind not in _OF_WORDS:
                return ""
        if any(re.search(rf"[^\W_][{separators} ]", token["content"]) for token in spec.get("added_tokens") or ()):
            return ""
        return separators

    def check(self) -> None:
        """Raises SuiteError if the file cannot be used; without the package `tokenizers`, checks only the SHA-1."""
        if importlib.util.find_spec("tokenizers") is None:
            self.checked_content()
        else:
            _ = self._loaded

    def checked_content(self) -> bytes:
        """The bytes of the file; raises SuiteError if their SHA-1 differs."""
        try:
            content = read_stored(self.path)
        except TrialsError as error:
            raise SuiteError(f"the tokenizer {error}") from None
        sha1 = hashlib.sha1(content).hexdigest()
        if sha1 != self.sha1:
            raise SuiteError(f"{self.path}: SHA-1 {sha1[:12]}..., but the question expects {self.sha1[:12]}...")
        return content

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "sha1": self.sha1}


def _flat(part: Any, key: str) -> list[dict[str, Any]]:
    """The parts of a normaliser or pre-tokenizer, which may be a sequence."""
    if not part:
        return []
    return [inner for item in part[key] for inner in _flat(item, key)] if part.get("type") == "Sequence" else [part]


def beginnings(text: str, n_units: int, separators: str) -> Iterator[str]:
    """Longer and longer beginnings of a text of many units, which end between a letter or digit and a separator.

    The last one is the whole text.
    """
    n = _READ_PER_UNIT * n_units
    while n < len(text):
        for end in range(n, max(n // 2, n - 2000), -1):
            if text[end] in separators and re.match(_ENDS_WORD, text[end - 1]):
                yield text[:end]
                break
        n *= 4
    yield text


Tokenizer = PatternTokenizer | FileTokenizer
"""Splits texts into tokens."""


@dataclass(frozen=True)
class Spelled:
    """A text in tokens: one code point for each token in `symbols`, and the span of each token in `text`."""

    text: str
    symbols: str
    starts: list[int] = field(repr=False)
    ends: list[int] = field(repr=False)

    def cut(self, n: int) -> str:
        """The text up to the end of its n-th token; the whole text if it has at most n tokens."""
        if len(self.symbols) <= n:
            return self.text
        return self.text[: self.ends[n - 1]] if n else ""

    def position(self, end: int) -> int:
        """The number of tokens that begin before `end`: the position, in tokens, of a match that ends there."""
        return bisect_left(self.starts, end)

    def by_character(self, values: Sequence[Any], before: Any) -> list[Any]:
        """Spreads values of the first tokens over their characters; whitespace gets the value of the token before."""
        begun = (bisect_left(self.starts, index + 1) for index in range(len(self.cut(len(values)))))
        return [values[n_tokens - 1] if n_tokens else before for n_tokens in begun]


class Spelling:
    """Spells texts in the tokens of one tokenizer; all words that no reference answer has share one code point."""

    def __init__(self, tokenizer: Tokenizer, vocabulary: Iterable[str] = ()) -> None:
        self.tokenizer = tokenizer
        self.vocabulary = tuple(vocabulary)
        if len(self.vocabulary) > _N_SYMBOLS:
            raise SuiteError(f"{len(self.vocabulary):,} different words; a question can have at most {_N_SYMBOLS:,}")
        self._symbols: dict[str | int, str] = {word: chr(_FIRST + i) for i, word in enumerate(self.vocabulary)}

    @classmethod
    def learned(cls, tokenizer: Tokenizer, texts: Sequence[str]) -> Spelling:
        """Learns the words of the reference answers of a question; the tokens of a file have numbers."""
        words = _core.words_of(tokenizer.native, texts) if isinstance(tokenizer, PatternTokenizer) else ()
        return cls(tokenizer, words)

    @cached_property
    def native(self) -> _core.Spelling | None:
        """The spelling of the core; None for the tokenizer of a file, which only Python can call."""
        if not isinstance(self.tokenizer, PatternTokenizer):
            return None
        words = dict.fromkeys((*self.vocabulary, *sorted(_SELF_SPELLED)))
        symbols = "".join(word if word in _SELF_SPELLED else self._symbols[word] for word in words)
        return _core.Spelling(self.tokenizer.native, list(words), symbols, _UNKNOWN)

    def spelled(self, texts: Sequence[str]) -> list[str]:
        """Spells each text, with one code point for each token."""
        if self.native is not None:
            return self.native.spelled(texts)
        spelled = zip(texts, self.tokenizer.tokens(texts), strict=True)
        return ["".join(self._symbol(text, token) for token in tokens) for text, tokens in spelled]

    def read(self, text: str) -> Spelled:
        """Spells one text and keeps the spans of its tokens."""
        (tokens,) = self.tokenizer.tokens([text])
        symbols = "".join(self._symbol(text, token) for token in tokens)
        return Spelled(text, symbols, [token.start for token in tokens], [token.end for token in tokens])

    def read_first(self, text: str, n: int) -> Spelled:
        """Spells at least the first `n` + 1 tokens of a text, without the rest where that cannot change them."""
        is_long = len(text) > _READ_PER_UNIT * n
        for beginning in beginnings(text, n, getattr(self.tokenizer, "separators", "") if is_long else ""):
            spelled = self.read(beginning)
            if len(spelled.symbols) > n:
                break
        return spelled

    def _symbol(self, text: str, token: Token) -> str:
        written = text[token.start : token.end].strip()
        if written in _SELF_SPELLED:
            return written
        if isinstance(token.key, int):
            if not token.key < _N_SYMBOLS:
                raise SuiteError(f"token id {token.key}; a tokenizer can have at most {_N_SYMBOLS:,} tokens")
            return chr(_FIRST + token.key)
        return self._symbols.get(token.key, _UNKNOWN)


def tokenizer_faults(source: Mapping[str, Any], folder: Path | None) -> list[str]:
    """Returns one sentence for each fault of the keys that select the unit in a question file."""
    unit, name, sha1 = (source.get(key) for key in ("unit", "tokenizer", "tokenizer_sha1"))
    if unit not in (None, "character", "token"):
        return [f"'unit': expected 'character' or 'token', not {shown_value(unit)}"]
    if unit != "token":
        return [f"{key!r} needs the unit 'token'" for key in ("tokenizer", "tokenizer_sha1") if key in source]
    if isinstance(name, str) and name in PATTERNS:
        return [] if sha1 is None else [f"'tokenizer_sha1' is allowed only for files; {name!r} is a built-in tokenizer"]
    if not isinstance(name, str) or not may_name_tokenizer(name) or Path(name).name != name:
        known = f"{', '.join(map(repr, PATTERNS))} or the name of a .json file in the suite's folder"
        return [f"'tokenizer': expected {known}, not {shown_value(name)}"]
    if not isinstance(sha1, str) or not re.fullmatch("[0-9a-f]{40}", sha1):
        return [f"'tokenizer_sha1': expected the SHA-1 of {name} in 40 hexadecimal digits, not {shown_value(sha1)}"]
    if folder is None:
        return [f"the tokenizer {name} is a file, but this suite was not loaded from a folder"]
    try:
        FileTokenizer(folder / name, sha1).check()
    except SuiteError as error:
        return [str(error)]
    return []


def may_name_tokenizer(name: str) -> bool:
    """Whether a file with this name may be a tokenizer rather than another file of a suite."""
    return name.endswith(".json") and not name.startswith("Q") and name != "suite.json"


def source_of(tokenizer: Tokenizer | None) -> dict[str, str]:
    """The keys that select the unit in a question file; none where the units are characters."""
    return {} if tokenizer is None else tokenizer.source


def freeze_tokenizer(source: Mapping[str, Any], folder: Path) -> Tokenizer | None:
    """The tokenizer of a question that `tokenizer_faults` accepts; None where the units are characters."""
    if source.get("unit", "character") == "character":
        return None
    name = source["tokenizer"]
    return PatternTokenizer(name) if name in PATTERNS else FileTokenizer(folder / name, source["tokenizer_sha1"])
