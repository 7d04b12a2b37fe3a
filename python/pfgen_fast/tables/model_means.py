"""The mean scores of the models in a table of answers, over its questions; an answer without a score does not count."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.mean_interval import MeanInterval, mean_interval
from ..base.table import Column, Table
from ..rewards.references.metrics import lower_is_better
from .formats import column_names
from .table_job import TableJob
from .table_rows import STANDARD_STREAM, RowBatch, Scores, usual_columns

MODEL_NAMES = ("model", "model_name", "model_id", "system", "checkpoint")
QUESTION_NAMES = ("question", "question_id", "q", "prompt", "質問")
ANSWER_NAMES = ("answer", "a", "response", "output", "completion", "回答")
"""Usual names of a column with models, questions or answers, the most usual name first."""


@dataclass(frozen=True)
class ModelMeans:
    """The means of a model.

    The first metric ranks the models. Its interval is that of `score` for runs: over questions, from the mean of the
    answers to each question.
    """

    model: str
    n_questions: int
    n_answers: int
    score: MeanInterval
    means: dict[str, float]  # of the other metrics

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        ends = {"score_low": self.score.low, "score_high": self.score.high}
        means = {metric: None if math.isnan(value) else value for metric, value in self.means.items()}
        counts = {"num_questions": self.n_questions, "num_answers": self.n_answers}
        return {"model": self.model or None, "score": self.score.mean, **ends, **counts, **means}


@dataclass
class MeansOfModels:
    """Collects the scores of a table, batch by batch."""

    metrics: Sequence[str]  # columns of scores, the ranking one first
    model_column: str | None
    question_column: str | None  # None: each row is a question of its own
    _values: dict[str, dict[Hashable, list[list[float]]]] = field(default_factory=dict)
    _n_rows: int = 0

    @classmethod
    def of(cls, path: Path, job: TableJob) -> MeansOfModels:
        """Prepares for the scores of a table; a column with models is found by its usual names."""
        scores = job.names.scores
        metrics = [name for name in ("average", "fluency", "truthfulness", "helpfulness") if name in scores] or scores
        names = [] if str(path) == STANDARD_STREAM else column_names(path, job.encoding)
        return cls(metrics, usual_column(names, MODEL_NAMES), None if job.suite is None else job.question_column)

    def add(self, batch: RowBatch, scores: Scores) -> None:
        """Adds a batch of rows with their scores."""
        columns = [scores[metric].tolist() for metric in self.metrics]
        for row, *values in zip(batch.rows(), *columns, strict=True):
            self._n_rows += 1
            model = "" if self.model_column is None else str(row.get(self.model_column))
            question = self._n_rows if self.question_column is None else str(row.get(self.question_column))
            if not math.isnan(values[0]):
                self._values.setdefault(model, {}).setdefault(question, []).append(values)

    @property
    def are_comparable(self) -> bool:
        """Whether all models have scores of the same questions."""
        asked = [questions.keys() if self.question_column else len(questions) for questions in self._values.values()]
        return all(questions == asked[0] for questions in asked)

    def models(self) -> list[ModelMeans]:
        """The models, best first."""
        ranked = [self._means_of(model, by_question) for model, by_question in self._values.items()]
        sign = 1 if lower_is_better(self.metrics[0]) else -1
        return sorted(ranked, key=lambda means: (sign * means.score.mean, means.model))

    @property
    def table(self) -> Table:
        """The models, best first; a column that the scored table lacks is left out."""
        metric, *others = self.metrics
        cells: list[tuple[Column, Callable[[ModelMeans], Any]]] = [
            (Column("model"), lambda means: means.model),
            (Column(metric, "score" if metric == "average" else ""), lambda means: means.score.mean),
            (Column("interval", "±95 %", form=lambda score: score.shown()), lambda means: means.score),
            *((Column(other), lambda means, other=other: means.means[other]) for other in others),
            (Column("questions"), lambda means: means.n_questions),
            (Column("answers"), lambda means: means.n_answers),
        ]
        hidden = {"questions": not self.question_column, "model": not self.model_column}
        return Table.of_records([cell for cell in cells if not hidden.get(cell[0].name)], self.models())

    def _means_of(self, model: str, by_question: dict[Hashable, list[list[float]]]) -> ModelMeans:
        columns = [
            [_mean(answer[number] for answer in answers) for answers in by_question.values()]
            for number in range(len(self.metrics))
        ]
        others = {metric: _mean(column) for metric, column in zip(self.metrics[1:], columns[1:], strict=True)}
        n_answers = sum(map(len, by_question.values()))
        return ModelMeans(model, len(by_question), n_answers, mean_interval(columns[0]), others)


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def usual_column(names: Sequence[str], usual: Sequence[str]) -> str | None:
    """The column with the most usual of these names; None if there is none."""
    return next(iter(usual_columns(names, usual)), None)
