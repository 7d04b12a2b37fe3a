"""From the body of a request to that of its reply: read, scored and written in one go, by a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..generation.prompts import Mode
from ..scoring.scorer import Scorer
from .arrow_bodies import stream_of
from .batches import ARROW, JSON, read_batch
from .json_bodies import decoded, in_list
from .limits import Limits, Refusal, checked_answers
from .openrlhf import scores_of_queries


@dataclass(frozen=True)
class Reply:
    """A reply."""

    content: bytes
    kind: str = JSON
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    n_answers: int = 0  # how many answers were scored for it


@dataclass(frozen=True)
class Replies:
    """What makes the replies; thread-safe.

    Attributes:
        scorer: The scorer.
        limits: What is refused.
        mode: The kind of prompts of OpenRLHF.
    """

    scorer: Scorer
    limits: Limits
    mode: Mode

    def reward(self, body: bytes, kind: str, accepted: str) -> Reply:
        """The rewards of a batch."""
        batch = read_batch(body, kind, self.limits)
        rewards = self.scorer.reward(batch.questions, batch.answers)
        if accepted == ARROW:
            return Reply(stream_of({"rewards": rewards}, self.scorer.signature), ARROW, n_answers=len(rewards))
        return Reply(json_of({"rewards": rewards, "signature": self.scorer.signature}), n_answers=len(rewards))

    def score(self, body: bytes, kind: str, accepted: str) -> Reply:
        """All columns of the scores of a batch; see `reward`. In JSON, a set that a question lacks has null."""
        batch = read_batch(body, kind, self.limits)
        table = self.scorer.score(batch.questions, batch.answers)
        if accepted == ARROW:
            return Reply(stream_of(table, self.scorer.signature), ARROW, n_answers=len(table))
        scores = {"question_id": table.question_id.tolist(), **{name: table[name] for name in table.columns[1:]}}
        return Reply(json_of({"scores": scores, "signature": self.scorer.signature}), n_answers=len(table))

    def openrlhf(self, body: bytes, kind: str, accepted: str) -> Reply:
        """The reply to OpenRLHF; see `reward`."""
        if ARROW in (kind, accepted):
            raise Refusal(415, "OpenRLHF's protocol is JSON")
        keys = ("query", "prompts", "labels")
        queries, prompts, labels = map(in_list, decoded(body, keys), keys)
        checked_answers(queries, self.limits)
        found = scores_of_queries(self.scorer, queries, prompts, labels, self.mode)
        return Reply(json_of(found), n_answers=len(queries))


def json_of(value: Any) -> bytes:
    """JSON in which floats are written so that reading gives every bit back, and NaN is null."""
    import orjson

    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
