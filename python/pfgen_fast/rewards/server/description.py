"""The endpoints for batches, and an OpenAPI document.

A new endpoint needs a method of `Replies`, and an entry in `ENDPOINTS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ... import __version__
from .limits import Limits
from .whole_replies import JSON, Replies, Reply

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
    answer: Callable[[Replies, bytes], Reply]
    request: Callable[[Limits], Schema]
    reply: Schema


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
    ),
}

_REFUSALS = {
    "400": "The batch is invalid; the message names the row.",
    "401": "The token is missing or wrong.",
    "413": "The body, the batch or an answer is too large.",
    "415": "The body is compressed, or has another media type.",
    "429": "The server is busy; try again after the time in Retry-After.",
    "503": "The request has waited for too long; try again later.",
}


def described(signature: str, limits: Limits) -> dict[str, Any]:
    """The OpenAPI document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pfgen-fast",
            "version": __version__,
            "description": f"Rewards of answers. Signature of the scores: {signature}. Limits: {limits}.",
        },
        "security": [{"bearer": []}, {"basic": []}, {}],
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "basic": {"type": "http", "scheme": "basic", "description": "Any name; the password is the token."},
            },
            "schemas": {"Refusal": json_object(error={"type": "string"})},
        },
        "paths": {
            **{path: _post(endpoint, limits) for path, endpoint in ENDPOINTS.items()},
            "/healthz": _get("Whether the server runs; needs no token", JSON),
            "/metrics": _get("Metrics for Prometheus", "text/plain"),
        },
    }


def _post(endpoint: Endpoint, limits: Limits) -> dict[str, Any]:
    request, reply = ({JSON: {"schema": schema}} for schema in (endpoint.request(limits), endpoint.reply))
    refusal = {JSON: {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    refusals = {status: {"description": why, "content": refusal} for status, why in _REFUSALS.items()}
    return {
        "post": {
            "summary": endpoint.summary,
            "requestBody": {"required": True, "content": request},
            "responses": {"200": {"description": endpoint.summary, "content": reply}, **refusals},
        }
    }


def _get(summary: str, kind: str) -> dict[str, Any]:
    return {"get": {"summary": summary, "responses": {"200": {"description": summary, "content": {kind: {}}}}}}
