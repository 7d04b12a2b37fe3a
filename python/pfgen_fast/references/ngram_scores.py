"""Fluency and truthfulness by the references in the row, which are compiled on the spot (docs/scoring.md)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ..errors import TrialsError
from ..native import _core
from .metrics import NGRAM_METRICS
from .reference_lists import NO_LIST, ReferenceLists

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST_REFERENCES = 100
"""With fewer reference answers, unrelated answers would have high scores."""

_MOST_KEPT = 256  # lists of which an index is kept


class NgramScores:
    """Scores answers by lists of reference answers; keeps the indexes of the last lists."""

    def __init__(self) -> None:
        self._indexes: dict[tuple[str, ...], _core.QuestionIndex] = {}

    def score(self, answers: _core.TextColumn, lists: ReferenceLists, n_threads: int) -> dict[str, NDArray[np.float64]]:
        """The columns `fluency` and `truthfulness`; raises TrialsError for a list that is too short."""
        import numpy as np

        is_missing = lists.of_rows == NO_LIST
        sizes = np.where(is_missing, FEWEST_REFERENCES, np.diff(lists.begins)[np.where(is_missing, 0, lists.of_rows)])
        if (sizes < FEWEST_REFERENCES).any():
            row = int((sizes < FEWEST_REFERENCES).argmax())
            problem = f"fluency and truthfulness need at least {FEWEST_REFERENCES} references, got {sizes[row]}"
            raise TrialsError(problem, column="references", row=row)
        texts = lists.texts.tolist()
        keys = [tuple(texts[begin:end]) for begin, end in pairwise(lists.begins.tolist())]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        if not numbers:
            return dict.fromkeys(NGRAM_METRICS, np.full(len(answers), np.nan))
        names = [str(numbers[key]) for key in keys]
        codes = {str(number): number for number in numbers.values()}
        scorer = _core.Scorer(self._questions(list(numbers), n_threads), codes, 1, _core.FloatSum.compensated)
        of_rows = np.where(is_missing, 0, lists.of_rows).tolist()
        scores = scorer.score([names[number] for number in of_rows], answers, n_threads)
        return {name: np.where(is_missing, np.nan, scores.column(i)) for i, name in enumerate(NGRAM_METRICS)}

    def _questions(self, keys: list[tuple[str, ...]], n_threads: int) -> list[_core.Question]:
        if len(self._indexes) > _MOST_KEPT:
            self._indexes = {}
        indexes = self._indexes
        new = [key for key in keys if key not in indexes]
        compiled = _core.compile([[key] for key in new], _core.Profile.leaderboard, n_threads)
        indexes.update(zip(new, compiled, strict=True))
        return [
            _core.Question(
                index=indexes[key], rules=_core.KeywordRules([]), set_columns=[0], searchers=[], token_reader=None
            )
            for key in keys
        ]
