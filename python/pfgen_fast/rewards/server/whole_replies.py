"""Replies to batches: a worker decodes the body of a request, scores the answers and encodes the reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...scoring.reply_text import Mode
from ...scoring.score_table import ScoreTable
from ..reward import Reward, RewardTable
from .json_bodies import Check, booleans, decoded, integers, lists_of_texts, text_or_texts, texts
from .limits import Limits, Refusal, check_pairs, checked_answers
from .openrlhf_requests import scores_of_queries

_OPTIONAL: Mapping[str, Check] = {"prompts": texts, "finished": booleans, "n_tokens": integers}
JSON = "application/json"


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
    """Makes replies to bodies; thread-safe."""

    shaped: Reward
    limits: Limits
    mode: Mode  # kind of prompts for OpenRLHF

    def reward(self, body: bytes) -> Reply:
        """The rewards of a batch."""
        questions, answers, known = self._batch(body)
        rewards = self.shaped(questions, answers, **known)
        return Reply(json_of({"rewards": rewards, "signature": self.shaped.signature}), n_answers=len(rewards))

    def score(self, body: bytes) -> Reply:
        """All columns of the scores of a batch, or the details of shaped rewards; in JSON, missing scores are null."""
        questions, answers, known = self._batch(body)
        if self.shaped.scorer is None or self.shaped.shape:
            table: ScoreTable | RewardTable = self.shaped.details(questions, answers, **known)
        else:
            table = self.shaped.scorer.score(questions, answers)
        scores = {name: table[name].tolist() if name == "question_id" else table[name] for name in table.columns}
        return Reply(json_of({"scores": scores, "signature": self.shaped.signature}), n_answers=len(table))

    def openrlhf(self, body: bytes) -> Reply:
        """The reply to OpenRLHF."""
        if self.shaped.scorer is None:
            raise Refusal(400, "the protocol of OpenRLHF has no references, which this server needs; use /reward")
        batch = decoded(body, dict.fromkeys(("query", "prompts", "labels"), texts))
        queries = checked_answers(batch["query"], self.limits)
        reply = scores_of_queries(self.shaped, queries, batch["prompts"], batch["labels"], self.mode)
        return Reply(json_of(reply), n_answers=len(queries))

    def _batch(self, body: bytes) -> tuple[Any, Any, dict[str, Any]]:
        batch = read_batch(body, self.limits, has_references=self.shaped.scorer is None)
        if "rouge_l" in self.shaped.signature:  # or rouge_lsum
            check_pairs(batch[1], batch[2].get("references", []), self.limits)
        return batch


def read_batch(body: bytes, limits: Limits, *, has_references: bool = False) -> tuple[Any, Any, dict[str, Any]]:
    """The questions, the answers and the other arguments of `Reward` in a body."""
    if has_references:  # questions have no effect
        batch = decoded(
            body, {"answers": texts}, {"references": lists_of_texts, "questions": text_or_texts, **_OPTIONAL}
        )
    else:
        batch = decoded(body, {"questions": text_or_texts, "answers": texts}, _OPTIONAL)
    answers = checked_answers(batch.pop("answers"), limits)
    return batch.pop("questions", None), answers, batch


def json_of(value: Any) -> bytes:
    """JSON in which floats keep every bit, and NaN is null."""
    import orjson

    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
