"""Servers on loopback that behave as the public documentation of Anthropic's and Gemini's APIs says.

They check requests as strictly as the services are documented to, and reply with everything that a reply may hold.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from makers.fault_server import Reply, Request

KEY = "the-key"
NEWER_VERSION = "2026-10-21"
"""A version of the Messages API that refuses all parameters of sampling."""

_MESSAGE_FIELDS = {
    *("model", "max_tokens", "messages", "system", "temperature", "top_p", "top_k", "stop_sequences", "thinking"),
    *("stream", "metadata", "output_config"),
}
_GEMINI_FIELDS = {"contents", "systemInstruction", "generationConfig", "safetySettings"}
_CONFIG_FIELDS = {
    *("maxOutputTokens", "temperature", "topP", "topK", "stopSequences", "seed", "thinkingConfig", "candidateCount"),
    *("responseMimeType", "responseJsonSchema"),
}


def anthropic_error(status: int, kind: str, message: str, **headers: str) -> Reply:
    """An error as Anthropic's servers send it."""
    error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return Reply(json.dumps(error).encode(), status, headers)


def gemini_error(status: int, state: str, message: str, delay: str | None = None) -> Reply:
    """An error as Google's servers send it."""
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}] if delay else []
    error = {"error": {"code": status, "message": message, "status": state, "details": details}}
    return Reply(json.dumps(error).encode(), status)


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


def fault_of_content(body: dict[str, Any]) -> str:
    """What generateContent says against a request; `""` if nothing."""
    config = body.get("generationConfig", {})
    for name in sorted((set(body) - _GEMINI_FIELDS) | (set(config) - _CONFIG_FIELDS)):
        return f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
    if not all(content.get("role") in ("user", "model") and content["parts"] for content in body.get("contents", [])):
        return "contents: expected roles user and model"
    if len(config.get("stopSequences", [])) > 5:
        return "stopSequences: at most 5"
    return ""


def candidate(text: str, *, has_thought: bool) -> dict[str, Any]:
    """A reply of generateContent, with a thought if that was asked for."""
    thought = [{"text": "Hm, what floats?", "thought": True}] if has_thought else []
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [*thought, {"text": text}]}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 40,
            "candidatesTokenCount": 15,
            "thoughtsTokenCount": 5,
            "totalTokenCount": 120,
        },
        "modelVersion": "gemini-test-001",
        "responseId": "r1",
    }


@dataclass
class AnthropicService:
    """The Messages API and its batches; to be given to `serving`."""

    batches: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def __call__(self, request: Request) -> Reply:
        headers = {name.lower(): value for name, value in request.headers.items()}
        if KEY not in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")):
            return anthropic_error(401, "authentication_error", "invalid x-api-key")
        if headers.get("anthropic-version") not in ("2023-06-01", NEWER_VERSION):
            return anthropic_error(400, "invalid_request_error", "anthropic-version: header is required")
        path = request.path.partition("?")[0]
        if path == "/v1/messages":
            is_newer = headers["anthropic-version"] == NEWER_VERSION
            if fault := fault_of_message(request.body, refuses_sampling=is_newer):
                return anthropic_error(400, "invalid_request_error", fault)
            return Reply(json.dumps(message(request.body, f"About {request.question}", cached=30)).encode())
        if path == "/v1/messages/batches":
            return self._made(request.body["requests"])
        found = re.fullmatch(r"/v1/messages/batches/(\w+)(/results)?", path)
        if not found or found[1] not in self.batches:
            return anthropic_error(404, "not_found_error", "no such thing")
        if not found[2]:
            return Reply(json.dumps(self._about(found[1])).encode())
        lines = [json.dumps(self._result(each)) for each in reversed(self.batches[found[1]])]
        return Reply("\n".join(lines).encode(), headers={"Content-Type": "application/x-jsonl"})

    def _made(self, requests: list[dict[str, Any]]) -> Reply:
        names = [each["custom_id"] for each in requests]
        if len(set(names)) < len(names) or not all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names):
            return anthropic_error(400, "invalid_request_error", "custom_id: not unique, or not as expected")
        name = f"msgbatch_{len(self.batches)}"
        self.batches[name] = requests
        return Reply(json.dumps(self._about(name)).encode())

    def _about(self, name: str) -> dict[str, Any]:
        counts = dict.fromkeys(("processing", "errored", "canceled", "expired"), 0)
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended",
            "request_counts": {**counts, "succeeded": len(self.batches[name])},
            "created_at": "2099-01-01T00:00:00Z",
            "expires_at": "2099-01-02T00:00:00Z",
            "ended_at": "2099-01-01T01:00:00Z",
            **dict.fromkeys(("archived_at", "cancel_initiated_at", "results_url")),
        }

    def _result(self, each: dict[str, Any]) -> dict[str, Any]:
        if fault := fault_of_message(each["params"]):
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": fault}}
            return {"custom_id": each["custom_id"], "result": {"type": "errored", "error": error}}
        made = message(each["params"], f"Batched {each['custom_id']}")
        return {"custom_id": each["custom_id"], "result": {"type": "succeeded", "message": made}}


def gemini_service(request: Request) -> Reply:
    """generateContent; to be given to `serving`."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    if headers.get("x-goog-api-key") != KEY:
        return gemini_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
    if not re.fullmatch(r"/v1(beta)?/models/[\w.-]+:generateContent", request.path):
        return gemini_error(404, "NOT_FOUND", "no such model")
    if fault := fault_of_content(request.body):
        return gemini_error(400, "INVALID_ARGUMENT", fault)
    budget = request.body.get("generationConfig", {}).get("thinkingConfig", {}).get("thinkingBudget", 0)
    return Reply(json.dumps(candidate(f"About {request.question}", has_thought=budget != 0)).encode())
