"""Damages texts by rule, in kinds and degrees. The rules are docs/discernment.md; the core applies them.

What becomes of a text depends on kind, degree, text, seed and donors: not on the order of the texts, nor on threads.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DiscernmentError
from ..evaluators.evaluator import language_of
from ..native import _core
from ..native.core_errors import worded
from ..native.threads import checked_threads
from .analysers import Analyser, open_analyser
from .items import LANGUAGES
from .kinds import KINDS, Kind
from .oracle import perturbed as perturbed_by_oracle
from .plan import Perturbation, check_ladder, kind_named

ANALYSED_KINDS = ("word_delete", "word_drop", "word_swap", "word_repeat", "term_swap", "function_word")
"""The kinds that depend on words, terms or particles."""

_BY_TEXT = 2
_N_SEEDS = 1 << 64


@dataclass(frozen=True, eq=False)
class Perturbed:
    """The damaged texts of one degree."""

    texts: _core.TextColumn  # A text for each original; null where the perturbation is impossible
    impossible: NDArray[np.uint8]  # why it is impossible: a value of `Impossible`, or 0 where it is possible

    def __len__(self) -> int:
        return len(self.impossible)


class Donors:
    """Texts of which parts are put into others. They are looked at when a kind first needs them.

    A text takes from those of other groups than its own: an answer from the answers to other questions.
    """

    def __init__(self, texts: Any, groups: Sequence[str | None] | None = None) -> None:
        column = _column(texts, "donors")
        numbers = np.arange(len(column), dtype=np.uint32)
        if groups is not None:
            _check_length("groups", len(groups), "donors", len(column))
            numbers = _numbers(groups)
        self._init(column, numbers)

    @classmethod
    def pool(cls, texts: Any) -> Donors:
        """Donors without groups: every text may take from every other."""
        donors = cls.__new__(cls)
        donors._init(_column(texts, "donors"), None)
        return donors

    def _init(self, column: _core.TextColumn, groups: NDArray[np.uint32] | None) -> None:
        self._n = len(column)
        self.texts = column
        self.groups = groups
        with worded():
            self.core = _core.Donors(column, groups)

    def __len__(self) -> int:
        return self._n


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
        permille: How much of a text's sites are damaged, 1 to 1,000 per mille.
        k: How many of them are damaged instead, 1 or more.
        seed: The seed of the random choices.
        language: `ja` or `en`, of all texts or one for each. By default, and for None, Japanese if the text has
            hiragana, katakana or kanji.
        questions: The question of each text. A text takes nothing from texts of its own question, and without questions
            nothing from itself.
        donors: Other texts to take from, instead of those with other questions.
        alternatives: The wrong ending of each text, for `wrong_ending`.
        analyser: What finds the words, names and particles of Japanese texts instead of the rules: `sudachi`, or an
            `Analyser`.

    Returns:
        The damaged texts; None where the damage is impossible.

    Raises:
        DiscernmentError: There is no such kind or degree, or the lengths differ.
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
    rows: Sequence[int] | NDArray[np.integer[Any]] | None = None,
    alternatives: Any = None,
    threads: int | None = None,
    analyser: Analyser | None = None,
) -> list[Perturbed]:
    """Damages texts in several degrees, all from one analysis of each text."""
    found = _rule(kind)
    column = _column(texts, "texts")
    amounts = [_amount(found, degree.permille, degree.k) for degree in degrees]
    if alternatives is not None:
        alternatives = _column(alternatives, "alternatives", nulls_allowed=True)
        _check_length("alternatives", len(alternatives), "texts", len(column))
    seed = operator.index(seed) % _N_SEEDS
    codes, groups = _language_codes(languages, len(column)), _groups_of(donors, rows, len(column))
    with worded():
        columns = _core.perturb(
            column,
            found.name,
            amounts,
            [degree.k is not None for degree in degrees],
            seed,
            codes,
            donors.core if donors is not None else None,
            groups,
            alternatives,
            checked_threads(threads),
        )
    perturbed = [Perturbed(each.texts, each.impossible) for each in columns]
    if analyser is None or found.name not in ANALYSED_KINDS:
        return perturbed
    return _with_analysed(perturbed, column.tolist(), found, degrees, analyser, seed, codes, donors, groups)


def _with_analysed(
    columns: Sequence[Perturbed],
    texts: Sequence[str],
    kind: Kind,
    degrees: Sequence[Perturbation],
    analyser: Analyser,
    seed: int,
    codes: NDArray[np.uint8],
    donors: Donors | None,
    groups: NDArray[np.uint32] | None,
) -> list[Perturbed]:
    """The columns with the Japanese texts damaged by the oracle, because the core knows no analyser."""
    japanese = LANGUAGES.index("ja")
    rows = [
        row
        for row, text in enumerate(texts)
        if codes[row] == japanese or (codes[row] == _BY_TEXT and language_of(text) == "ja")
    ]
    donors_of, analyse = _taken_from(donors, groups), analyser.analysed
    outcomes = {
        row: perturbed_by_oracle(
            texts[row], kind.name, degrees, seed=seed, language="ja", donors=donors_of(row), analyse=analyse
        )
        for row in rows
    }
    found = []
    for number, column in enumerate(columns):
        new, reasons = column.texts.tolist(), column.impossible.copy()
        for row, of_degrees in outcomes.items():
            outcome = of_degrees[number]
            new[row] = outcome if isinstance(outcome, str) else None
            reasons[row] = 0 if isinstance(outcome, str) else outcome
        found.append(Perturbed(_column(new, "texts", nulls_allowed=True), reasons))
    return found


def _taken_from(donors: Donors | None, groups: NDArray[np.uint32] | None) -> Callable[[int], list[str]]:
    """The texts that each text may take from, found once for each group."""
    texts = donors.texts.tolist() if donors else []

    @cache
    def outside(group: int | None) -> list[str]:
        if group is None or donors is None or donors.groups is None:
            return texts
        return [text for text, other in zip(texts, donors.groups.tolist(), strict=True) if other != group]

    return lambda row: outside(None if groups is None else int(groups[row]))


def opened_analyser(analyser: Analyser | str | None) -> Analyser | None:
    """An analyser by its name, or as it is."""
    return open_analyser(analyser) if isinstance(analyser, str) else analyser


def _rule(name: str) -> Kind:
    kind = kind_named(name)
    if kind.method != "rule":
        rules = ", ".join(kind.name for kind in KINDS.values() if kind.method == "rule")
        raise DiscernmentError(f"kind {name!r} is made by a language model; expected one by rule: {rules}")
    return kind


def _amount(kind: Kind, permille: int | None, k: int | None) -> int:
    """How much of a text is damaged; kinds without degrees damage all there is."""
    if permille is not None and k is not None:
        raise DiscernmentError(f"{kind.name}: expected either permille or k, not both")
    if permille is None and k is None:
        if kind.has_degrees:
            raise DiscernmentError(f"{kind.name}: expected either permille or k, not neither")
        return 1000
    amount = k if permille is None else permille
    whole: Any = int(amount) if isinstance(amount, Integral) else amount
    check_ladder((whole,), kind.name, "k" if permille is None else "permille")
    return int(whole)


def _donors(
    donors: Donors | Sequence[str] | None, texts: _core.TextColumn, questions: Sequence[str | None] | None
) -> Donors:
    if isinstance(donors, Donors):
        return donors
    return Donors(texts, questions) if donors is None else Donors.pool(donors)


def _column(texts: Any, name: str, *, nulls_allowed: bool = False) -> _core.TextColumn:
    with worded():
        return _core.TextColumn(texts, name, nulls_allowed)


def _check_length(name: str, n: int, other: str, expected: int) -> None:
    if n != expected:
        raise DiscernmentError(f"{name}: {n} entries for {expected} {other}; expected one for each")


def _numbers(groups: Sequence[str | None]) -> NDArray[np.uint32]:
    """A number for each group; those without a group have numbers of their own."""
    known: dict[Any, int] = {}
    numbers = [known.setdefault((row,) if group is None else group, len(known)) for row, group in enumerate(groups)]
    return np.array(numbers, dtype=np.uint32)


def _language_codes(languages: str | Sequence[str | None] | None, n_texts: int) -> NDArray[np.uint8]:
    if languages is None or isinstance(languages, str):
        return np.full(n_texts, _language_code(languages), dtype=np.uint8)
    _check_length("languages", len(languages), "texts", n_texts)
    codes = {language: _language_code(language) for language in set(languages)}
    return np.array([codes[language] for language in languages], dtype=np.uint8)


def _language_code(language: str | None) -> int:
    if language is None:
        return _BY_TEXT
    if language not in LANGUAGES:
        raise DiscernmentError(f"unknown language {language!r}; expected 'ja' or 'en'")
    return LANGUAGES.index(language)


def _groups_of(
    donors: Donors | None, rows: Sequence[int] | NDArray[np.integer[Any]] | None, n_texts: int
) -> NDArray[np.uint32] | None:
    """The group of each text among those of the donors; None if there are no groups."""
    if donors is None or donors.groups is None:
        return None
    if rows is None:
        _check_length("texts", n_texts, "donors", len(donors))
        return donors.groups
    _check_length("rows", len(rows), "texts", n_texts)
    return donors.groups[np.asarray(rows, dtype=np.intp)]
