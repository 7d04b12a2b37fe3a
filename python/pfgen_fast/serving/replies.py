"""Replies to batches: a worker decodes the body of a request, scores the answers and encodes the reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..generation.prompts import Mode
from ..scoring.scorer import Scorer
from .arrow_bodies import stream_of, texts_of_stream
from .json_bodies import decoded, in_list
from .limits import Limits, Refusal, checked_answers
from .openrlhf import scores_of_queries

JSON, ARROW = "application/json", "application/vnd.apache.arrow.stream"


@dataclass(frozen=True)
class Reply:
    """A reply."""

    content: bytes
    kind: str = JSON
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    n_answers: int = 0  # number of scored answers


@dataclass(frozen=True)
class Replies:
    """Makes replies; thread-safe. The arguments of a method are a body, its media type and that of the reply."""

    scorer: Scorer
    limits: Limits
    mode: Mode  # kind of prompts for OpenRLHF

    def reward(self, body: bytes, kind: str, accepted: str) -> Reply:
        """The rewards of a batch."""
        rewards = self.scorer.reward(*read_batch(body, kind, self.limits))
        if accepted == ARROW:
            return Reply(stream_of({"rewards": rewards}, self.scorer.signature), ARROW, n_answers=len(rewards))
        return Reply(json_of({"rewards": rewards, "signature": self.scorer.signature}), n_answers=len(rewards))

    def score(self, body: bytes, kind: str, accepted: str) -> Reply:
        """All columns of the scores of a batch; in JSON, missing scores are null."""
        table = self.scorer.score(*read_batch(body, kind, self.limits))
        if accepted == ARROW:
            return Reply(stream_of(table, self.scorer.signature), ARROW, n_answers=len(table))
        scores = {"question_id": table.question_id.tolist(), **{name: table[name] for name in table.columns[1:]}}
        return Reply(json_of({"scores": scores, "signature": self.scorer.signature}), n_answers=len(table))

    def openrlhf(self, body: bytes, kind: str, accepted: str) -> Reply:
        """The reply to OpenRLHF."""
        if ARROW in (kind, accepted):
            raise Refusal(415, "the protocol of OpenRLHF is JSON")
        keys = ("query", "prompts", "labels")
        queries, prompts, labels = map(in_list, decoded(body, keys), keys)
        checked_answers(queries, self.limits)
        found = scores_of_queries(self.scorer, queries, prompts, labels, self.mode)
        return Reply(json_of(found), n_answers=len(queries))


def read_batch(body: bytes, kind: str, limits: Limits) -> tuple[Any, Any]:
    """The questions and answers in a body, as arguments of `Scorer.score`."""
    if kind == ARROW:
        return texts_of_stream(body, limits)
    questions, answers = decoded(body, ("questions", "answers"))
    return questions, checked_answers(in_list(answers, "answers"), limits)


def json_of(value: Any) -> bytes:
    """JSON in which floats keep every bit, and NaN is null."""
    import orjson

    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
