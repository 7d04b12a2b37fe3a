"""A language model as an evaluator that rates each text as an answer to a question. Its replies are stored.

A text's score is the mean of its valid ratings. The judge by criteria is in `criteria_judge`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...base.errors import JudgingError
from ...base.untrusted_text import shown_value
from ...generation.prompts import sampling_seed
from ..judging.judge_asking import Connect
from ..judging.judge_requests import Judge, JudgeRequest, Template
from ..judging.reply_store import Replies
from .evaluator import Floats, Item, Metric, Texts, column_of
from .ratings import Ratings, Scale, check_n_ratings

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
    replies: Replies
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
