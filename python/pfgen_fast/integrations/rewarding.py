"""Shared by integrations: the answer in a completion, its rewards, and the prompts of several trials.

A reward is the score of the part of a completion that `pfgen-fast generate` would keep, so a later run has equal
scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import PfgenError
from ..files.untrusted_text import shown_value
from ..generation.prompts import STOP, Mode, Task, make_tasks
from ..generation.reasoning import answer_text
from ..scoring.score_table import ScoreTable
from ..suite.rules import SCORES, column_of
from ..suite.suite import Suite

Completion = str | list[dict[str, Any]]
"""The output of a model: a text, or the messages of a conversation, of which the last message is used.

The content of a message is a text, None, or a list of parts, whose texts are joined."""

_WITHOUT_TEXT = {"audio", "file", "image", "image_url", "input_audio", "reasoning", "thinking", "video"}


def answer_in(completion: Completion, mode: Mode) -> str:
    """The answer in a completion: the text up to the first stop string, without any lead-in.

    Example:
        >>> answer_in([{"role": "assistant", "content": "A: It floats. Q: And"}], "chat")
        'It floats.'
    """
    said: Any = completion
    if isinstance(said, Sequence) and not isinstance(said, str):
        message = said[-1] if said else {}
        said = (message.get("content") or "") if isinstance(message, Mapping) else message
    if isinstance(said, Sequence) and not isinstance(said, str):
        said = "".join(map(_text_of_part, said))
    if not isinstance(said, str):
        raise PfgenError(f"expected a completion, which is a text or messages, not {type(said).__name__}")
    return answer_text(said, mode=mode, stop=STOP[mode]).answer


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


def check_metric(metric: str) -> None:
    """Raises PfgenError unless the metric is the score or one of its parts."""
    if metric not in SCORES:
        raise PfgenError(f"unknown metric {metric!r}; expected one of {', '.join(SCORES)}")


def rewards_of(table: ScoreTable, metric: str) -> list[float]:
    """One score (of `SCORES`) of each row."""
    found: list[float] = table[column_of(metric)].tolist()
    return found


def training_tasks(suite: Suite | str | Path, mode: Mode, trials: int, num_examples: int, seed: str = "") -> list[Task]:
    """The requests of the first trials, with the prompts of `pfgen-fast generate`."""
    loaded = suite if isinstance(suite, Suite) else Suite.load(suite)
    return [
        task
        for trial in range(1, trials + 1)
        for task in make_tasks(loaded, trial, mode=mode, num_examples=num_examples, seed=seed)
    ]
