"""A language model as an evaluator: it rates each text as an answer to a question, or by the criteria of its task.

Replies are stored, and a text's score is the mean of its valid ratings. The judge sees a single text and does not know
whether it is an original.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import Floats
from ...base.errors import JudgingError
from ...base.untrusted_text import shown_value, unknown_name
from ...generation.prompts import sampling_seed
from ..judging.judge_asking import Connect, Spending
from ..judging.judge_requests import Judge, JudgeRequest, RequestOptions, Server, Template
from ..judging.reply_store import ReplyStore
from .asking_evaluator import AskingEvaluator, Ratings, Scale, check_n_ratings, usual_temperature
from .criteria import Criteria, read_criteria
from .evaluator import Item, Metric, Texts, column_of, language_of

TEMPLATES: Mapping[str, Path] = {
    "default": Path(__file__).with_name("judge.txt"),
    "paper": Path(__file__).with_name("judge_paper.txt"),
}
"""The packaged templates by name."""

_PLACEHOLDERS = ("question", "sample", "answer", "language")
_HEAD = re.compile(r"Scale: *(\d{1,3}) to (\d{1,3}) *(?:\r?\n|\Z)\s*")
USUAL_SCALE = Scale()
USUAL_LANGUAGE = "Japanese"


@dataclass(frozen=True)
class RatingTemplate(Template):
    """A prompt that asks for a rating."""

    scale: Scale = USUAL_SCALE  # scale of the rating

    @property
    def hash(self) -> str:
        """SHA-256 of the text, which begins with the scale if the scale is not 1 to 10."""
        head = "" if self.scale == USUAL_SCALE else f"Scale: {self.scale.low} to {self.scale.high}\n\n"
        return Template(head + self.text, self.placeholders).hash


def read_template(source: str | Path = "default") -> RatingTemplate:
    """Reads a judge's prompt; its first line may state a scale other than 1 to 10, such as `Scale: 1 to 5`."""
    path = TEMPLATES.get(source, Path(source)) if isinstance(source, str) else source
    if isinstance(source, str) and not path.exists():
        raise JudgingError(
            f"{path}: no such file; expected a template, or the name of a packaged template: {', '.join(TEMPLATES)}"
        )
    template = Template.read(path, placeholders=_PLACEHOLDERS, needed=("question", "answer"))
    if not template.text.startswith("Scale:"):
        return RatingTemplate(template.text, template.placeholders)
    head = _HEAD.match(template.text)
    if head is None:
        raise JudgingError(f"{path}, line 1: expected the scale as 'Scale: 1 to 5'")
    try:
        scale = Scale(int(head[1]), int(head[2]))
    except JudgingError as error:
        raise JudgingError(f"{path}, line 1: {error}") from None
    return RatingTemplate(template.text[head.end() :], template.placeholders, scale)


