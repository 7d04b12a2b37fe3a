"""How a run treats reasoning. Rules: docs/generation.md, section 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..base.errors import EngineError
from ..base.untrusted_text import shown_value
from ..scoring.reply_text import DividedReply, Mode, answer_text, check_tags
from .engines import Sampling
from .protocol import RawReply


@dataclass(frozen=True)
class Reasoning:
    """How a run treats reasoning."""

    keep: bool = False  # whether reasoning counts as a part of the answer, as in the published runs
    tags: tuple[tuple[str, str], ...] = ()  # pairs of opening and closing tags in addition to `TAGS`
    tokens: int = 0  # maximum number of tokens for reasoning, in addition to those of the answer
    retries: int = 0  # number of further requests after unfinished reasoning; then the answer is empty

    def __post_init__(self) -> None:
        check_tags(self.tags)
        for option, value in (("--reasoning-tokens", self.tokens), ("--retry-unfinished", self.retries)):
            if value < 0:
                raise EngineError(f"{option}: expected at least 0, got {value}")

    def config(self) -> dict[str, Any]:
        """The entries in config.json, which are None for defaults."""
        return {
            "reasoning": "keep" if self.keep else None,
            "reasoning_tags": [list(pair) for pair in self.tags] or None,
            "reasoning_tokens": self.tokens or None,
            "retry_unfinished": self.retries or None,
        }

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Reasoning:
        """Creates it from values of options. In the list of tags, each closing tag follows its opening tag."""
        choice, tags = values.get("reasoning") or "strip", values.get("reasoning_tags") or []
        if choice not in ("strip", "keep"):
            raise EngineError(f"reasoning: expected strip or keep, got {shown_value(choice)}")
        if len(tags) % 2:
            raise EngineError(f"reasoning_tags: expected pairs of texts, got {len(tags)} texts")
        pairs = tuple(zip(tags[::2], tags[1::2], strict=True))
        return cls(choice == "keep", pairs, values.get("reasoning_tokens") or 0, values.get("retry_unfinished") or 0)

    def sent(self, sampling: Sampling, mode: Mode) -> Sampling:
        """The sampling for an engine: with tokens for reasoning, and without stop strings that could end it."""
        stop = sampling.stop if mode == "completion" or self.keep else ()
        return replace(sampling, max_tokens=sampling.max_tokens + self.tokens, stop=stop)

    def divided(self, reply: RawReply, mode: Mode, stop: Sequence[str]) -> DividedReply:
        """Divides a reply, which may have reasoning in a separate field."""
        text = reply.text if self.keep else reply.opened + reply.text
        divided = answer_text(text, mode=mode, stop=stop, keep=self.keep, tags=self.tags)
        if self.keep or not reply.has_reasoning:
            return divided
        is_unfinished = divided.state == "unfinished" or reply.is_unfinished
        reasoning = (reply.reasoning or "") + divided.reasoning
        return DividedReply(divided.answer, "unfinished" if is_unfinished else "closed", reasoning)
