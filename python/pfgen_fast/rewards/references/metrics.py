"""The names of the metrics of references, and the tokenizers, our own and those of users."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.errors import TrialsError
from ...base.native import _core
from ...base.untrusted_text import shown_value, unknown_name

_CORE = _core.ReferenceMetric

BLEU, CHRF, CHRF_WORDS = "bleu", "chrf", "chrf++"
CORPUS_BLEU = "corpus_bleu"
NMT_BLEU, BLEU_ROUGE = "nmt_bleu", "bleu_rouge_f1"
_PLAIN = {
    BLEU: _CORE.bleu,
    CORPUS_BLEU: _CORE.bleu,
    NMT_BLEU: _CORE.nmt_bleu,
    BLEU_ROUGE: _CORE.bleu_rouge,
    CHRF: _CORE.chrf,
    CHRF_WORDS: _CORE.chrf_words,
    "rouge_l": _CORE.rouge_l,
    "rouge_lsum": _CORE.rouge_lsum,
    "token_f1": _CORE.token_f1,
    "exact_match": _CORE.exact_match,
}
_WITH_ORDER = {"rouge": _CORE.rouge_n, "rep": _CORE.rep, "distinct": _CORE.distinct}
_NUMBERED = re.compile(r"(rouge|rep|distinct)_([0-9]+)")
NGRAM_METRICS = FLUENCY, TRUTHFULNESS = "fluency", "truthfulness"
"""The metrics of docs/scoring.md that need no keyword rules, in the order of the core."""

METRICS = (*_PLAIN, *NGRAM_METRICS, "rouge_1", "rouge_2", "rep_4", "distinct_2")
"""The names of the metrics; the numbers in names may be others."""

MOST_ORDER = 16
"""The longest n-grams that may be counted."""

TOKENIZERS = ("none", "char", "13a", "intl", "zh", "rouge", "squad")
"""The tokenizers, in the order of the core."""

_USUAL_TOKENIZERS: dict[_core.ReferenceMetric | None, str] = {
    _CORE.bleu: "13a",
    _CORE.nmt_bleu: "13a",
    _CORE.bleu_rouge: "13a+rouge",
    _CORE.token_f1: "squad",
    _CORE.exact_match: "squad",
}


@dataclass(frozen=True)
class TextMetric:
    """One metric of a `ReferenceScorer`; `order` is the length of its n-grams, if its name has one."""

    name: str
    kind: _core.ReferenceMetric | None  # None of `NGRAM_METRICS`
    order: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns, in the order of the core."""
        is_rouge = self.name.startswith("rouge_")
        return (self.name, f"{self.name}_precision", f"{self.name}_recall") if is_rouge else (self.name,)

    @property
    def needs_references(self) -> bool:
        """Whether it compares with references."""
        return self.kind not in {_CORE.rep, _CORE.distinct}

    @property
    def has_pairs(self) -> bool:
        """Whether one answer and one reference have a score."""
        return self.needs_references and self.kind is not None and self.name != CORPUS_BLEU

    @property
    def reads_tokens(self) -> bool:
        """Whether it depends on the tokenizer."""
        return self.kind not in {None, _CORE.chrf, _CORE.chrf_words}

    @property
    def usual_tokenizer(self) -> str:
        """The tokenizer that the metric uses by default."""
        return _USUAL_TOKENIZERS.get(self.kind, "rouge" if self.needs_references else "char")


def read_metrics(names: str | Iterable[str], *, choices: Sequence[str] = METRICS) -> tuple[TextMetric, ...]:
    """The metrics with these names; raises ValueError, which shows the choices, for an unknown name."""
    is_one = isinstance(names, str) or not isinstance(names, Iterable)
    metrics = {name: _metric(name, choices) for name in ([names] if is_one else names)}
    if not metrics:
        raise ValueError("metrics: expected the name of at least one metric")
    return tuple(metrics.values())


def _metric(name: object, choices: Sequence[str]) -> TextMetric:
    if not isinstance(name, str):
        raise TypeError(f"metrics: expected names of metrics, not {type(name).__name__}")
    if name in NGRAM_METRICS:
        return TextMetric(name, None)
    if name in _PLAIN:
        return TextMetric(name, _PLAIN[name])
    if match := _NUMBERED.fullmatch(name):
        order = int(match[2]) if len(match[2]) <= 3 else 0
        if 1 <= order <= MOST_ORDER and name == f"{match[1]}_{order}":
            return TextMetric(name, _WITH_ORDER[match[1]], order)
        raise ValueError(f"metric {name[:40]!r}: expected n-grams of 1 to {MOST_ORDER} tokens")
    raise ValueError(unknown_name("metric", name, choices))


def lower_is_better(column: str) -> bool:
    """Whether lower values of a column of scores are better: of our own columns, only of `rep_n`."""
    return re.fullmatch("rep_[0-9]+", column) is not None


def corpus_name(metric: str) -> str:
    """The metric of an answer whose counts a metric of a corpus adds up."""
    return BLEU if metric == CORPUS_BLEU else metric


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
