"""A filter by score for datatrove, which scores documents in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import PfgenError, TrialsError, optional
from ..scoring.scorer import ScorerSpec
from ..suite.suite import Suite
from ..tables.table_job import Nulls, TableJob

if TYPE_CHECKING:
    from datatrove.data import Document
    from datatrove.pipeline.writers.disk_base import DiskWriter

_filters = optional("datatrove.pipeline.filters.base_filter", extra="datatrove", needed_for="the filter for datatrove")
BaseFilter: Any = _filters.BaseFilter

NO_SCORE, SCORE = "no_score", "score"
"""The reasons for a dropped document: a compared score is missing, or a score does not pass."""


class PfgenScoreFilter(BaseFilter):  # type: ignore[misc]  # datatrove is optional
    """Keeps the documents whose answer has a sufficient score, and writes the scores into their metadata.

    The answer is the text of a document; its question is in the metadata. A score is None if the answer or the
    reference set is missing. The statistics have the mean of each score, and the numbers of dropped documents
    (`dropped_score`, `dropped_no_score`). An exclusion writer finds the reason in `filter_reason`.

    Args:
        suite: A `ScorerSpec`, a suite, or an argument of `Suite.load`. For a suite, each process scores with one
            thread, because datatrove runs one process for each core.
        minimum: The minimum average of documents to keep; short for `where="average >= MINIMUM"`.
        where: The condition for documents to keep, such as `"average >= 0.6 and helpfulness > 0"`. Without `minimum`
            and `where`, all documents are kept.
        question_key: The key of the metadata with the id or exact text of the question.
        answer_key: The key of the metadata with the answer; by default the answer is the text.
        columns: The scores to keep.
        nulls: `"error"` raises an error that names a missing answer; `"null"` gives the answer no scores, so it never
            passes a filter.
        prefix: The prefix of the names of the kept scores.
        exclusion_writer: Writes the dropped documents.
        batch_size: The number of documents that are scored together.

    Example:
        >>> from datatrove.data import Document
        >>> text = "Ice floats because it is less dense than water."
        >>> document = Document(text, "1", metadata={"question": "Q07"})
        >>> [kept] = PfgenScoreFilter("mini", 0.3)([document])
        >>> kept.metadata
        {'question': 'Q07', 'average': 0.3533}
    """

    name = "🎯 pfgen-fast score"

    def __init__(
        self,
        suite: ScorerSpec | Suite | str | Path,
        minimum: float | None = None,
        *,
        where: str | None = None,
        question_key: str = "question",
        answer_key: str | None = None,
        columns: Sequence[str] = ("average",),
        nulls: Nulls = "error",
        prefix: str = "",
        exclusion_writer: DiskWriter | None = None,
        batch_size: int = 8192,
    ) -> None:
        super().__init__(exclusion_writer, batch_size)
        if minimum is not None and where is not None:
            raise PfgenError(f"minimum {minimum} and where {where!r}: expected only one of these; where can have both")
        self._question_key, self._answer_key = question_key, answer_key
        spec = suite if isinstance(suite, ScorerSpec) else ScorerSpec(suite, threads=1)
        where = where if minimum is None else f"average >= {minimum}"
        job = TableJob(spec, question_key, answer_key or "text", columns, nulls, where)
        self._names = {name: prefix + name for name in job.names.scores}
        self._row_filter = job.row_filter
        scores = tuple(dict.fromkeys((*self._names, *self._row_filter.columns)))
        self._job = replace(job, columns=scores, where=None)

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Returns True for a kept document, or False with the reason; see `filter_batch`."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Writes scores into the metadata of all documents; returns True, or False with the reason, for each one."""
        for document in batch:
            for name in self._names.values():
                if name in document.metadata:
                    raise TrialsError(
                        f"{_location(document)}: there is already a field {name!r}, the name of a score; rename it or "
                        "choose a prefix"
                    )
            if self._question_key not in document.metadata:
                there = ", ".join(map(repr, document.metadata)) or "none"
                problem = f"no {self._question_key!r} in its metadata; there are {there}"
                raise TrialsError(f"{_location(document)}: {problem}")
        key = self._answer_key
        scores = self._job.score(
            [
                [document.metadata[self._question_key] for document in batch],
                [document.text if key is None else document.metadata.get(key) for document in batch],
            ],
            lambda row: "the documents" if row is None else _location(batch[row]),
        ).scores
        for column, name in self._names.items():
            for document, score in zip(batch, scores[column].tolist(), strict=True):
                document.metadata[name] = score = None if score != score else score
                if score is not None:
                    self.stat_update(name, value=score, unit="doc")
        passing = self._row_filter.passing(scores, len(batch)).tolist()
        compared = list(zip(*(scores[name].tolist() for name in self._row_filter.columns), strict=True))
        return [
            True if passes else (False, NO_SCORE if any(value != value for value in compared[row]) else SCORE)
            for row, passes in enumerate(passing)
        ]


def _location(document: Document) -> str:
    return f"document {document.id!r}"
