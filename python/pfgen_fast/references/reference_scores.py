"""The scores of answers with references in their rows, as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import TrialsError
from ..files.untrusted_text import unknown_name
from ..native import _core
from ..native.threads import cached_property
from ..scoring.column_table import ColumnTable
from .metrics import BLEU, CHRF, CHRF_WORDS, CORPUS_BLEU, Metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .reference_scorer import ReferenceScorer

    Floats = NDArray[np.float64]


class ReferenceScores(ColumnTable):
    """Scores of a batch as NumPy columns, with one row for each answer in the order of the batch.

    Columns are attributes and items, named after the metrics; ROUGE has `_precision` and `_recall` as well. BLEU and
    chrF are from 0 to 100, all other metrics from 0 to 1. Rows of missing answers hold NaN. Arrow consumers accept the
    table directly: `pyarrow.table(t)`, `polars.DataFrame(t)`, duckdb by name.

    Example:
        >>> from pfgen_fast.references import ReferenceScorer
        >>> scores = ReferenceScorer(["bleu", "rouge_l"]).score(["Ice floats."], [["Ice floats on water."]])
        >>> len(scores), scores.columns
        (1, ('bleu', 'rouge_l', 'rouge_l_precision', 'rouge_l_recall'))
    """

    def __init__(
        self,
        scorer: ReferenceScorer,
        answers: _core.TextColumn,
        values: Floats,
        counts: NDArray[np.int32],
        first: int = 0,
    ) -> None:
        """Created by `ReferenceScorer.score`; `first` is the row of `answers` that is the first row of `values`."""
        self.scorer = scorer
        self._answers, self._values, self._counts, self._first = answers, values, counts, first

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return self.scorer.columns

    @cached_property
    def _floats(self) -> dict[str, Floats]:
        names = [(metric, name) for metric in self.scorer._wanted for name in metric.columns]
        columns = zip(names, self._values, strict=True)
        return {name: values for (metric, name), values in columns if metric.name != CORPUS_BLEU}

    @property
    def signature(self) -> str:
        """Identifies how the scores were computed; see `ReferenceScorer.signature`."""
        return self.scorer.signature

    def counts(self, metric: str) -> NDArray[np.int32]:
        """The counts of each row that determine `bleu`, `chrf` or `chrf++`: those of a corpus are their sums.

        BLEU: tokens of the answer, tokens of the nearest reference, matches of each order, n-grams of each order.
        chrF: for each order n-grams of the answer, n-grams of the reference, matches.
        """
        begin = 0
        for wanted in self.scorer._wanted:
            n = self._n_counts(wanted)
            if n and wanted.name.removeprefix("corpus_") == metric.removeprefix("corpus_"):
                return self._counts[:, begin : begin + n]
            begin += n
        raise ValueError(unknown_name("metric of a corpus", metric, self._corpus_metrics))

    def corpus(self, metric: str) -> float:
        """BLEU, chrF or chrF++ of all answers together, as sacrebleu computes it for a corpus.

        Example:
            >>> from pfgen_fast.references import ReferenceScorer
            >>> ReferenceScorer("bleu").score(["Ice floats on water."], [["Ice floats on water."]]).corpus("bleu")
            100.00000000000004
        """
        import numpy as np

        sums = self.counts(metric).sum(axis=0, dtype=np.int64)
        core = self.scorer._core
        return core.bleu(sums) if metric.removeprefix("corpus_") == BLEU else core.chrf(sums)

    @property
    def corpus_bleu(self) -> float:
        """BLEU of all answers together; see `corpus`."""
        return self.corpus(BLEU)

    @property
    def _corpus_metrics(self) -> list[str]:
        return [wanted.name for wanted in self.scorer._wanted if self._n_counts(wanted)]

    def _n_counts(self, metric: Metric) -> int:
        scorer = self.scorer
        sizes = {BLEU: 2 + 2 * scorer.max_order, CHRF: 3 * scorer.char_order, CHRF_WORDS: 3 * (scorer.char_order + 2)}
        return sizes.get(metric.name.removeprefix("corpus_"), 0)

    def __len__(self) -> int:
        return int(self._values.shape[1])

    def rows(self, start: int, stop: int) -> ReferenceScores:
        """The rows from `start` up to `stop` as a new table, without a copy."""
        start, stop, _ = slice(start, stop).indices(len(self))
        part = slice(start, max(start, stop))
        return ReferenceScores(
            self.scorer, self._answers, self._values[:, part], self._counts[part], self._first + start
        )

    def __reduce__(self) -> tuple[Any, ...]:
        answers = [self._answers[self._first + row] for row in range(len(self))]
        return _table, (self.scorer, answers, self._values, self._counts)

    def __repr__(self) -> str:
        import numpy as np

        corpus = "".join(f"; corpus {name} {self.corpus(name):.4f}" for name in self._corpus_metrics)
        is_scored = ~np.isnan(self._values).all(axis=0)
        return self._described(is_scored, self.columns)[:-1] + f"{corpus})"

    def _shown(self) -> tuple[Sequence[str], Iterator[Sequence[Any]], int]:
        """The scores of each answer, and its beginning."""
        rows = ((*scores.values(), self._answers[self._first + row]) for row, scores in enumerate(self))
        return (*self.columns, "answer"), rows, len(self)

    def _words(self) -> list[str]:
        return [repr(self)]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Exports the table to Arrow consumers; NaN becomes null, and columns are not copied."""
        return _core.export_stream(len(self), None, list(self._floats), list(self._floats.values()))


def _table(
    scorer: ReferenceScorer, answers: list[str | None], values: Floats, counts: NDArray[np.int32]
) -> ReferenceScores:
    return ReferenceScores(scorer, _core.TextColumn(answers, "answers", True), values, counts)
