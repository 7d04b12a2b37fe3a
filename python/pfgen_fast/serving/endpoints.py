"""`ENDPOINTS`: the endpoints for batches. A new endpoint needs a method of `Replies`, and an entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .limits import Limits
from .replies import Replies, Reply

Schema = dict[str, Any]


def _array(*types: str) -> Schema:
    return {"type": "array", "items": {"type": types[0] if len(types) == 1 else list(types)}}


_TEXTS, _FLOATS, _FLOATS_OR_NULL = _array("string"), _array("number"), _array("number", "null")
_SIGNATURE: Schema = {"type": "string"}


def json_object(**properties: Any) -> Schema:
    """The schema of an object with exactly these keys."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _answers(limits: Limits) -> Schema:
    return {
        "type": "array",
        "maxItems": limits.n_answers,
        "items": {"type": "string", "maxLength": limits.n_code_points},
    }


def _batch(limits: Limits) -> Schema:
    questions = {
        "oneOf": [{"type": "string"}, _TEXTS],
        "description": "Ids or exact texts: one question for all answers, or one question for each answer.",
    }
    references = {"type": "array", "items": _TEXTS, "description": "Instead of questions, if the server has no suite."}
    known = {"prompts": _TEXTS, "finished": _array("boolean"), "n_tokens": _array("integer")}
    properties = {"questions": questions, "answers": _answers(limits), "references": references, **known}
    return {"type": "object", "properties": properties, "required": ["answers"]}


def _queries(limits: Limits) -> Schema:
    return json_object(query=_answers(limits), prompts=_TEXTS, labels=_TEXTS)


@dataclass(frozen=True)
class Endpoint:
    """An endpoint that takes a batch by POST."""

    summary: str
    answer: Callable[[Replies, bytes, str, str], Reply]  # arguments: body, media type, accepted type
    request: Callable[[Limits], Schema]
    reply: Schema
    has_arrow: bool = True  # whether bodies may be Arrow streams; their columns have the names of the keys


_SCORES = {"type": "object", "additionalProperties": _FLOATS_OR_NULL, "properties": {"question_id": _TEXTS}}
_LOGS = json_object(fluency=_FLOATS, truthfulness=_FLOATS, helpfulness=_FLOATS)

ENDPOINTS: Mapping[str, Endpoint] = {
    "/reward": Endpoint(
        "The reward of each answer", Replies.reward, _batch, json_object(rewards=_FLOATS, signature=_SIGNATURE)
    ),
    "/score": Endpoint(
        "All columns of scores", Replies.score, _batch, json_object(scores=_SCORES, signature=_SIGNATURE)
    ),
    "/get_reward": Endpoint(
        "The protocol of OpenRLHF; labels are the questions",
        Replies.openrlhf,
        _queries,
        json_object(rewards=_FLOATS, scores=_FLOATS, extra_logs=_LOGS),
        has_arrow=False,
    ),
}
