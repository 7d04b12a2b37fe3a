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

from ...base.errors import JudgingError
from ...base.untrusted_text import shown_value
from ...generation.prompts import sampling_seed
from ..judging.judge_asking import Connect, Spending
from ..judging.judge_requests import USUAL_MAX_TOKENS, Judge, JudgeRequest, RequestOptions, Server, Template
from ..judging.reply_store import ReplyStore
from .asking_evaluator import AskingEvaluator, Ratings, Scale, usual_temperature
from .criteria import Criteria, read_criteria
from .evaluator import Item, Metric, Texts, column_of

TEMPLATES: Mapping[str, Path] = {
    "default": Path(__file__).with_name("judge.txt"),
    "paper": Path(__file__).with_name("judge_paper.txt"),
}
"""The packaged templates by name."""

_PLACEHOLDERS = ("question", "sample", "answer", "language")
_HEAD = re.compile(r"Scale: *(\d{1,3}) to (\d{1,3}) *(?:\r?\n|\Z)\s*")
USUAL_SCALE = Scale()
USUAL_LANGUAGE = "Japanese"
N_RATINGS = 5
"""The default number of ratings of a text by each criterion."""


@dataclass(frozen=True)
class RatingTemplate(Template):
    """A prompt that asks for a rating of an answer; `{sample}` becomes the first reference of the item."""

    scale: Scale = USUAL_SCALE  # scale of the rating
    language: str = USUAL_LANGUAGE  # expected language of the answers, as the prompt names it

    def __post_init__(self) -> None:
        if self.language != USUAL_LANGUAGE and not self.uses("language"):
            raise JudgingError(
                f"language: the template does not use {{language}}, so {shown_value(self.language)} has no effect; "
                "expected a template that uses it"
            )

    @property
    def signature(self) -> str:
        """The text, the scale if it is not 1 to 10, and the language."""
        head = "" if self.scale == USUAL_SCALE else f"Scale: {self.scale.low} to {self.scale.high}\n\n"
        content = Template(head + self.text, self.placeholders).hash
        return f"template:{content}|language:{json.dumps(self.language)}"

    def metrics_of(self, task: str) -> Sequence[str]:
        """The only metric."""
        return ("rating",)

    def prompt_for(self, item: Item, metric: str, text: str) -> str:
        """The prompt that asks for the rating of an answer to the item's question."""
        if item.question is None:
            raise JudgingError(f"item {item.id}: has no question, which the judge needs")
        sample = item.references[0] if item.references else ""
        return self.fill(question=item.question, sample=sample, answer=text, language=self.language)


def read_template(source: str | Path = "default", language: str = USUAL_LANGUAGE) -> RatingTemplate:
    """Reads a judge's prompt; its first line may state a scale other than 1 to 10, such as `Scale: 1 to 5`."""
    path = TEMPLATES.get(source, Path(source)) if isinstance(source, str) else source
    if isinstance(source, str) and not path.exists():
        raise JudgingError(
            f"{path}: no such file; expected a template, or the name of a packaged template: {', '.join(TEMPLATES)}"
        )
    template = Template.read(path, placeholders=_PLACEHOLDERS, needed=("question", "answer"))
    head = _HEAD.match(template.text)
    if head is None and template.text.startswith("Scale:"):
        raise JudgingError(f"{path}, line 1: expected the scale as 'Scale: 1 to 5'")
    low, high = (int(head[1]), int(head[2])) if head else (USUAL_SCALE.low, USUAL_SCALE.high)
    try:
        scale = Scale(low, high, is_bare="[[" not in template.text)
    except JudgingError as error:
        raise JudgingError(f"{path}, line 1: {error}") from None
    return RatingTemplate(template.text[head.end() if head else 0 :], template.placeholders, scale, language)


