"""Separates the answer in a model's reply from its reasoning. Rules: docs/generation.md, section 2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import EngineError
from .prompts import Mode, cleaned

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

_CHANNEL, _FINAL = "<|channel|>", "<|channel|>final<|message|>"
_ENDS_OF_CHANNEL = ("<|return|>", "<|end|>", "<|start|>")


@dataclass(frozen=True)
class Reply:
    """A model's reply, divided.

    Attributes:
        answer: The answer, without reasoning, stop strings and label.
        state: Whether the reply has reasoning: `none`; `closed` if the reasoning ended; `unfinished` if it did not.
        reasoning: The reasoning, with its tags.
    """

    answer: str
    state: State = "none"
    reasoning: str = ""


def answer_text(
    text: str,
    *,
    mode: Mode = "chat",
    stop: Sequence[str] = (),
    keep: bool = False,
    tags: Sequence[tuple[str, str]] = (),
) -> Reply:
    """Takes the answer from the text of a reply, as every engine, reward and judge does.

    Args:
        text: The text as the model wrote it.
        mode: The kind of prompt. In `qa` and `chat` the answer follows the first label `A:`.
        stop: Strings at which the answer ends. They have no effect within the reasoning.
        keep: Whether reasoning counts as a part of the answer, as in the published runs.
        tags: Further pairs of opening and closing tags; see `TAGS`.

    Example:
        >>> reply = answer_text("<think>Q: why?</think> A: It floats. Q: And", stop=["Q:"])
        >>> reply.answer, reply.state
        ('It floats.', 'closed')

    Raises:
        EngineError: A tag is empty, or an opening tag equals its closing tag.
    """
    found = Reply(text) if keep else _divided(text, (*TAGS, *checked_tags(tags)))
    return Reply(cleaned(first_part(found.answer, stop), mode), found.state, found.reasoning)


def first_part(answer: str, stop: Sequence[str]) -> str:
    """The part of an answer before the first of the stop strings.

    Example:
        >>> first_part("It floats. Q: Why?", ("Q:", "floats"))
        'It '
    """
    return min((answer.partition(text)[0] for text in stop), key=len, default=answer)


def checked_tags(tags: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pairs of tags, if each has two different texts."""
    for opening, closing in tags:
        if not opening or not closing or opening == closing:
            raise EngineError(f"reasoning tags: expected two different texts, got {opening!r} and {closing!r}")
    return tuple((opening, closing) for opening, closing in tags)


def _divided(text: str, tags: Sequence[tuple[str, str]]) -> Reply:
    if _CHANNEL in text:
        return _final_channel(text)
    start = max((text.rfind(closing) + len(closing) for _, closing in tags if closing in text), default=0)
    openings = (text.find(opening, start) for opening, _ in tags)
    end = min((place for place in openings if place >= 0), default=len(text))
    state: State = "unfinished" if end < len(text) else "closed" if start else "none"
    return Reply(text[start:end].strip(), state, text[:start] + text[end:])


def _final_channel(text: str) -> Reply:
    before, final, answer = text.rpartition(_FINAL)
    if not final:
        return Reply("", "unfinished", text)
    state: State = "closed" if _CHANNEL in text.replace(_FINAL, "") else "none"
    return Reply(first_part(answer, _ENDS_OF_CHANNEL).strip(), state, before if state == "closed" else "")
