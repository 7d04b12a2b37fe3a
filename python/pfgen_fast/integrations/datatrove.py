"""A filter by score for datatrove, which scores documents in batches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TrialsError
from ..files.optional import optional
from ..scoring.spec import ScorerSpec
from ..suite.suite import Suite
from ..tables.table_job import Nulls
from .answer_filter import AnswerFilter, values_or_none

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
    (`dropped_score`, `dropped_no_score`). An exclusion writer finds the reason in `filter_reason`. The arguments that
    are not listed are those of `AnswerFilter`.

    Args:
        question_key: The key of the metadata with the id or exact text of the question.
        answer_key: The key of the metadata with the answer; by default the answer is the text.
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
        self._question_key, self._answer_key = question_key, answer_key
        self._answers = AnswerFilter(
            suite,
            minimum=minimum,
            where=where,
            question=question_key,
            answer="text" if answer_key is None else answer_key,
            columns=columns,
            nulls=nulls,
            prefix=prefix,
        )

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Returns True for a kept document, or False with the reason; see `filter_batch`."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Writes scores into the metadata of all documents; returns True, or False with the reason, for each one."""
        for document in batch:
            self._answers.check_has_no_scores(document.metadata, _location(document))
            if self._question_key not in document.metadata:
                there = ", ".join(map(repr, document.metadata)) or "none"
                problem = f"no {self._question_key!r} in its metadata; there are {there}"
                raise TrialsError(f"{_location(document)}: {problem}")
        key = self._answer_key
        scores = self._answers.scores(
            [document.metadata[self._question_key] for document in batch],
            [document.text if key is None else document.metadata.get(key) for document in batch],
            lambda row: "the documents" if row is None else _location(batch[row]),
        )
        for column, name in self._answers.names.items():
            for document, score in zip(batch, values_or_none(scores[column]), strict=True):
                document.metadata[name] = score
                if score is not None:
                    self.stat_update(name, value=score, unit="doc")
        passing = self._answers.passing(scores).tolist()
        reasons = [NO_SCORE if lacks else SCORE for lacks in self._answers.without_score(scores).tolist()]
        return [True if passes else (False, reason) for passes, reason in zip(passing, reasons, strict=True)]


def _location(document: Document) -> str:
    return f"document {document.id!r}"
