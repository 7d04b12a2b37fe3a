"""scikit-learn's CountVectorizer: the document frequencies of a set, and nothing that scores with them."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn.feature_extraction.text import CountVectorizer


class Counts:
    """The vocabulary of n-grams of a set, and which of them each reference holds.

    It takes white space of any length for one space, so a set that has it doubled gives other n-grams.
    """

    def __init__(self, references: Sequence[str]) -> None:
        self._vectorizer = CountVectorizer(analyzer="char", ngram_range=(1, 10), binary=True, lowercase=False)
        self._held = self._vectorizer.fit_transform(references)

    def document_frequencies(self) -> dict[str, int]:
        ngrams = self._vectorizer.get_feature_names_out()
        return dict(zip(ngrams, self._held.sum(axis=0).A1.tolist(), strict=True))
