"""Ranks the models in a table of answers by their means over questions; answers without a score do not count."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ...base.errors import TrialsError
from ...base.mean_interval import competition_ranks
from ...rewards.references.metrics import lower_is_better
from ...tables.formats import column_names
from ...tables.table_job import TableJob
from ...tables.table_rows import STANDARD_STREAM, RowBatch, Scores, usual_columns
from .item_table import ItemScores
from .ranking import ModelRanking, rank_models

MODEL_NAMES = ("model", "model_name", "model_id", "system", "checkpoint")
QUESTION_NAMES = ("question", "question_id", "q", "prompt", "質問")
ANSWER_NAMES = ("answer", "a", "response", "output", "completion", "回答")
"""Usual names of a column with models, questions or answers, the most usual name first."""


@dataclass
class AnswerMeans:
    """Collects the scores of a table, batch by batch.

    A mean is over questions, from the mean of the answers to each question, as the score of a run.
    """

    metrics: Sequence[str]  # columns of scores, the ranking one first
    model_column: str | None  # None: all answers are of one model, which is named after the table
    question_column: str | None  # None: the nth answers of the models are answers to the same question
    source: str
    n_rows: int = 0
    _values: dict[str, dict[Hashable, list[list[float]]]] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path, job: TableJob) -> AnswerMeans:
        """Prepares for the scores of a table; a column with models is found by its usual names."""
        scores = job.names.scores
        metrics = [name for name in ("average", "fluency", "truthfulness", "helpfulness") if name in scores] or scores
        names = [] if str(path) == STANDARD_STREAM else column_names(path, job.encoding)
        question = None if job.suite is None else job.question_column
        return cls(metrics, next(iter(usual_columns(names, MODEL_NAMES)), None), question, path.name)

    def add(self, batch: RowBatch, scores: Scores) -> None:
        """Adds a batch of rows with their scores."""
        self.n_rows += len(batch)
        columns = [scores[metric].tolist() for metric in self.metrics]
        models = [self.source] * len(batch) if self.model_column is None else _texts(batch, self.model_column)
        questions = models if self.question_column is None else _texts(batch, self.question_column)
        for model, question, *values in zip(models, questions, *columns, strict=True):
            if not math.isnan(values[0]):
                own = self._values.setdefault(model, {})
                own.setdefault(len(own) if self.question_column is None else question, []).append(values)

    def ranking(self) -> ModelRanking:
        """The models, best first; with answers to different questions, models are only sorted."""
        if not self._values:
            raise TrialsError(f"{self.source}: no answer has a score")
        questions = [set(by_question) for by_question in self._values.values()]
        if all(asked == questions[0] for asked in questions):
            return self._ranking_of(self._values)
        alone = [self._ranking_of([model]) for model in self._values]
        models = sorted(
            (ranking[0] for ranking in alone),
            key=lambda model: (model.score.mean * (1 - 2 * alone[0].higher_is_better), model.model),
        )
        ranks = competition_ranks(model.score.mean for model in models)
        ranked = tuple(replace(model, rank=rank) for rank, model in zip(ranks, models, strict=True))
        note = "the models have answers to different questions, so their means are not comparable"
        return replace(alone[0], models=ranked, notes=(note,))

    def _ranking_of(self, models: Iterable[str]) -> ModelRanking:
        own = {model: self._values[model] for model in models}
        items = list(next(iter(own.values()), ()))
        answers = [[own[model][item] for item in items] for model in own]
        values = {
            "score" if metric == "average" else metric: np.array(
                [[_mean(part[at] for part in parts) for parts in row] for row in answers]
            )
            for at, metric in enumerate(self.metrics)
        }
        n_trials = dict.fromkeys(values, np.array([[len(parts) for parts in row] for row in answers]))
        higher = {metric: not lower_is_better(metric) for metric in values}
        scores = ItemScores(tuple(own), tuple(map(str, items)), values, n_trials=n_trials, higher_is_better=higher)
        return rank_models(scores, next(iter(values)))


def _texts(batch: RowBatch, column: str) -> list[str]:
    values = batch.values(column)
    return list(map(str, values if isinstance(values, list) else values.to_pylist()))


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
