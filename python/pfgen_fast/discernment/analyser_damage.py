"""Japanese texts damaged by what an analyser finds in them, by the rules of the oracle; the core knows no analyser."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .analysers import Analyser
from .kinds import Impossible
from .oracle import perturbed
from .plan import Perturbation

ANALYSED_KINDS = ("word_delete", "word_drop", "word_swap", "word_repeat", "term_swap", "function_word")
"""The kinds that depend on words, terms or particles."""


def analysed_outcomes(
    texts: Sequence[str],
    kind: str,
    degrees: Sequence[Perturbation],
    analyser: Analyser,
    *,
    seed: int,
    donors_of: Callable[[int], Sequence[str]],
) -> list[list[str | Impossible]]:
    """Damages Japanese texts in several degrees."""
    found = [
        perturbed(text, kind, degrees, seed=seed, language="ja", donors=donors_of(row), analyse=analyser.analysed)
        for row, text in enumerate(texts)
    ]
    return [list(column) for column in zip(*found, strict=True)] or [[] for _ in degrees]
