"""Hugging Face datasets: a function for `Dataset.map` that appends columns of scores, batch by batch.

The package datasets names its cache files by a hash of the pickled function. So the pickle of `AddScores` is the same
in every process if the suite, the settings and the version of this package are the same, and different otherwise.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files.optional import optional
from ..references.reference_scorer import ReferenceScorer
from ..scoring.spec import ScorerSpec
from ..suite.reading import PACKAGED
from ..suite.rules import AVERAGE_FIRST
from ..suite.suite import Suite
from ..tables.batches import scored_batches, scored_schema
from ..tables.table_job import Nulls, TableJob
from .answer_filter import values_or_none

if TYPE_CHECKING:
    import pyarrow as pa


class AddScores:
    """Appends scores to a batch; for `dataset.with_format("arrow").map(AddScores("mini"), batched=True)`.

    Batches in the format `arrow` are read without a copy. All other formats, such as lists, are supported too. Each
    process makes its scorer once.

    `suite` is a `ScorerSpec`, a suite, or an argument of `Suite.load`. `question` is the column with the id or exact
    text of each question, and `answer` the column with the answers. `ScorerSpec.columns` lists all scores that
    `columns` may have. The other arguments are those of `score_batches`.

    For reference metrics, pass a `ReferenceScorer` instead of the suite, and the columns of the references as
    `reference_column`; `columns` are then all of its metrics by default.

    Example:
        >>> add_scores = AddScores("mini", columns=["average", "helpfulness"])
        >>> add_scores({"question": ["Q07", "Q08"], "answer": ["Ice floats.", ""]})
        {'average': [0.02259, 0.0], 'helpfulness': [0.0, 0.0]}
    """

    def __init__(
        self,
        suite: ScorerSpec | ReferenceScorer | Suite | str | Path,
        *,
        question: str = "question",
        answer: str = "answer",
        columns: Sequence[str] | None = None,
        nulls: Nulls = "error",
        reference_column: str | Sequence[str] = "references",
    ) -> None:
        spec = suite if isinstance(suite, ScorerSpec | ReferenceScorer) else ScorerSpec(suite)
        if columns is None and isinstance(spec, ScorerSpec):
            columns = AVERAGE_FIRST
        self._job = TableJob(spec, question, answer, columns, nulls, reference_column=reference_column)
        self._sent_spec, self._signature = pickle.dumps(_of_one_spelling(spec)), spec.signature
        self.spec = spec

    def __call__(self, batch: Any) -> Any:
        """Returns an Arrow table with all columns; for other batches, only the columns to append."""
        return self._table(batch) if hasattr(batch, "to_batches") else self._lists(batch)

    def _table(self, batch: pa.Table) -> pa.Table:
        pa = optional("pyarrow", extra="tables", needed_for="AddScores")
        return pa.Table.from_batches(scored_batches(batch, self._job), scored_schema(batch.schema, self._job))

    def _lists(self, batch: Mapping[str, Any]) -> dict[str, list[float | None]]:
        job = self._job
        job.names.check(list(batch), "the batch")
        scored = job.score(
            [batch[name] for name in job.names.inputs],
            lambda row: "the batch" if row is None else f"row {row + 1} of the batch",
        )
        return {name: values_or_none(column) for name, column in scored.scores.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        job = self._job
        names = job.question_column, job.answer_column, job.names.scores, job.nulls, job.reference_columns
        return _received, (self._sent_spec, self._signature, *names)


def _received(
    sent_spec: bytes,
    signature: str,
    question: str,
    answer: str,
    columns: tuple[str, ...],
    nulls: Nulls,
    reference_column: tuple[str, ...],
) -> AddScores:
    """Unpickles `AddScores`. The signature is part of the pickle, because scores may change with the version."""
    options: dict[str, Any] = {"columns": columns, "nulls": nulls, "reference_column": reference_column}
    return AddScores(pickle.loads(sent_spec), question=question, answer=answer, **options)


def _of_one_spelling(spec: ScorerSpec | ReferenceScorer) -> ScorerSpec | ReferenceScorer:
    """The spec with its suite loaded from an absolute path, for any spelling of the path."""
    if isinstance(spec, ReferenceScorer):
        return spec
    suite = spec.suite
    folder = (suite.whole or suite).folder
    if folder is None:
        return spec
    same = Suite.load(folder.name if folder.parent == PACKAGED else str(folder))
    if suite.whole is not None:
        same = same.only([question.question_id for question in suite])
    return ScorerSpec(same, profile=spec.profile, float_sum=spec.float_sum, index=spec.index, threads=spec.threads)
