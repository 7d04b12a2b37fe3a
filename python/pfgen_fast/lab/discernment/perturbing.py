"""Damages columns of texts by rule, in kinds and degrees; `damage` has the rules.

A damaged text depends only on kind, degree, text, seed and donors.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.errors import DiscernmentError
from ...base.native import _core, worded
from ..evaluators.evaluator import language_of, text_column
from .analysers import Analyser, open_analyser
from .damage import perturbed
from .damage.donors import Donors
from .damage.text_reading import LANGUAGES
from .discernment_plan import Perturbation, amount_of, kind_named
from .kinds import KINDS, Impossible, Kind

ANALYSED_KINDS = ("word_delete", "word_drop", "word_swap", "word_repeat", "term_swap", "function_word")
"""The kinds that depend on words, terms or particles."""


@dataclass(frozen=True, eq=False)
class Perturbed:
    """The texts of one perturbation."""

    texts: _core.TextColumn  # a text for each original; null if the perturbation is impossible
    impossible: NDArray[np.uint8]  # reason why it is impossible, a value of `Impossible`; 0 if it is possible
    # median edit distance in code points as a share of the original's length; None unless a model made the texts
    edit_share: float | None = None


def perturb(
    texts: Any,
    kind: str,
    *,
    permille: int | None = None,
    k: int | None = None,
    seed: int = 0,
    language: str | Sequence[str | None] | None = None,
    questions: Sequence[str | None] | None = None,
    donors: Sequence[str] | None = None,
    alternatives: Sequence[str | None] | None = None,
    analyser: Analyser | str | None = None,
) -> list[str | None]:
    """Damages texts.

    Args:
        texts: The texts.
        kind: The kind of damage, a key of `KINDS` or `ALIASES`.
        permille: The share of a text's sites to damage, 1 to 1,000 per mille.
        k: The number of sites to damage, instead of a share; 1 or more.
        seed: The seed of the random choices.
        language: `ja` or `en`: one for all texts or one for each text. By default, and for None, Japanese if the text
            has hiragana, katakana or kanji.
        questions: The question of each text. A text takes no parts from texts with the same question; without
            questions, it takes no parts from itself.
        donors: Texts to take parts from, instead of the texts with other questions.
        alternatives: The wrong ending of each text, for `wrong_ending`.
        analyser: `sudachi` or an `Analyser`, which finds the words, names and particles of Japanese texts instead of
            the rules.

    Returns:
        The damaged texts; None if the damage is impossible.

    Raises:
        DiscernmentError: A kind or degree is unknown, or the lengths differ.
        TrialsError: An entry is not a text.

    Example:
        >>> perturb(["Water is wet. Ice floats on it.", "Ice."], "word_delete", permille=200)
        ['Water is wet. Ice floats it.', None]
    """
    rule = _rule(kind)
    originals = listed(texts, "texts")
    if questions is not None:
        _check_length("questions", len(questions), len(originals))
    pool = None
    if donors is not None:
        pool = Donors(listed(donors, "donors"))
    elif rule.needs == "donors":
        pool = Donors(originals, questions if questions is not None else [None] * len(originals))
    degree = Perturbation(kind, permille=permille, k=k)
    (perturbed,) = perturbed_columns(
        originals,
        kind,
        [degree],
        seed=seed,
        languages=language,
        donors=pool,
        alternatives=alternatives,
        analyser=open_analyser(analyser),
    )
    return perturbed.texts.tolist()


def perturbed_columns(
    texts: Any,
    kind: str,
    degrees: Sequence[Perturbation],
    *,
    seed: int = 0,
    languages: str | Sequence[str | None] | None = None,
    donors: Donors | None = None,
    alternatives: Any = None,
    analyser: Analyser | None = None,
) -> list[Perturbed]:
    """Damages texts in several degrees; if the donors have groups, the texts are the donors."""
    rule = _rule(kind)
    amounts = [_degree(rule, degree) for degree in degrees]
    originals = listed(texts, "texts")
    others = [None] * len(originals)
    if alternatives is not None:
        others = listed(alternatives, "alternatives", nulls_allowed=True)
        _check_length("alternatives", len(others), len(originals))
    options: dict[str, Any] = {"seed": operator.index(seed)}
    if donors is not None:
        options["donors"] = donors
    if analyser is not None and rule.name in ANALYSED_KINDS:
        options["analyse"] = analyser.analysed
    groups = [None] * len(originals) if donors is None or donors.groups is None else donors.groups
    rows = zip(originals, _languages(languages, originals), groups, others, strict=True)
    outcomes = [
        perturbed(text, rule.name, amounts, language=language, group=group, alternative=other, **options)
        for text, language, group, other in rows
    ]
    return [_column_of([outcome[i] for outcome in outcomes]) for i in range(len(degrees))]


def _degree(rule: Kind, degree: Perturbation) -> Perturbation:
    if degree.permille is degree.k is None and not rule.has_degrees:
        return degree
    amount = amount_of(degree.kind, degree.permille, degree.k)
    return replace(degree, k=amount) if degree.permille is None else replace(degree, permille=amount)


def _column_of(outcomes: Sequence[str | Impossible]) -> Perturbed:
    texts = [None if isinstance(outcome, Impossible) else outcome for outcome in outcomes]
    reasons = [outcome if isinstance(outcome, Impossible) else 0 for outcome in outcomes]
    return Perturbed(text_column(texts), np.array(reasons, dtype=np.uint8))


def _rule(name: str) -> Kind:
    kind = kind_named(name)
    if kind.method != "rule":
        rules = ", ".join(kind.name for kind in KINDS.values() if kind.method == "rule")
        raise DiscernmentError(f"kind {name!r} is made by a language model; expected a kind made by rules: {rules}")
    return kind


def listed(texts: Any, name: str, *, nulls_allowed: bool = False) -> list[Any]:
    """The texts of a column, after a check of each entry; `name` is for error messages."""
    with worded():
        return _core.TextColumn(texts, name, nulls_allowed).tolist()


def _check_length(name: str, n: int, n_texts: int) -> None:
    if n != n_texts:
        raise DiscernmentError(f"{name}: {n} entries for {n_texts} texts; expected one for each")


def _languages(languages: str | Sequence[str | None] | None, texts: Sequence[str]) -> list[str]:
    listed = [languages] * len(texts) if languages is None or isinstance(languages, str) else languages
    _check_length("languages", len(listed), len(texts))
    for language in set(listed) - {None, *LANGUAGES}:
        raise DiscernmentError(f"unknown language {language!r}; expected 'ja' or 'en'")
    return [language or language_of(text) for language, text in zip(listed, texts, strict=True)]
