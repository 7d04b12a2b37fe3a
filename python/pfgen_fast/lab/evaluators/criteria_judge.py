"""A language model as an evaluator by criteria: for each text, one request for each metric of its task and each rating.

The judge sees a single text and does not know whether it is an original. A score is the mean of the valid ratings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...base.errors import JudgingError
from ...base.untrusted_text import unknown_name
from ...generation.prompts import sampling_seed
from ..judging.judge_asking import Connect, Spending
from ..judging.judge_requests import Judge, JudgeRequest, RequestOptions, Server
from ..judging.reply_store import Replies
from .asking_evaluator import AskingEvaluator
from .criteria import Criteria, read_criteria
from .evaluator import Item, Metric, Texts, column_of, language_of
from .ratings import Ratings, check_n_ratings, usual_temperature

N_RATINGS = 5
"""The default number of ratings of a text by each criterion."""


@dataclass(frozen=True)
class CriteriaJudge(AskingEvaluator):
    """Asks a judge to rate texts by the criteria of their tasks.

    Attributes:
        judge: The judge.
        replies: The stored replies.
        tasks: The tasks of the items, which determine the metrics.
        criteria: The instructions to the judge; see `read_criteria`.
        only: The metrics that are rated; None for all metrics of the tasks.
        n_ratings: The number of ratings of each text by each criterion, each with a different seed.
        seed: Any text; determines the sampling seeds.
        replicate: The number of the replicate, from 0; see `again`.
        questions: The texts of questions by ID, for items whose question is an ID.
        connect: Opens the engine for the judge, such as `Server(...).engine`; None for stored replies only.
        spending: Prices and budget, to which the cost is added.
        is_partial: Whether ratings may be missing if there is no connection; otherwise this is an error.
    """

    judge: Judge
    replies: Replies
    tasks: Sequence[str]
    criteria: Criteria = field(default_factory=read_criteria)
    only: Sequence[str] | None = None
    n_ratings: int = N_RATINGS
    seed: str = ""
    replicate: int = 0
    questions: Mapping[str, str] = field(default_factory=dict)
    connect: Connect | None = None
    spending: Spending = field(default_factory=Spending)
    is_partial: bool = False

    name = "judge"
    is_deterministic = False

    def __post_init__(self) -> None:
        check_n_ratings(self.n_ratings)
        known = [metric for task in self.tasks for metric in self.criteria.task(task).criteria]
        for metric in self.only or ():
            if metric not in known:
                raise JudgingError(f"the judge: {unknown_name('metric', metric, known)}")

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of the tasks, on the scale of the criteria. A text gets no score for metrics of other tasks."""
        names = dict.fromkeys(metric for task in self.tasks for metric in self._metrics_of(task))
        scale = self.criteria.scale
        return tuple(Metric(name, low=scale.low, high=scale.high) for name in names)

    @property
    def signature(self) -> str:
        """Model, criteria, parameters, number of ratings, and the texts of questions if there are questions by ID."""
        parts = [
            f"judge:{json.dumps(self.judge.model)}|criteria:{self.criteria.hash}",
            f"{self.judge.signature}|ratings:{self.n_ratings}",
            f"seed:{json.dumps(self.seed)}",
        ]
        if self.replicate:
            parts.append(f"replicate:{self.replicate}")
        if self.questions:
            listed_questions = json.dumps(sorted(self.questions.items()))
            parts.append(f"questions:{hashlib.sha256(listed_questions.encode()).hexdigest()}")
        return "|".join(parts)

    def again(self) -> CriteriaJudge:
        """The same judge with other seeds, so that all ratings are requested again, and stored in the same file."""
        return replace(self, replicate=self.replicate + 1)

    def ratings(self, items: Sequence[Item], texts: Texts) -> Ratings:
        """The ratings of texts by metric, some of which may still be missing."""
        texts = column_of(items, texts)
        listed_texts = texts.tolist()
        metrics = [metric.name for metric in self.metrics]
        by_task = {item.task: self._metrics_of(item.task) for item in items}
        is_rated = [
            [text is not None and metric in by_task[item.task] for metric in metrics]
            for item, text in zip(items, listed_texts, strict=True)
        ]
        places = np.array(is_rated, dtype=bool).reshape(len(items), len(metrics))
        requests = self._requests(items, listed_texts, metrics, places)
        return Ratings(self.judge, requests, self.replies, listed_texts, places, self.n_ratings, self.criteria.scale)

    def _asked(self, items: Sequence[Item], texts: Texts) -> Ratings:
        return self.ratings(items, texts)

    def _metrics_of(self, task: str) -> list[str]:
        return [metric for metric in self.criteria.task(task).criteria if self.only is None or metric in self.only]

    def _requests(
        self, items: Sequence[Item], texts: Sequence[str | None], metrics: Sequence[str], is_rated: NDArray[np.bool_]
    ) -> Iterator[JudgeRequest]:
        seed = f"{self.seed}::again {self.replicate}" if self.replicate else self.seed
        seeds = [sampling_seed(seed, number) for number in range(1, self.n_ratings + 1)]
        for item, text, row in zip(items, texts, is_rated.tolist(), strict=True):
            for metric, is_asked in zip(metrics, row, strict=True):
                if not is_asked or text is None:
                    continue
                content = self._prompt(item, metric, text)
                for number, drawn in enumerate(seeds, start=1):
                    yield self.judge.request(content, seed=drawn, name=f"rating {number} of {item.id} by {metric}")

    def _prompt(self, item: Item, metric: str, text: str) -> str:
        question = item.question if item.question is None else self.questions.get(item.question, item.question)
        if question is None and self.criteria.task(item.task).needs_question:
            raise JudgingError(f"item {item.id}: has no question, which the judge needs for the task {item.task}")
        language = item.language or language_of(item.text)
        return self.criteria.prompt(
            item.task, metric, language=language, text=text, context=item.context, question=question
        )


def open_judge(
    model: str,
    *,
    tasks: Sequence[str],
    criteria: Path | None = None,
    metrics: Sequence[str] | None = None,
    n_ratings: int = N_RATINGS,
    temperature: float | None = None,
    max_tokens: int = 300,
    seed: str = "",
    questions: Mapping[str, str] | None = None,
    request_options: RequestOptions | None = None,
    server: Server | None = Server(),  # noqa: B008 - immutable
    spending: Spending | None = None,
    cache: Path = Path("judge-ratings.jsonl"),
    partial: bool = False,
) -> CriteriaJudge:
    """Opens a judge that rates by criteria, without sending a request."""
    return CriteriaJudge(
        Judge(
            model,
            usual_temperature(n_ratings) if temperature is None else temperature,
            max_tokens,
            request_options or RequestOptions(),
        ),
        Replies(cache, must_exist=server is None),
        tuple(tasks),
        read_criteria(criteria),
        only=None if metrics is None else tuple(metrics),
        n_ratings=n_ratings,
        seed=seed,
        questions=questions or {},
        connect=None if server is None else server.engine,
        spending=spending or Spending(),
        is_partial=partial,
    )
