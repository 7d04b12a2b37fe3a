"""The shared code of the filters for data pipelines: it scores answers, and applies a condition to the scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import PfgenError, TrialsError
from ..scoring.spec import ScorerSpec
from ..suite.suite import Suite
from ..tables.rows import Scores
from ..tables.table_job import Location, Nulls, TableJob

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class AnswerFilter:
    """Scores answers in batches, and selects answers by a condition.

    A filter is pickled and sent to workers; each worker makes the scorer once.

    Args:
        suite: A `ScorerSpec`, a suite, or an argument of `Suite.load`. For a suite, each process scores with one
            thread, because the pipelines run one process for each core.
        minimum: The minimum average of answers to keep; short for `where="average >= MINIMUM"`.
        where: The condition for answers to keep, such as `"average >= 0.6 and helpfulness > 0"`. Without `minimum` and
            `where`, all answers are kept.
        question: The name of the field with the id or exact text of each question.
        answer: The name of the field with the answers.
        columns: The scores to keep.
        nulls: `"error"` raises an error that names a missing answer; `"null"` gives the answer no scores, so it never
            passes a filter.
        prefix: The prefix of the names of the kept scores.

    Attributes:
        spec: The specification from which workers make the scorer.
        names: The name of the field of each kept score.
        columns: The computed scores: first the kept scores, then other scores that the condition compares.

    Example:
        >>> good = AnswerFilter("mini", minimum=0.3)
        >>> answers = ["Ice floats because it is less dense than water.", "Because."]
        >>> scores = good.scores(["Q07", "Q07"], answers, lambda row: f"row {row}")
        >>> good.passing(scores).tolist()
        [True, False]
    """

    question: str
    answer: str
    columns: tuple[str, ...]

    def __init__(
        self,
        suite: ScorerSpec | Suite | str | Path,
        *,
        minimum: float | None = None,
        where: str | None = None,
        question: str = "question",
        answer: str = "answer",
        columns: Sequence[str] = ("average",),
        nulls: Nulls = "error",
        prefix: str = "",
    ) -> None:
        if minimum is not None and where is not None:
            raise PfgenError(f"minimum {minimum} and where {where!r}: expected only one of these; where can have both")
        self.spec = suite if isinstance(suite, ScorerSpec) else ScorerSpec(suite, threads=1)
        where = where if minimum is None else f"average >= {minimum}"
        job = TableJob(self.spec, question, answer, columns, nulls, where)
        self.names = {name: prefix + name for name in job.names.scores}
        self.question, self.answer, self._filter = question, answer, job.row_filter
        self.columns = tuple(dict.fromkeys((*job.names.scores, *self._filter.columns)))
        self._job = replace(job, columns=self.columns, where=None)

    def scores(self, questions: Any, answers: Any, location: Location) -> Scores:
        """The columns of scores of a batch, with NaN for missing scores; `location` names an answer in errors."""
        return self._job.score([questions, answers], location).scores

    def passing(self, scores: Mapping[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
        """Whether each answer is kept."""
        return self._filter.passing(scores, len(scores[self.columns[0]]))

    def without_score(self, scores: Mapping[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
        """Whether a compared score is missing, for each answer; such an answer is dropped."""
        import numpy as np

        lacks = np.zeros(len(scores[self.columns[0]]), dtype=np.bool_)
        for name in self._filter.columns:
            lacks |= np.isnan(scores[name])
        return lacks

    def check_has_fields(self, names: Collection[str], location: str) -> None:
        """Raises TrialsError if the field with the questions or the field with the answers is missing."""
        for name in (self.question, self.answer):
            if name not in names:
                there = ", ".join(map(repr, names)) or "no fields"
                raise TrialsError(f"{location}: no field {name!r}; there are {there}")

    def check_has_no_scores(self, names: Collection[str], location: str) -> None:
        """Raises TrialsError if a field already has the name of a score to keep."""
        for name in self.names.values():
            if name in names:
                raise TrialsError(
                    f"{location}: there is already a field {name!r}, the name of a score; rename it or choose a prefix"
                )


def values_or_none(column: NDArray[np.float64]) -> list[float | None]:
    """The numbers of a column, with None for NaN.

    Example:
        >>> import numpy as np
        >>> values_or_none(np.array([0.5, np.nan]))
        [0.5, None]
    """
    return [value if value == value else None for value in column.tolist()]
