"""Metrics of the tokens of long answers: repetition, distinct n-grams, BLEU without smoothing, and ROUGE-L.

`ReferenceScorer` computes them on the tokens that a suite counts. A metric is None if the answer is too short for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from ...references.reference_scorer import ReferenceScorer

MAX_ORDER = 4
"""The longest n-grams of BLEU."""

COMPARING = ("bleu", "rouge_l")
"""The metrics that compare with a reference."""
_OF_ONE_TEXT = {"repetition": "rep", "distinct": "distinct"}

BleuCounts = tuple[int, ...]
"""The counts of an answer that determine BLEU; the counts of a corpus are the sums of the counts of its answers."""


class TokenMetrics:
    """Computes some of the metrics on tokens; `n` is the order of the n-grams of repetition and distinct n-grams."""

    def __init__(self, metrics: Iterable[str], tokens: Callable[[str], Sequence[Any]], n: int = MAX_ORDER) -> None:
        self._metrics, self._tokens, self._n = tuple(metrics), tokens, n

    def score(
        self, texts: Sequence[str], references: Sequence[str | None]
    ) -> tuple[Mapping[str, list[float | None]], list[BleuCounts | None]]:
        """The metrics of each text by name, and its counts for BLEU; some texts have no reference."""
        tokens = lru_cache(maxsize=None)(self._tokens)
        columns: dict[str, list[float | None]] = {}
        alone = {name: f"{native}_{self._n}" for name, native in _OF_ONE_TEXT.items() if name in self._metrics}
        if alone:
            found = ReferenceScorer(list(alone.values()), tokenize=tokens).score(texts)
            columns |= {name: [_or_none(value) for value in found[native].tolist()] for name, native in alone.items()}
        counts: list[BleuCounts | None] = [None] * len(texts)
        compared = [name for name in COMPARING if name in self._metrics]
        rows = [row for row, reference in enumerate(references) if reference]
        if compared:
            listed = [[str(references[row])] for row in rows]
            scores = self._comparing(compared, tokens).score([texts[row] for row in rows], listed)
            for name in compared:
                columns[name] = [None] * len(texts)
                scale = 100 if name == "bleu" else 1
                for row, value in zip(rows, scores[name].tolist(), strict=True):
                    columns[name][row] = min(value / scale, 1.0)  # sacrebleu's best score is slightly above 100
            if "bleu" in compared:
                for row, of_row in zip(rows, scores.counts("bleu").tolist(), strict=True):
                    counts[row] = tuple(of_row)
        return columns, counts

    def corpus_bleu(self, counts: Iterable[BleuCounts]) -> float | None:
        """BLEU of several answers together, 0 to 1, from their counts; None without any answer."""
        import numpy as np

        rows = np.array(list(counts), np.int64)
        return min(self._bleu.of_corpus("bleu", rows.sum(axis=0)) / 100, 1.0) if len(rows) else None

    @cached_property
    def _bleu(self) -> ReferenceScorer:
        return self._comparing(["bleu"], self._tokens)

    @staticmethod
    def _comparing(metrics: Sequence[str], tokens: Callable[[str], Sequence[Any]]) -> ReferenceScorer:
        return ReferenceScorer(metrics, tokenize=tokens, smooth="none", effective_order=False, max_order=MAX_ORDER)


def repetition(tokens: Sequence[Any]) -> float | None:
    """Repetition-4 of one text, given its tokens."""
    columns, _ = TokenMetrics(["repetition"], lambda text: tokens).score([""], [None])
    return columns["repetition"][0]


def _or_none(value: float) -> float | None:
    return value if value == value else None
