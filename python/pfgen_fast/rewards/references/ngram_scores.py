"""Fluency and truthfulness by the references in the row, which are compiled on the spot (docs/scoring.md)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...base.errors import TrialsError
from ...base.native import _core
from .metrics import NGRAM_METRICS
from .reference_lists import NO_LIST, ReferenceLists

FEWEST_REFERENCES = 100
"""With fewer reference answers, unrelated answers would have high scores."""

_MOST_KEPT = 256  # lists of which an index is kept


class NgramScores:
    """Scores answers by lists of reference answers; keeps the indexes of the last lists."""

    def __init__(self) -> None:
        self._indexes: dict[tuple[str, ...], _core.QuestionIndex] = {}

    def score(self, answers: _core.TextColumn, lists: ReferenceLists, n_threads: int) -> dict[str, NDArray[np.float64]]:
        """The columns `fluency` and `truthfulness`; raises TrialsError for a list that is too short."""
        rows = np.flatnonzero(lists.numbers != NO_LIST)
        columns = {name: np.full(len(answers), np.nan) for name in NGRAM_METRICS}
        if not rows.size:
            return columns
        numbers = lists.numbers[rows]
        sizes = np.diff(lists.begins)[numbers]
        if sizes.min() < FEWEST_REFERENCES:
            first = int((sizes < FEWEST_REFERENCES).argmax())
            problem = f"fluency and truthfulness need at least {FEWEST_REFERENCES} references, got {sizes[first]}"
            raise TrialsError(problem, column="references", row=int(rows[first]))
        texts, begins = lists.texts.tolist(), lists.begins.tolist()
        key_of_list = {number: tuple(texts[slice(*begins[number : number + 2])]) for number in set(numbers.tolist())}
        codes = {key: code for code, key in enumerate(dict.fromkeys(key_of_list.values()))}
        questions = self._questions(list(codes), n_threads)
        names = {str(code): code for code in codes.values()}
        scorer = _core.Scorer(questions, names, 1, _core.FloatSum.compensated)
        all_codes = ["0"] * len(answers)
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            all_codes[row] = str(codes[key_of_list[number]])
        scores = scorer.score(all_codes, answers, n_threads)
        for i, column in enumerate(columns.values()):
            column[rows] = scores.column(i)[rows]
        return columns

    def _questions(self, keys: list[tuple[str, ...]], n_threads: int) -> list[_core.Question]:
        indexes = dict(self._indexes)
        new = [key for key in keys if key not in indexes]
        compiled = _core.compile([[key] for key in new], _core.Profile.leaderboard, n_threads)
        indexes.update(zip(new, compiled, strict=True))
        by_age = dict.fromkeys((*keys, *reversed(indexes)))  # the lists of this batch are the youngest
        self._indexes = {key: indexes[key] for key in reversed([*by_age][:_MOST_KEPT])}
        return [
            _core.Question(
                index=indexes[key], rules=_core.KeywordRules([]), set_columns=[0], searchers=[], token_reader=None
            )
            for key in keys
        ]
