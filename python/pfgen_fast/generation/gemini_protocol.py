"""Gemini's native API, generateContent, and its batches, as publicly documented; see docs/generation.md."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote

from ..errors import EngineError
from ..files.untrusted_text import in_one_line
from .json_parts import error_text, list_in, member_of, texts_of, tokens, without_none
from .prompts import Message, Request
from .protocol import Details, NoAnswer, ThinkingForm, Usage, joined_text, reported_name

SAFETY_THRESHOLDS = ("BLOCK_LOW_AND_ABOVE", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_ONLY_HIGH", "BLOCK_NONE", "OFF")
"""The thresholds of harm from which an answer is blocked, the strictest first."""

_HARMS = ("HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT")
_NO_THINKING, _DYNAMIC_THINKING = 0, -1
_BLOCKED = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"}  # reasons of blocked answers

_SECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")


@dataclass(frozen=True)
class GeminiNativeForm(ThinkingForm):
    """Requests to Gemini's native API."""

    safety: str | None = None  # one of `SAFETY_THRESHOLDS`; None for the server's default

    engine: ClassVar[str] = "gemini-native"
    batch_format: ClassVar[str] = "gemini-batch"
    disabled_by: ClassVar[str] = "thinkingBudget: 0"
    batch_id: ClassVar[str] = "key"
    other_names: ClassVar[Mapping[str, Sequence[str]]] = {
        "top_p": ("topP",),
        "top_k": ("topK",),
        "stop": ("stopSequences",),
        "max_tokens": ("maxOutputTokens",),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.safety is not None and self.safety not in SAFETY_THRESHOLDS:
            raise EngineError(f"safety: expected {' or '.join(SAFETY_THRESHOLDS)}, not {in_one_line(self.safety)}")

    @property
    def parameters(self) -> dict[str, Any]:
        """The entries in config.json."""
        return {**super().parameters, "safety": self.safety}

    def headers(self, key: str) -> dict[str, str]:
        """The headers of every request."""
        return {"x-goog-api-key": key} if key else {}

    def _schema_members(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": schema}}

    def _request(self, request: Request) -> tuple[str, dict[str, Any]]:
        messages = request.prompt.messages or ()
        system = [_part(message) for message in messages if message["role"] == "system"]
        parts = [_part(message) for message in messages if message["role"] != "system"]
        safety = [{"category": f"HARM_CATEGORY_{harm}", "threshold": self.safety} for harm in _HARMS]
        body = {
            "systemInstruction": {"parts": system} if system else None,
            "contents": [{"role": "user", "parts": parts}],
            "generationConfig": self._generation_config(request.seed),
            "safetySettings": safety if self.safety else None,
        }
        return f"/models/{quote(self._name, safe='')}:generateContent", without_none(body)

    def _parameters_in(self, body: dict[str, Any]) -> dict[str, Any]:
        config: dict[str, Any] = body["generationConfig"]
        return config

    def _generation_config(self, seed: int) -> dict[str, Any]:
        sampling = self.sampling
        budgets = self.thinking_budget, _DYNAMIC_THINKING, _NO_THINKING
        config = {
            "maxOutputTokens": self._max_tokens,
            "temperature": sampling.temperature,
            "topP": sampling.top_p,
            "topK": sampling.top_k,
            "stopSequences": list(sampling.stop) or None,
            "seed": seed,
            "thinkingConfig": self._thinking(*({"thinkingBudget": budget} for budget in budgets)),
        }
        return without_none(config)

    def _answer_and_reasoning(self, reply: Any) -> tuple[str, str | None]:
        blocked = reported_name(member_of(reply, "promptFeedback", "blockReason"))
        if blocked:
            raise NoAnswer(f"reports that the prompt is blocked ({blocked})")
        candidates = list_in(reply, "candidates")
        if len(candidates) > 1:
            raise NoAnswer(f"has {len(candidates):,} answers to a request for one")
        reason = member_of(candidates, 0, "finishReason")
        if isinstance(reason, str) and reason in _BLOCKED:
            raise NoAnswer(f"reports that the answer is blocked ({reason})")
        parts = list_in(candidates, 0, "content", "parts")
        thoughts = [part for part in parts if member_of(part, "thought")]
        texts = [part for part in parts if not member_of(part, "thought")]
        return joined_text(texts, "finishReason", reason), texts_of(thoughts) if thoughts else None

    def details_in(self, reply: Any) -> Details:
        """The details of a reply."""
        reason = member_of(reply, "candidates", 0, "finishReason")
        return Details(reported_name(reason), reported_name(member_of(reply, "modelVersion")))

    def usage_in(self, reply: Any) -> Usage:
        """The token counts of a reply. Its number of candidate tokens does not include thoughts."""
        usage = member_of(reply, "usageMetadata")
        names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount")
        of_prompt, of_candidate, of_thoughts, cached = (tokens(member_of(usage, name)) for name in names)
        return Usage(of_prompt, of_candidate + of_thoughts, cached, of_thoughts)

    def batch_line(self, name: str, request: Request) -> dict[str, Any]:
        """A request of a batch."""
        return {"key": name, "request": self.path_and_body(request)[1]}

    def _batch_body(self, row: Mapping[str, Any]) -> tuple[Any, str]:
        if row.get("response") is not None:
            return row["response"], ""
        return None, f"failed: {error_text(row.get('error'))}" if row.get("error") else "has no response"

    def asked_seconds(self, refusal: Any) -> float:
        """The delay that the details of an error demand."""
        error = refusal[0] if isinstance(refusal, list) and len(refusal) == 1 else refusal
        delays = [member_of(detail, "retryDelay") for detail in list_in(error, "error", "details")]
        found = (_SECONDS.fullmatch(delay) for delay in delays if isinstance(delay, str))
        return max((float(match[1]) for match in found if match), default=0.0)


def _part(message: Message) -> dict[str, str]:
    return {"text": message["content"]}
