"""METEOR of an answer against reference answers, by nltk."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ...errors import ChecklistError
from ...files.optional import optional


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
