"""Hugging Face datasets: a function for `Dataset.map` that appends columns of scores, batch by batch.

datasets names its cache files after a hash of the function, so the pickle of one is the same in every process for the
same suite, settings and version of this package, and another one for others.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files.optional import optional
from ..scoring.spec import ScorerSpec
from ..suite.reading import PACKAGED
from ..suite.suite import Suite
from ..tables.batches import scored_batches, scored_schema
from ..tables.table_job import Nulls, TableJob
from .answer_filter import values_or_none

if TYPE_CHECKING:
    import pyarrow as pa


class AddScores:
    """Appends scores to a batch; for `dataset.with_format("arrow").map(AddScores("mini"), batched=True)`.

    Batches in the format `arrow` are read without a copy. Any other format, such as lists, works too. Each process
    makes its scorer once.

    Args:
        suite: A `ScorerSpec`, or a suite or what `Suite.load` takes.
        question: The column with the id or exact text of each question.
        answer: The column with the answers.
        columns: The scores to append; `ScorerSpec.columns` has all there are.
        nulls: How to treat a missing answer: `"error"` raises an error, `"null"` gives it null scores.

    Example:
        >>> add_scores = AddScores("mini", columns=["average", "helpfulness"])
        >>> add_scores({"question": ["Q07", "Q08"], "answer": ["Ice floats.", ""]})
        {'average': [0.02259, 0.0], 'helpfulness': [0.0, 0.0]}
    """

    def __init__(
        self,
        suite: ScorerSpec | Suite | str | Path,
        *,
        question: str = "question",
        answer: str = "answer",
        columns: Sequence[str] = ("average", "fluency", "truthfulness", "helpfulness"),
        nulls: Nulls = "error",
    ) -> None:
        spec = suite if isinstance(suite, ScorerSpec) else ScorerSpec(suite)
        self._job = TableJob(spec, question, answer, columns, nulls)
        self._sent_spec, self._signature = pickle.dumps(_of_one_spelling(spec)), spec.signature
        self.spec = spec

    def __call__(self, batch: Any) -> Any:
        """A batch with scores: an Arrow table with all its columns, of anything else the columns to append."""
        return self._table(batch) if hasattr(batch, "to_batches") else self._lists(batch)

    def _table(self, batch: pa.Table) -> pa.Table:
        pa = optional("pyarrow", extra="tables", needed_for="AddScores")
        return pa.Table.from_batches(scored_batches(batch, self._job), scored_schema(batch.schema, self._job))

    def _lists(self, batch: Mapping[str, Any]) -> dict[str, list[float | None]]:
        job = self._job
        job.names.check(list(batch), "the batch")
        scored = job.score(
            batch[job.question_column],
            batch[job.answer_column],
            lambda row: "the batch" if row is None else f"row {row + 1} of the batch",
        )
        return {name: values_or_none(column) for name, column in scored.scores.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        names = self._job.question_column, self._job.answer_column, self._job.names.scores
        return _received, (self._sent_spec, self._signature, *names, self._job.nulls)


def _received(
    sent_spec: bytes, signature: str, question: str, answer: str, columns: tuple[str, ...], nulls: Nulls
) -> AddScores:
    """What another process sent; the signature is there for the hash, since scores may change with the version."""
    return AddScores(pickle.loads(sent_spec), question=question, answer=answer, columns=columns, nulls=nulls)


def _of_one_spelling(spec: ScorerSpec) -> ScorerSpec:
    """The spec with its suite loaded from the absolute path of its folder, however the caller named it."""
    suite = spec.suite
    folder = (suite.whole or suite).folder
    if folder is None:
        return spec
    same = Suite.load(folder.name if folder.parent == PACKAGED else str(folder))
    if suite.whole is not None:
        same = same.only([question.question_id for question in suite])
    return ScorerSpec(same, profile=spec.profile, float_sum=spec.float_sum, index=spec.index, threads=spec.threads)
