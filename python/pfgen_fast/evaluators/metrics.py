"""Classic metrics as an evaluator: BLEU, chrF and ROUGE-L of a text against the references of its item.

Sentence BLEU (effective order, exponential smoothing) and chrF are computed by sacrebleu, including its rules for
several references. ROUGE-L is the F1 of the longest common subsequence, of code points in Japanese and of words in
English; the highest value over the references counts.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import DiscernmentError
from ..files.optional import optional
from ..files.untrusted_text import in_one_line, unknown_name
from .evaluator import Floats, Item, Metric, Texts, column_of, language_of
from .user_code import Progress

_TOKENIZERS = {"ja": "char", "en": "13a"}
_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_TIMED_SECONDS = 0.2
_TOLD_EVERY = 128

Score = Callable[[str], tuple[float, float, float]]
References = tuple[str, tuple[str, ...]]
"""A language and texts in it."""


class MetricsEvaluator:
    """Compares texts with the references of their items.

    Args:
        allow_self_reference: Whether an item's text may be one of its references; each damage then lowers its scores.
        on_progress: Called with the number of scored texts and the total.

    Example:
        >>> from pfgen_fast.evaluators.evaluator import text_column
        >>> item = Item("1", "Ice floats.", "answers", "en", references=("Ice floats on water.",))
        >>> scores = MetricsEvaluator().score([item, item], text_column(["Ice floats.", "Iron sinks."]))
        >>> {name: values.round(2).tolist() for name, values in scores.items()}
        {'bleu': [32.34, 14.13], 'chrf': [49.87, 7.55], 'rouge_l': [0.67, 0.0]}
    """

    name = "metrics"
    metrics = (Metric("bleu", low=0, high=100), Metric("chrf", low=0, high=100), Metric("rouge_l", low=0, high=1))
    is_deterministic = True

    def __init__(self, *, allow_self_reference: bool = False, on_progress: Progress | None = None) -> None:
        self._sacrebleu = _package("sacrebleu")
        self._rapidfuzz = _package("rapidfuzz")
        self._longest_common = _package("rapidfuzz.distance.LCSseq").similarity
        self._allow_self_reference = allow_self_reference
        self._tell = on_progress or (lambda done, total: None)

    @property
    def signature(self) -> str:
        """The metrics, their settings and the versions of the packages."""
        return (
            f"metrics:bleu,chrf|sacrebleu:{self._sacrebleu.__version__}|tokenize:ja=char,en=13a|effective_order"
            f"|metrics:rouge_l|rapidfuzz:{self._rapidfuzz.__version__}|units:ja=code_points,en=words"
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
        known = [(item, _references(item, self._allow_self_reference)) for item in items]
        preparing = scoring = 0.0
        n_done = 0
        for item, references in known:
            begin = time.perf_counter()
            score = self._score_of(references)
            score(item.text)  # the first call loads tokenizers
            middle = time.perf_counter()
            score(item.text)
            scoring += time.perf_counter() - middle
            preparing += middle - begin
            n_done += 1
            if preparing + scoring > _TIMED_SECONDS:
                break
        return (len(items) * preparing + n_texts * scoring) / max(n_done, 1)

    def score(self, items: Sequence[Item], texts: Texts) -> Mapping[str, Floats]:
        """Compares each text with the references of its item.

        Raises:
            DiscernmentError: An item has no references, an unknown language, or its text is one of its references.
        """
        texts = column_of(items, texts)
        rows = _rows_by_references(items, texts.tolist(), self._allow_self_reference)
        found = np.full((len(self.metrics), len(texts)), np.nan)
        n_done, n_texts = 0, sum(map(len, rows.values()))
        for references, rows_of_text in rows.items():
            score = self._score_of(references)
            for text, same in rows_of_text.items():
                found[:, same] = np.array(score(text))[:, None]
                if n_done % _TOLD_EVERY == 0:
                    self._tell(n_done, n_texts)
                n_done += 1
        self._tell(n_done, n_texts)
        return {metric.name: found[number] for number, metric in enumerate(self.metrics)}

    def _score_of(self, references: References) -> Score:
        """A function that scores texts, and prepares the references only once."""
        language, listed = references
        documents = [[reference] for reference in listed]
        metrics = self._sacrebleu.metrics
        bleu = metrics.BLEU(tokenize=_TOKENIZERS[language], effective_order=True, references=documents)
        chrf = metrics.CHRF(references=documents)
        units = [_units(reference, language) for reference in listed]

        def score(text: str) -> tuple[float, float, float]:
            # sacrebleu's best score is slightly above 100, which is outside of the scale.
            return (
                min(bleu.corpus_score([text], None).score, 100.0),
                min(chrf.corpus_score([text], None).score, 100.0),
                max(self._f1(_units(text, language), unit) for unit in units),
            )

        return score

    def _f1(self, units: Sequence[str], reference: Sequence[str]) -> float:
        n_units = len(units) + len(reference)
        return 2 * self._longest_common(units, reference) / n_units if n_units else 0.0


def _rows_by_references(
    items: Sequence[Item], texts: Sequence[str | None], allow_self_reference: bool
) -> dict[References, dict[str, list[int]]]:
    """The rows of each text by references, so that equal texts are scored once and references are prepared once."""
    known: dict[int, dict[str, list[int]]] = {}
    rows: dict[References, dict[str, list[int]]] = {}
    for row, (item, text) in enumerate(zip(items, texts, strict=True)):
        if id(item) not in known:
            known[id(item)] = rows.setdefault(_references(item, allow_self_reference), {})
        if text is not None:
            known[id(item)].setdefault(text, []).append(row)
    return rows


def _references(item: Item, allow_self_reference: bool) -> References:
    where = f"item {in_one_line(item.id)}"
    if not item.references:
        raise DiscernmentError(f"{where}: has no references, which the evaluator metrics needs")
    language = item.language or language_of(item.text)
    if language not in _TOKENIZERS:
        raise DiscernmentError(f"{where}: {unknown_name('language', language, _TOKENIZERS)}")
    if _is_self_reference(item) and not allow_self_reference:
        problem = "its text is one of its references, so that each damage lowers its scores"
        raise DiscernmentError(f"{where}: {problem}; expected other references, or --allow-self-reference")
    return language, item.references


def _is_self_reference(item: Item) -> bool:
    return item.text.strip() in {reference.strip() for reference in item.references}


def _units(text: str, language: str) -> Sequence[str]:
    return text if language == "ja" else _WORD.findall(text)


def _package(module: str) -> Any:
    return optional(module, extra="metrics", needed_for="the evaluator metrics", error=DiscernmentError)
