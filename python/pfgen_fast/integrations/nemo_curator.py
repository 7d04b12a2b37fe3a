"""A filter by score for NeMo Curator: a stage that scores batches of documents.

It is not a `DocumentFilter`, because a `DocumentFilter` gets one text at a time, without its question.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files.optional import optional
from ..scoring.spec import ScorerSpec
from ..suite.suite import Suite
from ..tables.table_job import Nulls
from .answer_filter import AnswerFilter

if TYPE_CHECKING:
    from nemo_curator.tasks import DocumentBatch

_EXTRA, _NEEDED_FOR = "nemo-curator", "the filter for NeMo Curator"
ProcessingStage: Any = optional("nemo_curator.stages.base", extra=_EXTRA, needed_for=_NEEDED_FOR).ProcessingStage
_tasks = optional("nemo_curator.tasks", extra=_EXTRA, needed_for=_NEEDED_FOR)


class PfgenScoreFilter(ProcessingStage):  # type: ignore[misc]  # NeMo Curator is optional
    """Keeps the documents whose answer has a sufficient score, and appends columns of scores.

    A batch keeps its type: an Arrow table or a data frame of pandas. A score is null if the answer or the reference set
    is missing; a null never passes a filter. The arguments that are not listed are those of `AnswerFilter`.

    Args:
        question_field: The column with the id or exact text of each question.
        text_field: The column with the answers.

    Example:
        >>> import pyarrow as pa
        >>> from nemo_curator.tasks import DocumentBatch
        >>> answers = ["Ice floats because it is less dense than water.", "Because."]
        >>> batch = DocumentBatch("made", pa.table({"question": ["Q07", "Q07"], "text": answers}))
        >>> PfgenScoreFilter("mini", 0.3).process(batch).data.select(["question", "average"]).to_pylist()
        [{'question': 'Q07', 'average': 0.3533}]
    """

    name = "pfgen_score_filter"

    def __init__(
        self,
        suite: ScorerSpec | Suite | str | Path,
        minimum: float | None = None,
        *,
        where: str | None = None,
        question_field: str = "question",
        text_field: str = "text",
        columns: Sequence[str] = ("average",),
        nulls: Nulls = "error",
        prefix: str = "",
    ) -> None:
        self._answers = AnswerFilter(
            suite,
            minimum=minimum,
            where=where,
            question=question_field,
            answer=text_field,
            columns=columns,
            nulls=nulls,
            prefix=prefix,
        )

    def inputs(self) -> tuple[list[str], list[str]]:
        """The fields of a task that the stage reads."""
        return ["data"], [self._answers.question, self._answers.answer]

    def outputs(self) -> tuple[list[str], list[str]]:
        """The fields that a task has after the stage."""
        return ["data"], [self._answers.question, self._answers.answer, *self._answers.names.values()]

    def ray_stage_spec(self) -> dict[str, Any]:
        """Makes Ray keep its workers, so that each worker makes the scorer once."""
        return {"is_actor_stage": True}

    def setup_on_node(self, node_info: Any = None, worker_metadata: Any = None) -> None:
        """Builds the compiled index of the suite if it is not in the cache of the node."""
        self._answers.spec.scorer  # noqa: B018

    def setup(self, worker_metadata: Any = None) -> None:
        """Makes the scorer of a worker."""
        self._answers.spec.scorer  # noqa: B018

    def process(self, task: DocumentBatch) -> DocumentBatch:
        """Returns the batch with the kept documents; errors contain the file or task, and the row, counted from 1."""
        pa = optional("pyarrow", extra=_EXTRA, needed_for=_NEEDED_FOR)
        files: Sequence[str] = task._metadata.get("source_files") or ()
        location = str(files[0]) if len(files) == 1 else f"task {task.task_id!r} of {task.dataset_name!r}"
        self._answers.check_has_fields(task.get_columns(), location)
        self._answers.check_has_no_scores(task.get_columns(), location)
        in_arrow = isinstance(task.data, pa.Table)

        def texts(name: str) -> Any:
            return task.data.column(name) if in_arrow else pa.array(task.data[name], from_pandas=True)

        scores = self._answers.scores(
            texts(self._answers.question),
            texts(self._answers.answer),
            lambda row: location if row is None else f"{location}: row {row + 1} of the batch",
        )
        data, passing = task.data, self._answers.passing(scores)
        kept = {name: scores[column] for column, name in self._answers.names.items()}
        if in_arrow:
            for name, values in kept.items():
                data = data.append_column(name, pa.array(values, pa.float64(), from_pandas=True))
            data = data.filter(pa.array(passing))
        else:
            data = data.assign(**kept)[passing]
        return _tasks.DocumentBatch(
            dataset_name=task.dataset_name, data=data, _metadata=task._metadata, _stage_perf=task._stage_perf
        )
