"""Takes the answer from a model's reply: stop strings, labels and reasoning. Rules: docs/generation.md, section 2."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from ..base.errors import EngineError

Mode = Literal["completion", "qa", "chat", "turns"]
MODES: tuple[Mode, ...] = get_args(Mode)

STOP: Mapping[Mode, tuple[str, ...]] = {"completion": ("Q:", "\n\n"), **dict.fromkeys(MODES[1:], ("Q:",))}
"""The stop strings by mode. An answer ends at the first of them."""

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

FIRST_OF_TAGS = ("<", "[", "◁")
"""The first characters of `TAGS` and of channels; a text without these characters has no reasoning."""

_OPENING_TAGS, CLOSING_TAGS = zip(*TAGS, strict=True)
TAG_TEXTS = (*_OPENING_TAGS, *CLOSING_TAGS)
MARKERS = frozenset({"<|channel|>", "<|message|>", "<|return|>", "<|end|>", "<|start|>", *TAG_TEXTS})
"""The special tokens that divide a reply; decoding must keep them."""

CHANNEL, _FINAL = "<|channel|>", "<|channel|>final<|message|>"
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


def check_mode(mode: str) -> None:
    """Raises EngineError unless the mode is known."""
    if mode not in MODES:
        raise EngineError(f"unknown mode {mode!r}; expected one of {', '.join(MODES)}")


def check_tags(tags: Sequence[tuple[str, str]]) -> None:
    """Raises EngineError unless each opening tag and its closing tag are two different texts."""
    for opening, closing in tags:
        if not opening or not closing or opening == closing:
            raise EngineError(f"reasoning tags: expected two different texts, got {opening!r} and {closing!r}")


def answer_text(
    text: str,
    *,
    mode: Mode = "chat",
    stop: Sequence[str] = (),
    keep: bool = False,
    tags: Sequence[tuple[str, str]] = (),
) -> DividedReply:
    """Takes the answer from the text of a reply. Engines, rewards and judges use the same rules.

    Args:
        text: The text as the model wrote it.
        mode: The mode of the prompt. Except in `completion`, the answer follows the first label `A:`.
        stop: The answer ends at the first of these strings. They have no effect within the reasoning.
        keep: Whether reasoning counts as a part of the answer, as in the published runs.
        tags: Pairs of opening and closing tags in addition to `TAGS`.

    Example:
        >>> reply = answer_text("<think>Q: why?</think> A: It floats. Q: And", stop=["Q:"])
        >>> reply.answer, reply.state
        ('It floats.', 'closed')

    Raises:
        EngineError: A tag is empty, or an opening tag equals its closing tag.
    """
    check_tags(tags)
    divided = DividedReply(text) if keep else divided_text(text, tags)
    return DividedReply(cleaned(first_part(divided.answer, stop), mode), divided.state, divided.reasoning)


def divided_text(text: str, tags: Sequence[tuple[str, str]] = ()) -> DividedReply:
    """Divides a text at `TAGS` and at further pairs of tags, or at its channels."""
    if not (tags or "<" in text or "[" in text or "◁" in text):
        return DividedReply(text.strip())
    if CHANNEL in text:
        return _final_channel(text, tags)
    if not _any_of((*TAG_TEXTS, *(tag for pair in tags for tag in pair))).search(text):
        return DividedReply(text.strip())
    known = (*TAGS, *tags)
    start = max((text.rfind(closing) + len(closing) for _, closing in known if closing in text), default=0)
    openings = (text.find(opening, start) for opening, _ in known)
    end = min((place for place in openings if place >= 0), default=len(text))
    state: State = "unfinished" if end < len(text) else "closed" if start else "none"
    return DividedReply(text[start:end].strip(), state, text[:start] + text[end:] if state != "none" else "")


def opened_by(prompt: str) -> str:
    """The opening tag at the end of a prompt, which the reply then lacks; empty if the prompt ends without a tag."""
    end = prompt.rstrip()
    return next(tag for tag in _OPENING_TAGS if end.endswith(tag)) if end.endswith(_OPENING_TAGS) else ""


def without_reasoning(text: str) -> str:
    """Removes the reasoning from the reply of a judge; a reply in JSON is unchanged, because it may only quote tags."""
    if text.lstrip()[:1] in ("{", "["):
        with contextlib.suppress(ValueError, RecursionError):
            json.loads(text)
            return text
    divided = divided_text(text)
    return text if divided.state == "none" and CHANNEL not in text else divided.answer


def first_part(answer: str, stop: Sequence[str]) -> str:
    """The part of an answer before the first of the stop strings.

    Example:
        >>> first_part("It floats. Q: Why?", ("Q:", "floats"))
        'It '
    """
    match = _any_of(tuple(stop)).search(answer) if stop else None
    return answer if match is None else answer[: match.start()]


@lru_cache
def _any_of(texts: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, texts)))


def cleaned(answer: str, mode: Mode) -> str:
    """The part of a raw answer that is kept: the stripped text; except in completions, the text after the first `A:`.

    Example:
        >>> cleaned(" A: It floats.\\n", "qa"), cleaned(" A: It floats.\\n", "completion")
        ('It floats.', 'A: It floats.')
    """
    if mode == "completion":
        return answer.strip()
    before, marker, after = answer.partition("A:")
    return (after if marker else before).strip()


def _final_channel(text: str, tags: Sequence[tuple[str, str]]) -> DividedReply:
    before, final, answer = text.rpartition(_FINAL)
    if not final:
        return DividedReply("", "unfinished", text)
    has_others = CHANNEL in text.replace(_FINAL, "")
    within = divided_text(first_part(answer, (*_ENDS_OF_CHANNEL, CHANNEL)), tags)
    state: State = "closed" if within.state == "none" and has_others else within.state
    return DividedReply(within.answer, state, (before if has_others else "") + within.reasoning)
