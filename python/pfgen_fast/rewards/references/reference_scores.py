"""Tables of the scores of answers with references in their rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Counts, Floats
from ...base.errors import TrialsError
from ...base.native import _core
from ...base.table import Column, Table
from ...base.untrusted_text import counted, in_one_line, shown_value, unknown_name
from ...scoring.score_table import ColumnTable
from .metrics import BLEU, corpus_name


class CorpusScorer(Protocol):
    """The scorer of a table."""

    @property
    def signature(self) -> str:
        """Identifies how scores are computed."""

    def of_corpus(self, metric: str, sums: NDArray[np.int64]) -> float:
        """The score of a corpus from the sums of its counts."""


class ReferenceScores(ColumnTable):
    """Scores of a batch as NumPy columns, with one row for each answer in the order of the batch.

    Columns are attributes and items, named after the metrics; ROUGE has `_precision` and `_recall` as well. BLEU and
    chrF are from 0 to 100, all other metrics, and with `scale="unit"` all, from 0 to 1. Rows of missing answers hold
    NaN. Arrow consumers accept the table directly: `pyarrow.table(t)`, `polars.DataFrame(t)`, duckdb by name.

    Example:
        >>> from pfgen_fast import ReferenceScorer
        >>> scores = ReferenceScorer(["bleu", "rouge_l"]).score(["Ice floats."], [["Ice floats on water."]])
        >>> len(scores), scores.columns
        (1, ('bleu', 'rouge_l', 'rouge_l_precision', 'rouge_l_recall'))
    """

    def __init__(
        self, scorer: CorpusScorer, answers: _core.TextColumn, floats: dict[str, Floats], counts: dict[str, Counts]
    ) -> None:
        """Created by `ReferenceScorer.score`."""
        self.scorer = scorer
        self._answers, self._floats, self._counts = answers, floats, counts
        self._first, self._size = 0, len(answers)  # the range of rows of `answers` that this table covers

    @property
    def signature(self) -> str:
        """Identifies how the scores were computed; see `ReferenceScorer.signature`."""
        return self.scorer.signature

    def counts(self, metric: str) -> Counts:
        """The counts of each row that determine `bleu`, `chrf` or `chrf++`; the counts of a corpus are their sums.

        BLEU: tokens of the answer, tokens of the nearest reference, matches of each order, n-grams of each order.
        chrF: for each order n-grams of the answer, n-grams of the reference, matches.
        """
        try:
            return self._counts[corpus_name(metric)]
        except KeyError:
            raise ValueError(unknown_name("metric of a corpus", metric, self._counts)) from None

    def corpus(self, metric: str) -> float:
        """BLEU, chrF or chrF++ of all answers together, as sacrebleu computes it for a corpus.

        Example:
            >>> from pfgen_fast import ReferenceScorer
            >>> scores = ReferenceScorer("bleu").score(["Ice floats on water."], [["Ice floats on water."]])
            >>> round(scores.corpus("bleu"), 6)
            100.0
        """
        return self.scorer.of_corpus(corpus_name(metric), self.counts(metric).sum(axis=0, dtype=np.int64))

    def combined(self, column: str, scores: Any) -> Floats:
        """The mean of the z-scores of a column and of other scores of the answers, such as those of a reward model.

        The z-scores are those over all rows of the table, without rows that lack either score, whose result is NaN.

        Args:
            column: A column of this table.
            scores: One number for each answer, or None.

        Raises:
            TrialsError: `scores` does not have one finite number for each answer.

        Example:
            >>> from pfgen_fast import ReferenceScorer
            >>> scores = ReferenceScorer("nmt_bleu").score(["Ice floats.", "It is."], [["Ice floats on water."]] * 2)
            >>> scores.combined("nmt_bleu", [4.5, -1.0]).round(2).tolist()
            [0.71, -0.71]
        """
        return (_z_scores(self[column]) + _z_scores(_numbers(scores, len(self)))) / 2

    @property
    def corpus_bleu(self) -> float:
        """BLEU of all answers together; see `corpus`."""
        return self.corpus(BLEU)

    def __len__(self) -> int:
        return self._size

    def rows(self, start: int, stop: int) -> ReferenceScores:
        """The rows from `start` up to `stop` as a new table, without a copy."""
        start, stop, _ = slice(start, stop).indices(len(self))
        part = slice(start, max(start, stop))
        floats = {name: column[part] for name, column in self._floats.items()}
        counts = {name: column[part] for name, column in self._counts.items()}
        table = ReferenceScores(self.scorer, self._answers, floats, counts)
        table._first, table._size = self._first + start, part.stop - start
        return table

    def __reduce__(self) -> tuple[Any, ...]:
        answers = [self._answers[self._first + row] for row in range(len(self))]
        return _table, (self.scorer, answers, self._floats, self._counts)

    def __repr__(self) -> str:
        has_values = {name: ~np.isnan(column) for name, column in self._floats.items()}
        is_scored = np.any([*has_values.values()], axis=0) if has_values else np.ones(len(self), bool)
        shown = self._described(is_scored, [name for name, has_value in has_values.items() if has_value.any()])
        return shown[:-1] + "".join(f"; corpus {name} {self.corpus(name):.4f}" for name in self._counts) + ")"

    def _for_readers(self) -> Table:
        """The scores of each answer, and the answer."""
        rows = [(*scores.values(), self._answers[self._first + row]) for row, scores in enumerate(self)]
        answer = Column("answer", form=partial(in_one_line, n_code_points=200))
        return Table([*map(Column, self.columns), answer], rows)

    def _words(self) -> list[str]:
        return [repr(self)]


def _numbers(values: Any, n_rows: int) -> Floats:
    expected = "expected a number for each answer"
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes)):
        raise TrialsError(f"{expected}, got {shown_value(values)}", column="scores")
    numbers = values.tolist() if hasattr(values, "tolist") else list(values)
    if len(numbers) != n_rows:
        problem = f"{counted(len(numbers), 'score')} for {counted(n_rows, 'answer')}; {expected}"
        raise TrialsError(problem, column="scores")
    for row, number in enumerate(numbers):
        if number is not None and (not isinstance(number, Real) or math.isinf(number)):
            raise TrialsError(f"expected a finite number, got {shown_value(number)}", column="scores", row=row)
    return np.array(numbers, np.float64)


def _z_scores(values: Floats) -> Floats:
    """Z-scores over the values that are not NaN; zeros if these are equal."""
    known = values[~np.isnan(values)]
    return (values - known.mean()) / known.std(ddof=1) if len(known) and np.ptp(known) > 0 else values * 0


def _table(
    scorer: CorpusScorer, answers: list[str | None], floats: dict[str, Floats], counts: dict[str, Counts]
) -> ReferenceScores:
    return ReferenceScores(scorer, _core.TextColumn(answers, "answers", True), floats, counts)
