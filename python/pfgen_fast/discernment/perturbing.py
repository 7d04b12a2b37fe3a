"""Damages texts by rule, in kinds and degrees. The core applies the rules of docs/discernment_rules.md.

A damaged text depends only on kind, degree, text, seed and donors.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DiscernmentError
from ..evaluators.evaluator import language_of
from ..native import _core
from ..native.core_errors import worded
from ..native.threads import checked_threads
from .analysers import Analyser, open_analyser
from .kinds import KINDS, Impossible, Kind
from .oracle import perturbed as perturbed_by_oracle
from .plan import Perturbation, amount_of, kind_named

ANALYSED_KINDS = ("word_delete", "word_drop", "word_swap", "word_repeat", "term_swap", "function_word")
"""The kinds that depend on words, terms or particles."""

_CODES = {"ja": 0, "en": 1, None: 2}
"""The core's codes of languages; for None it finds the language from the text."""

_N_SEEDS = 1 << 64


@dataclass(frozen=True, eq=False)
class Perturbed:
    """The texts of one perturbation."""

    texts: _core.TextColumn  # a text for each original; null if the perturbation is impossible
    impossible: NDArray[np.uint8]  # reason why it is impossible, a value of `Impossible`; 0 if it is possible
    # median edit distance in code points as a share of the original's length; None unless a model made the texts
    edit_share: float | None = None


class Donors:
    """Texts whose parts are inserted into other texts; the core analyses them when a kind first needs them.

    With groups, a text takes parts only from texts of other groups, such as answers to other questions. A text without
    a group (None) is its own group. Without groups, every text may take parts from every donor.
    """

    def __init__(self, texts: Any, groups: Sequence[str | None] | None = None) -> None:
        self.texts = _column(texts, "donors")
        self.groups: NDArray[np.uint32] | None = None
        if groups is not None:
            _check_length("groups", len(groups), "donors", len(self.texts))
            known: dict[str | int, int] = {}
            keys = (row if group is None else group for row, group in enumerate(groups))
            self.groups = np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.uint32)
        with worded():
            self.core = _core.Donors(self.texts, self.groups)


def perturb(
    texts: Any,
    kind: str,
    *,
    permille: int | None = None,
    k: int | None = None,
    seed: int = 0,
    language: str | Sequence[str | None] | None = None,
    questions: Sequence[str | None] | None = None,
    donors: Donors | Sequence[str] | None = None,
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
    found = _rule(kind)
    column = _column(texts, "texts")
    if questions is not None:
        _check_length("questions", len(questions), "texts", len(column))
    (perturbed,) = perturbed_columns(
        column,
        kind,
        [Perturbation(kind, permille=permille, k=k)],
        seed=seed,
        languages=language,
        donors=_donors(donors, column, questions) if found.needs == "donors" else None,
        alternatives=alternatives,
        analyser=opened_analyser(analyser),
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
    threads: int | None = None,
    analyser: Analyser | None = None,
) -> list[Perturbed]:
    """Damages texts in several degrees; each text is analysed once."""
    found = _rule(kind)
    column = _column(texts, "texts")
    # Kinds without degrees damage the whole text.
    amounts = [
        1000 if each.permille is each.k is None and not found.has_degrees else amount_of(kind, each.permille, each.k)
        for each in degrees
    ]
    donors = donors if found.needs == "donors" else None
    if alternatives is not None:
        alternatives = _column(alternatives, "alternatives", nulls_allowed=True)
        _check_length("alternatives", len(alternatives), "texts", len(column))
    seed = operator.index(seed) % _N_SEEDS
    codes = _language_codes(languages, len(column))
    if donors is not None and donors.groups is not None:
        _check_length("texts", len(column), "donors", len(donors.texts))
    with worded():
        columns = _core.perturb(
            column,
            found.name,
            amounts,
            [each.k is not None for each in degrees],
            seed,
            codes,
            donors.core if donors is not None else None,
            donors.groups if donors is not None else None,
            alternatives,
            checked_threads(threads),
        )
    perturbed = [Perturbed(each.texts, each.impossible) for each in columns]
    if analyser is None or found.name not in ANALYSED_KINDS:
        return perturbed
    # The core has no analyser, so the oracle damages the Japanese texts.
    options: Any = {"seed": seed, "language": "ja", "analyse": analyser.analysed}
    outcomes = {
        row: perturbed_by_oracle(text, found.name, degrees, donors=_other_texts(donors, row), **options)
        for row, text in enumerate(column.tolist())
        if codes[row] == _CODES["ja"] or (codes[row] == _CODES[None] and language_of(text) == "ja")
    }
    return [_replaced(each, {row: of[i] for row, of in outcomes.items()}) for i, each in enumerate(perturbed)]


def _other_texts(donors: Donors | None, row: int) -> list[str]:
    """The texts that a text may take parts from."""
    if donors is None or donors.groups is None:
        return donors.texts.tolist() if donors else []
    return [donors.texts[int(other)] for other in np.flatnonzero(donors.groups != donors.groups[row])]


def _replaced(column: Perturbed, outcomes: Mapping[int, str | Impossible]) -> Perturbed:
    """The column with new outcomes in some rows."""
    texts, reasons = column.texts.tolist(), column.impossible.copy()
    for row, outcome in outcomes.items():
        texts[row] = outcome if isinstance(outcome, str) else None
        reasons[row] = 0 if isinstance(outcome, str) else outcome
    return Perturbed(_column(texts, "texts", nulls_allowed=True), reasons)


def opened_analyser(analyser: Analyser | str | None) -> Analyser | None:
    """Opens an analyser if it is given by its name."""
    return open_analyser(analyser) if isinstance(analyser, str) else analyser


def _rule(name: str) -> Kind:
    kind = kind_named(name)
    if kind.method != "rule":
        rules = ", ".join(kind.name for kind in KINDS.values() if kind.method == "rule")
        raise DiscernmentError(f"kind {name!r} is made by a language model; expected a kind made by rules: {rules}")
    return kind


def _donors(
    donors: Donors | Sequence[str] | None, texts: _core.TextColumn, questions: Sequence[str | None] | None
) -> Donors:
    if donors is None:
        return Donors(texts, [None] * len(texts) if questions is None else questions)
    return donors if isinstance(donors, Donors) else Donors(donors)


def _column(texts: Any, name: str, *, nulls_allowed: bool = False) -> _core.TextColumn:
    with worded():
        return _core.TextColumn(texts, name, nulls_allowed)


def _check_length(name: str, n: int, other: str, expected: int) -> None:
    if n != expected:
        raise DiscernmentError(f"{name}: {n} entries for {expected} {other}; expected one for each")


def _language_codes(languages: str | Sequence[str | None] | None, n_texts: int) -> NDArray[np.uint8]:
    listed = [languages] * n_texts if languages is None or isinstance(languages, str) else languages
    _check_length("languages", len(listed), "texts", n_texts)
    for language in set(listed):
        if language not in _CODES:
            raise DiscernmentError(f"unknown language {language!r}; expected 'ja' or 'en'")
    return np.array([_CODES[language] for language in listed], dtype=np.uint8)
