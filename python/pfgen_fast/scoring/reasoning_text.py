"""Separates the answer from the reasoning in a model's reply. Rules: docs/generation.md, section 2."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ReasoningChoice = Literal["keep", "strip"]  # whether texts that are scored keep their reasoning

State = Literal["none", "closed", "unfinished"]

TAGS: tuple[tuple[str, str], ...] = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
)
"""The opening and closing tags of reasoning that are always known."""

CLOSING_TAGS = tuple(closing for _, closing in TAGS)
TAG_TEXTS = frozenset(tag for pair in TAGS for tag in pair)
MARKERS = frozenset({"<|channel|>", "<|message|>", "<|return|>", "<|end|>", "<|start|>", *TAG_TEXTS})
"""The special tokens that divide a reply; decoding must keep them."""

_CHANNEL, _FINAL = "<|channel|>", "<|channel|>final<|message|>"
_ENDS_OF_CHANNEL = ("<|return|>", "<|end|>", "<|start|>")


@dataclass(frozen=True)
class DividedReply:
    """A model's reply, divided."""

    answer: str  # answer, without reasoning, stop strings and label
    # whether the reply has reasoning: `none`; `closed` if the reasoning ended; `unfinished` if it did not
    state: State = "none"
    reasoning: str = ""  # reasoning, with its tags

    @property
    def reasoning_text(self) -> str:
        """The reasoning without tags; empty if the model wrote tags with nothing between them."""
        text = self.reasoning
        for tag in MARKERS:
            text = text.replace(tag, "")
        return text.strip()


def divided_text(text: str, tags: Sequence[tuple[str, str]] = ()) -> DividedReply:
    """Divides a text at `TAGS` and at further pairs of tags, or at its channels."""
    if _CHANNEL in text:
        return _final_channel(text, tags)
    known = (*TAGS, *tags)
    start = max((text.rfind(closing) + len(closing) for _, closing in known if closing in text), default=0)
    openings = (text.find(opening, start) for opening, _ in known)
    end = min((place for place in openings if place >= 0), default=len(text))
    state: State = "unfinished" if end < len(text) else "closed" if start else "none"
    return DividedReply(text[start:end].strip(), state, text[:start] + text[end:] if state != "none" else "")


def opened_by(prompt: str) -> str:
    """The opening tag at the end of a prompt, which the reply then lacks; empty if the prompt ends without a tag."""
    end = prompt.rstrip()
    return next((opening for opening, _ in TAGS if end.endswith(opening)), "")


def without_reasoning(text: str) -> str:
    """Removes the reasoning from the reply of a judge; a reply in JSON is unchanged, because it may only quote tags."""
    if text.lstrip()[:1] in ("{", "["):
        with contextlib.suppress(ValueError, RecursionError):
            json.loads(text)
            return text
    divided = divided_text(text)
    return text if divided.state == "none" and _CHANNEL not in text else divided.answer


def first_part(answer: str, stop: Sequence[str]) -> str:
    """The part of an answer before the first of the stop strings.

    Example:
        >>> first_part("It floats. Q: Why?", ("Q:", "floats"))
        'It '
    """
    return min((answer.partition(text)[0] for text in stop), key=len, default=answer)


def _final_channel(text: str, tags: Sequence[tuple[str, str]]) -> DividedReply:
    before, final, answer = text.rpartition(_FINAL)
    if not final:
        return DividedReply("", "unfinished", text)
    has_others = _CHANNEL in text.replace(_FINAL, "")
    within = divided_text(first_part(answer, (*_ENDS_OF_CHANNEL, _CHANNEL)), tags)
    state: State = "closed" if within.state == "none" and has_others else within.state
    return DividedReply(within.answer, state, (before if has_others else "") + within.reasoning)
