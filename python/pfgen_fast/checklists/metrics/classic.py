"""Classic metrics of one answer: how much it repeats itself, and how much it shares with reference answers.

Everything is counted on lists of tokens, and the signature of a table says which tokens. BLEU and the n-gram shares
need no package; ROUGE-L needs rapidfuzz, METEOR needs nltk. A metric is None if the answer is too short for it.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ...errors import ChecklistError
from ...files.optional import optional

Tokens = Sequence[Hashable]

MAX_ORDER = 4
"""The longest n-grams of BLEU."""


def ngrams(tokens: Tokens, n: int) -> Counter[tuple[Hashable, ...]]:
    """The number of times that each n-gram of n tokens occurs in a text."""
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


def repetition(tokens: Tokens, n: int = MAX_ORDER) -> float | None:
    """The share of the different n-grams that occur more than once; None without n-grams."""
    counts = ngrams(tokens, n)
    return sum(count > 1 for count in counts.values()) / len(counts) if counts else None


def distinct(tokens: Tokens, n: int = MAX_ORDER) -> float | None:
    """The number of different n-grams divided by the number of all n-grams; None without n-grams."""
    counts = ngrams(tokens, n)
    return len(counts) / counts.total() if counts else None


@dataclass(frozen=True)
class BleuCounts:
    """The counts that determine BLEU; the counts of a corpus are the sums of its answers' counts."""

    matches: tuple[int, ...]
    possible: tuple[int, ...]
    n_tokens: int
    n_reference_tokens: int

    @property
    def score(self) -> float:
        """BLEU without smoothing, 0 to 1: 0 as soon as an order has no match."""
        if not all(self.matches):
            return 0.0
        logarithms = (math.log(found / n) for found, n in zip(self.matches, self.possible, strict=True))
        brevity = min(0.0, 1 - self.n_reference_tokens / self.n_tokens)
        return math.exp(brevity + math.fsum(logarithms) / len(self.matches))


def bleu_counts(tokens: Tokens, references: Iterable[Tokens]) -> BleuCounts:
    """The counts of an answer for BLEU, with the length of the shortest reference."""
    listed = list(references)
    matches = []
    for order in range(1, MAX_ORDER + 1):
        most: Counter[tuple[Hashable, ...]] = Counter()
        for reference in listed:
            most |= ngrams(reference, order)
        matches.append((ngrams(tokens, order) & most).total())
    possible = tuple(max(len(tokens) - order + 1, 0) for order in range(1, MAX_ORDER + 1))
    return BleuCounts(tuple(matches), possible, len(tokens), min(map(len, listed)))


def corpus_bleu(counts: Iterable[BleuCounts]) -> float | None:
    """BLEU of several answers together, from their counts; None without any answer."""
    rows = [(*one.matches, *one.possible, one.n_tokens, one.n_reference_tokens) for one in counts]
    sums = tuple(map(sum, zip(*rows, strict=True)))
    return BleuCounts(sums[:MAX_ORDER], sums[MAX_ORDER:-2], *sums[-2:]).score if rows else None


def rouge_l(tokens: Tokens, references: Iterable[Tokens]) -> float:
    """The F1 of the longest common subsequence of tokens, with the best reference."""
    similarity = optional(
        "rapidfuzz.distance.LCSseq", extra="metrics", needed_for="ROUGE-L", error=ChecklistError
    ).similarity
    return max(
        2 * similarity(tokens, reference) / (len(tokens) + len(reference)) if tokens and reference else 0.0
        for reference in references
    )


class Meteor:
    """METEOR as NLTK computes it (alpha 0.9, beta 3, gamma 0.5), for English only.

    Words match if they are equal or have the same Porter stem. With WordNet's files, words also match if their stems
    are synonyms, as in NLTK.
    """

    def __init__(self, wordnet: Path | None = None) -> None:
        self._score: Callable[..., float] = _nltk("nltk.translate.meteor_score").single_meteor_score
        # Without a cache, the stemmer would take most of the time.
        self._stemmer = SimpleNamespace(stem=cache(_nltk("nltk.stem.porter").PorterStemmer().stem))
        self._wordnet = SimpleNamespace(synsets=lambda word: ()) if wordnet is None else _wordnet(wordnet)
        self.name = "meteor" if wordnet else "meteor (no synonyms)"
        self.version = str(_nltk("nltk").__version__)

    def __call__(self, words: Sequence[str], references: Iterable[Sequence[str]]) -> float:
        """The score against the best of the references, 0 to 1."""
        return max(
            self._score(reference, words, stemmer=self._stemmer, wordnet=self._wordnet) for reference in references
        )


def _wordnet(folder: Path) -> Any:
    """NLTK's reader of WordNet's files; NLTK opens files only in the directories of `nltk.data.path`."""
    expected = "expected the folder corpora/wordnet of NLTK's data, with lexnames and index.noun"
    for name in ("lexnames", "index.noun"):
        if not (folder / name).is_file():
            raise ChecklistError(f"{folder}: has no file {name}; {expected}")
    reader, known = _nltk("nltk.corpus.reader.wordnet").WordNetCorpusReader, _nltk("nltk.data").path
    root = folder.resolve()
    data = root.parents[1:2] if root.parent.name == "corpora" else ()
    known += [str(path) for path in (root, *data) if str(path) not in known]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about other languages than English
            return reader(str(root), omw_reader=None)
    except Exception as error:  # NLTK's reader may raise any exception for other files
        raise ChecklistError(f"{folder}: cannot be read as WordNet ({type(error).__name__}); {expected}") from None


def _nltk(module: str) -> Any:
    return optional(module, extra="metrics", needed_for="METEOR", error=ChecklistError)
