"""A server on loopback that behaves as the public documentation of Anthropic's Messages API says.

It checks requests as strictly as the service is documented to, and replies with everything that a reply may hold.
"""

from __future__ import annotations

import json
from typing import Any

from makers.fault_server import Reply, Request

KEY = "the-key"
_NEWER_VERSION = "2026-10-21"  # refuses all parameters of sampling

_MESSAGE_FIELDS = {
    *("model", "max_tokens", "messages", "system", "temperature", "top_p", "top_k", "stop_sequences", "thinking"),
    *("stream", "metadata", "output_config"),
}


def anthropic_error(status: int, kind: str, message: str, **headers: str) -> Reply:
    """An error as Anthropic's servers send it."""
    error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return Reply(json.dumps(error).encode(), status, headers)


def message(body: dict[str, Any], text: str, cached: int = 0) -> dict[str, Any]:
    """A message as Claude's server sends it, with a block of reasoning if that was asked for."""
    content: list[dict[str, Any]] = []
    if body.get("thinking", {}).get("type") in ("enabled", "adaptive"):
        content.append({"type": "thinking", "thinking": "Hm, what floats?", "signature": "sig"})
        content.append({"type": "redacted_thinking", "data": "secret"})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": f"{body['model']}-20990101",
        "content": [*content, {"type": "text", "text": text, "citations": None}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 100 - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": 20,
        },
    }


def fault_of_message(body: dict[str, Any], *, refuses_sampling: bool = False) -> str:
    """What the Messages API says against a request; `""` if nothing."""
    for name in sorted(set(body) - _MESSAGE_FIELDS):
        return f"{name}: Extra inputs are not permitted"
    if not isinstance(body.get("max_tokens"), int) or not body.get("messages"):
        return "max_tokens: Field required"
    if any(each["role"] not in ("user", "assistant") for each in body["messages"]):
        return "messages: Unexpected role; the Messages API accepts a top-level `system` parameter"
    if not 0 <= body.get("temperature", 1) <= 1:
        return "temperature: range: 0..1"
    if any(not text.strip() for text in body.get("stop_sequences", [])):
        return "stop_sequences: each stop sequence must contain non-whitespace"
    thinking = body.get("thinking", {"type": "disabled"})
    if thinking["type"] == "enabled" and not 1024 <= thinking["budget_tokens"] < body["max_tokens"]:
        return "max_tokens must be greater than thinking.budget_tokens"
    if thinking["type"] != "disabled" and body.get("temperature", 1) != 1:
        return "temperature may only be set to 1 when thinking is enabled"
    if refuses_sampling and {"temperature", "top_p", "top_k"} & set(body):
        return "sampling parameters are not supported for this model"
    return ""


def anthropic_service(request: Request) -> Reply:
    """The Messages API; to be given to `serving`."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    if KEY not in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")):
        return anthropic_error(401, "authentication_error", "invalid x-api-key")
    if headers.get("anthropic-version") not in ("2023-06-01", _NEWER_VERSION):
        return anthropic_error(400, "invalid_request_error", "anthropic-version: header is required")
    if request.path.partition("?")[0] != "/v1/messages":
        return anthropic_error(404, "not_found_error", "no such thing")
    is_newer = headers["anthropic-version"] == _NEWER_VERSION
    if fault := fault_of_message(request.body, refuses_sampling=is_newer):
        return anthropic_error(400, "invalid_request_error", fault)
    return Reply(json.dumps(message(request.body, f"About {request.question}", cached=30)).encode())
