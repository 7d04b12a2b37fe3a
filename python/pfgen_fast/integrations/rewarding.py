"""Shared by integrations: the answer in a completion, its rewards, and the prompts of several trials.

A reward is the score of the part of a completion that `pfgen-fast generate` would keep, so a later run has equal
scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.errors import PfgenError
from ..base.untrusted_text import shown_value
from ..generation.prompts import Task, make_tasks
from ..rewards.reward import Reward, ShapeLike
from ..scoring.reply_text import STOP, DividedReply, Mode, answer_text, without_reasoning
from ..suite.suite import Suite

Completion = str | list[dict[str, Any]]
"""The output of a model: a text, or the messages of a conversation, of which the last message is used.

The content of a message is a text, None, or a list of parts, whose texts are joined."""

_WITHOUT_TEXT = {"audio", "file", "image", "image_url", "input_audio", "reasoning", "thinking", "video"}


def answer_in(completion: Completion, mode: Mode | None) -> str:
    """The answer in a completion: the text up to the first stop string, without any lead-in; all of it without a mode.

    Example:
        >>> answer_in([{"role": "assistant", "content": "A: It floats. Q: And"}], "chat")
        'It floats.'
    """
    return without_reasoning(_said(completion)) if mode is None else _divided(completion, mode).answer


def answers_in(completions: Sequence[Completion], mode: Mode) -> tuple[list[str], list[bool]]:
    """The answers in completions, and whether the reasoning of each completion ended."""
    replies = [_divided(completion, mode) for completion in completions]
    return [reply.answer for reply in replies], [reply.state != "unfinished" for reply in replies]


def text_of_prompt(prompt: Completion) -> str:
    """The text of a prompt; of a conversation, the texts of all messages."""
    return prompt if isinstance(prompt, str) else "\n".join(_said([message]) for message in prompt)


def _divided(completion: Completion, mode: Mode) -> DividedReply:
    return answer_text(_said(completion), mode=mode, stop=STOP[mode])


def _said(completion: Completion) -> str:
    """The text of a completion: all of it, or the content of its last message."""
    content: Any = completion
    if isinstance(content, Sequence) and not isinstance(content, str):
        message = content[-1] if content else {}
        content = (message.get("content") or "") if isinstance(message, Mapping) else message
    if isinstance(content, Sequence) and not isinstance(content, str):
        content = "".join(map(_text_of_part, content))
    if not isinstance(content, str):
        raise PfgenError(f"expected a completion, which is a text or messages, not {type(content).__name__}")
    return content


def _text_of_part(part: Any) -> str:
    """The text of a part of a message; empty for images, audio and reasoning."""
    if isinstance(part, Mapping) and part.get("type") in _WITHOUT_TEXT:
        return ""
    if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
        raise PfgenError(
            f"expected a part of a message such as {{'type': 'text', 'text': ...}}, not {shown_value(part)}"
        )
    text: str = part["text"]
    return text


def reward_of(source: Any, metric: str, shape: ShapeLike, *, has_references: bool) -> Reward:
    """The reward for the arguments of a trainer; `has_references` is whether the rows have references."""
    if isinstance(source, Reward):
        if metric != "score" or shape is not None:
            raise PfgenError("metric and shape: expected neither of them with a Reward, which has both")
        return source
    if source is None and (metric == "score" or not has_references):
        raise PfgenError("suite: expected a suite, or reference answers and the name of their metric")
    if has_references:
        from ..rewards.references.reference_scorer import ReferenceScorer

        if source is not None:
            raise PfgenError("references: expected a suite or a column of references, not both")
        return Reward(ReferenceScorer([metric]), shape)
    return Reward(source, shape, metric=metric)


def training_tasks(suite: Suite | str | Path, mode: Mode, trials: int, num_examples: int, seed: str = "") -> list[Task]:
    """The requests of the first trials, with the prompts of `pfgen-fast generate`."""
    loaded = suite if isinstance(suite, Suite) else Suite.load(suite)
    return [
        task
        for trial in range(1, trials + 1)
        for task in make_tasks(loaded, trial, mode=mode, num_examples=num_examples, seed=seed)
    ]