@dataclass(frozen=True)
class JudgeEvaluator:
    """Asks a judge to rate texts as answers to the questions of their items.

    Attributes:
        judge: The judge.
        replies: The stored replies.
        template: The prompt and its scale; see `read_template`. `{sample}` becomes the first reference of the item.
        language: The expected language of the answers, as the prompt names it.
        n_ratings: The number of ratings of each text, each with a different seed.
        seed: Any text; determines the sampling seeds.
        connect: Opens the engine for the judge, such as `Server(...).engine`; None for stored replies only.
    """

    judge: Judge
    replies: ReplyStore
    template: RatingTemplate = field(default_factory=read_template)
    language: str = USUAL_LANGUAGE
    n_ratings: int = 1
    seed: str = ""
    connect: Connect | None = None

    name = "judge"

    def __post_init__(self) -> None:
        check_n_ratings(self.n_ratings)
        if self.language != USUAL_LANGUAGE and not self.template.uses("language"):
            raise JudgingError(
                f"language: the template does not use {{language}}, so {shown_value(self.language)} has no effect; "
                "expected a template that uses it"
            )

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The rating, on the scale of the template."""
        return (Metric("rating", low=self.template.scale.low, high=self.template.scale.high),)

    @property
    def signature(self) -> str:
        """Model, template, parameters and number of ratings."""
        return (
            f"judge:{json.dumps(self.judge.model)}|template:{self.template.hash}|language:{json.dumps(self.language)}"
            f"|{self.judge.signature}|ratings:{self.n_ratings}|seed:{json.dumps(self.seed)}"
        )

    def score(self, items: Sequence[Item], texts: Texts) -> Mapping[str, Floats]:
        """Asks for the missing ratings, and returns the mean of each text's valid ratings.

        Raises:
            JudgingError: An item has no question, or another process is adding replies to the same file.
            EngineError: An error affects all requests. Ratings that were stored before are kept.
        """
        ratings = self.ratings(items, texts)
        ratings.ask_with(self.connect)
        return {"rating": ratings.means()}

    def ratings(self, items: Sequence[Item], texts: Texts) -> Ratings:
        """The ratings of texts, some of which may still be missing."""
        texts = column_of(items, texts)
        listed = texts.tolist()
        requests = self._requests(items, listed)
        has_text = [text is not None for text in listed]
        return Ratings(self.judge, requests, self.replies, listed, has_text, self.n_ratings, self.template.scale)

    def _requests(self, items: Sequence[Item], texts: Sequence[str | None]) -> Iterator[JudgeRequest]:
        for item, text in zip(items, texts, strict=True):
            if text is None:
                continue
            if item.question is None:
                raise JudgingError(f"item {item.id}: has no question, which the judge needs")
            sample = item.references[0] if item.references else ""
            content = self.template.fill(question=item.question, sample=sample, answer=text, language=self.language)
            for number in range(1, self.n_ratings + 1):
                seed = sampling_seed(self.seed, number)
                yield self.judge.request(content, seed=seed, name=f"rating {number} of {item.id}")


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
        connect: Opens the engine for the judge, such as `Server(...).engine`; None for stored replies only.
        spending: Prices and budget, to which the cost is added.
        is_partial: Whether ratings may be missing if there is no connection; otherwise this is an error.
    """

    judge: Judge
    replies: ReplyStore
    tasks: Sequence[str]
    criteria: Criteria = field(default_factory=read_criteria)
    only: Sequence[str] | None = None
    n_ratings: int = N_RATINGS
    seed: str = ""
    replicate: int = 0
    connect: Connect | None = None
    spending: Spending = field(default_factory=Spending)
    is_partial: bool = False

    name = "judge"

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
        """Model, criteria, parameters and number of ratings."""
        parts = [
            f"judge:{json.dumps(self.judge.model)}|criteria:{self.criteria.hash}",
            f"{self.judge.signature}|ratings:{self.n_ratings}",
            f"seed:{json.dumps(self.seed)}",
        ]
        if self.replicate:
            parts.append(f"replicate:{self.replicate}")
        return "|".join(parts)

    def again(self) -> CriteriaJudge:
        """The same judge with other seeds, so that all ratings are requested again, and stored in the same file."""
        return replace(self, replicate=self.replicate + 1)

    def asked(self, items: Sequence[Item], texts: Texts) -> Ratings:
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
        if item.question is None and self.criteria.task(item.task).needs_question:
            raise JudgingError(f"item {item.id}: has no question, which the judge needs for the task {item.task}")
        language = item.language or language_of(item.text)
        return self.criteria.prompt(
            item.task, metric, language=language, text=text, context=item.context, question=item.question
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
        ReplyStore(cache, must_exist=server is None),
        tuple(tasks),
        read_criteria(criteria),
        only=None if metrics is None else tuple(metrics),
        n_ratings=n_ratings,
        seed=seed,
        connect=None if server is None else server.engine,
        spending=spending or Spending(),
        is_partial=partial,
    )
