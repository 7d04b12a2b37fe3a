"""Shared by the filters for data pipelines: which scores are kept, and which answers stay."""

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
    """Scores answers in batches, and says which stay; it is sent to workers, each of which makes the scorer once.

    Args:
        suite: A `ScorerSpec`, or a suite or what `Suite.load` takes. A suite is scored with one thread in each process,
            because the pipelines run a process for each core.
        minimum: The lowest average of an answer that stays; short for `where="average >= MINIMUM"`.
        where: Which answers stay, such as `"average >= 0.6 and helpfulness > 0"`. Without `minimum` and `where`, all
            answers stay.
        question: The name of the field with the id or exact text of each question.
        answer: The name of the field with the answers.
        columns: The scores to keep.
        nulls: How to treat a missing answer: `"error"` raises an error that names it, `"null"` gives it no scores, so
            that it passes no filter.
        prefix: The prefix of the names of the kept scores.

    Attributes:
        spec: What makes the scorer.
        names: The names under which scores are kept, by the score.
        question: The name of the field with the questions.
        answer: The name of the field with the answers.
        columns: The scores that are computed: those to keep, then the others that are compared.

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
            raise PfgenError(f"minimum {minimum} and where {where!r}: expected one of them, since where can say both")
        self.spec = suite if isinstance(suite, ScorerSpec) else ScorerSpec(suite, threads=1)
        where = where if minimum is None else f"average >= {minimum}"
        job = TableJob(self.spec, question, answer, columns, nulls, where)
        self.names = {name: prefix + name for name in job.names.scores}
        self.question, self.answer, self._filter = question, answer, job.row_filter
        self.columns = tuple(dict.fromkeys((*job.names.scores, *self._filter.columns)))
        self._job = replace(job, columns=self.columns, where=None)

    def scores(self, questions: Any, answers: Any, location: Location) -> Scores:
        """The columns of scores of a batch, with NaN for missing ones; `location` names an answer in errors."""
        return self._job.score(questions, answers, location).scores

    def passing(self, scores: Mapping[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
        """Which answers stay."""
        return self._filter.passing(scores, len(scores[self.columns[0]]))

    def without_score(self, scores: Mapping[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
        """Which answers lack a score that is compared, and so do not stay."""
        import numpy as np

        lacks = np.zeros(len(scores[self.columns[0]]), dtype=np.bool_)
        for name in self._filter.columns:
            lacks |= np.isnan(scores[name])
        return lacks

    def check_has_fields(self, names: Collection[str], location: str) -> None:
        """Raises TrialsError if there is no field with questions or none with answers."""
        for name in (self.question, self.answer):
            if name not in names:
                raise TrialsError(f"{location}: no field {name!r}; there are {', '.join(map(repr, names)) or 'none'}")

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