@dataclass(frozen=True)
class JudgeEvaluator(AskingEvaluator):
    """Asks a judge to rate texts.

    Attributes:
        judge: The judge.
        replies: The stored replies.
        prompts: The instructions to the judge; see `read_template` and `read_criteria`.
        tasks: The tasks of the items, which determine the metrics.
        n_ratings: The number of ratings of each text by each metric, each with a different seed.
        seed: Any text; determines the sampling seeds.
        replicate: The number of the replicate, from 0; see `again`.
        connect: Opens the engine for the judge, such as `Server(...).engine`; None for stored replies only.
        spending: Prices and budget, to which the cost is added.
        is_partial: Whether ratings may be missing if there is no connection; otherwise this is an error.
    """

    judge: Judge
    replies: ReplyStore
    prompts: RatingTemplate | Criteria = field(default_factory=read_template)
    tasks: Sequence[str] = ("answers",)
    n_ratings: int = 1
    seed: str = ""
    replicate: int = 0
    connect: Connect | None = None
    spending: Spending = field(default_factory=Spending)
    is_partial: bool = False
    name: str = "judge"

    def __post_init__(self) -> None:
        if self.n_ratings < 1:
            raise JudgingError(f"ratings: expected at least 1, not {self.n_ratings}")

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of the tasks, on the scale of the prompts. A text gets no score for metrics of other tasks."""
        names = dict.fromkeys(metric for task in self.tasks for metric in self.prompts.metrics_of(task))
        return tuple(Metric(name, low=self.prompts.scale.low, high=self.prompts.scale.high) for name in names)

    @property
    def signature(self) -> str:
        """Model, prompts, parameters and number of ratings."""
        replicate = f"|replicate:{self.replicate}" if self.replicate else ""
        return (
            f"judge:{json.dumps(self.judge.model)}|{self.prompts.signature}|{self.judge.signature}"
            f"|ratings:{self.n_ratings}|seed:{json.dumps(self.seed)}{replicate}"
        )

    @property
    def form(self) -> str:  # type: ignore[override]  # it is read only
        """The form of a rating that the prompt asks for."""
        return self.prompts.scale.form

    def again(self) -> JudgeEvaluator:
        """The same judge with other seeds, so that all ratings are requested again, and stored in the same file."""
        return replace(self, replicate=self.replicate + 1)

    def asked(self, items: Sequence[Item], texts: Texts) -> Ratings:
        """The ratings of texts by metric, some of which may still be missing."""
        listed = column_of(items, texts).tolist()
        metrics = [metric.name for metric in self.metrics]
        by_task = {item.task: self.prompts.metrics_of(item.task) for item in items}
        is_rated = [
            [text is not None and metric in by_task[item.task] for metric in metrics]
            for item, text in zip(items, listed, strict=True)
        ]
        places = np.array(is_rated, dtype=bool).reshape(len(items), len(metrics))
        requests = self._requests(items, listed, metrics, places)
        return Ratings(self.judge, requests, self.replies, listed, places, self.n_ratings, self.prompts.scale)

    def _requests(
        self, items: Sequence[Item], texts: Sequence[str | None], metrics: Sequence[str], is_rated: NDArray[np.bool_]
    ) -> Iterator[JudgeRequest]:
        seed = f"{self.seed}::again {self.replicate}" if self.replicate else self.seed
        seeds = [sampling_seed(seed, number) for number in range(1, self.n_ratings + 1)]
        for item, text, row in zip(items, texts, is_rated.tolist(), strict=True):
            for metric, is_asked in zip(metrics, row, strict=True):
                if is_asked and text is not None:
                    content = self.prompts.prompt_for(item, metric, text)
                    for number, drawn in enumerate(seeds, start=1):
                        yield self.judge.request(content, seed=drawn, name=f"rating {number} of {item.id} by {metric}")


def open_judge(
    model: str,
    *,
    tasks: Sequence[str],
    criteria: Path | None = None,
    n_ratings: int = N_RATINGS,
    temperature: float | None = None,
    max_tokens: int = USUAL_MAX_TOKENS,
    request_options: RequestOptions | None = None,
    server: Server | None = Server(),  # noqa: B008 - immutable
    spending: Spending | None = None,
    cache: Path = Path("judge-ratings.jsonl"),
    partial: bool = False,
    name: str = "judge",
) -> JudgeEvaluator:
    """Opens a judge that rates by criteria, without sending a request."""
    temperature = usual_temperature(n_ratings) if temperature is None else temperature
    return JudgeEvaluator(
        Judge(model, temperature, max_tokens, request_options or RequestOptions()),
        ReplyStore(cache, must_exist=server is None),
        read_criteria(criteria),
        tuple(tasks),
        n_ratings,
        connect=None if server is None else server.engine,
        spending=spending or Spending(),
        is_partial=partial,
        name=name,
    )
