"""Classic metrics as an evaluator: BLEU, chrF and ROUGE-L of a text against the references of its item.

`ReferenceScorer` computes them: sentence BLEU (effective order, exponential smoothing) and chrF equal those of
sacrebleu. ROUGE-L is the F1 of the longest common subsequence, of code points in Japanese and of words in English; the
highest value over the references counts.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence

import numpy as np

from ...base.errors import DiscernmentError
from ...base.native import _core
from ...base.untrusted_text import in_one_line, unknown_name
from ...rewards.references.reference_scorer import ReferenceScorer
from .evaluator import Floats, Item, Metric, Texts, column_of, language_of, text_column
from .user_code import Progress

_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_SCORERS = {
    "ja": (ReferenceScorer(["bleu", "chrf"], tokenize="char"), ReferenceScorer("rouge_l", tokenize=list)),
    "en": (ReferenceScorer(["bleu", "chrf"], tokenize="13a"), ReferenceScorer("rouge_l", tokenize=_WORD.findall)),
}
"""By language: the scorers of BLEU and chrF, and of ROUGE-L."""
_N_TIMED = 64
_AT_ONCE_ROWS = 4096

References = tuple[str, list[str]]
"""A language and texts in it."""


class MetricsEvaluator:
    """Compares texts with the references of their items."""

    name = "metrics"
    metrics = (Metric("bleu", low=0, high=100), Metric("chrf", low=0, high=100), Metric("rouge_l", low=0, high=1))
    is_deterministic = True

    def __init__(self, *, allow_self_reference: bool = False, on_progress: Progress | None = None) -> None:
        self._allow_self_reference = allow_self_reference
        self._tell = on_progress or (lambda done, total: None)

    @property
    def signature(self) -> str:
        """The metrics, their settings and the version of this package."""
        return (
            f"metrics:bleu,chrf,rouge_l|pfgen-fast:{_core.__version__}|tokenize:ja=char,en=13a|effective_order"
            "|rouge_l:ja=code_points,en=words"
        )

    def notes_on(self, items: Sequence[Item]) -> tuple[str, ...]:
        """Notes for readers of the scores, one sentence each."""
        n_selves = sum(map(_is_self_reference, items))
        if not n_selves:
            return ()
        return (
            f"{n_selves:,} of {len(items):,} texts are among their own references: each damage lowers their scores",
        )

    def expected_seconds(self, items: Sequence[Item], n_texts: int) -> float:
        """Estimates how long scoring `n_texts` texts takes; checks all items, and scores the texts of some items."""
        for item in items:
            self._references(item)
        some = items[:_N_TIMED]
        begin = time.perf_counter()
        MetricsEvaluator(allow_self_reference=True).score(some, text_column([item.text for item in some]))
        return n_texts * (time.perf_counter() - begin) / max(len(some), 1)

    def score(self, items: Sequence[Item], texts: Texts) -> Mapping[str, Floats]:
        """Compares each text with the references of its item.

        Raises:
            DiscernmentError: An item has no references, an unknown language, or its text is one of its references.
        """
        texts = column_of(items, texts)
        columns = {metric.name: np.full(len(texts), np.nan) for metric in self.metrics}
        known = {id(item): self._references(item) for item in items}
        rows: dict[str, list[int]] = {language: [] for language in _SCORERS}
        for row, (item, text) in enumerate(zip(items, texts.tolist(), strict=True)):
            if text is not None:
                rows[known[id(item)][0]].append(row)
        n_done, n_texts = 0, sum(map(len, rows.values()))
        for language, scorers in _SCORERS.items():
            for begin in range(0, len(rows[language]), _AT_ONCE_ROWS):
                some = rows[language][begin : begin + _AT_ONCE_ROWS]
                self._tell(n_done, n_texts)
                answers, references = [texts[row] for row in some], [known[id(items[row])][1] for row in some]
                scores = [scorer.score(answers, references) for scorer in scorers]
                for metric, table in zip(self.metrics, (scores[0], *scores), strict=True):
                    # sacrebleu's best score is slightly above 100, which is outside of the scale.
                    columns[metric.name][some] = np.clip(table[metric.name], None, metric.high)
                n_done += len(some)
        self._tell(n_done, n_texts)
        return columns

    def _references(self, item: Item) -> References:
        where = f"item {in_one_line(item.id)}"
        if not item.references:
            raise DiscernmentError(f"{where}: has no references, which the evaluator metrics needs")
        language = item.language or language_of(item.text)
        if language not in _SCORERS:
            raise DiscernmentError(f"{where}: {unknown_name('language', language, _SCORERS)}")
        if _is_self_reference(item) and not self._allow_self_reference:
            problem = "its text is one of its references, so that each damage lowers its scores"
            raise DiscernmentError(f"{where}: {problem}; expected other references, or --allow-self-reference")
        return language, list(item.references)


def _is_self_reference(item: Item) -> bool:
    return item.text.strip() in {reference.strip() for reference in item.references}
