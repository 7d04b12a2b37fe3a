"""Completions of trainers: the answer in each, and its reward."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..base.errors import PfgenError, RewardError, TrialsError
from ..base.untrusted_text import shown_value, unknown_name
from ..scoring.reply_text import STOP, Mode, answer_text, check_mode, opened_by, without_reasoning
from .answer_rows import OnError, Reasoning
from .references.reference_scorer import ReferenceScorer
from .reward import Reward, RewardTable, ShapeLike, shape_of

Completion = str | list[dict[str, Any]]
"""The output of a model: a text, or the messages of a conversation, of which the last message is used.

The content of a message is a text, None, or a list of parts, whose texts are joined."""

SETTINGS = ("suite", "mode", "metric", "shape", "reasoning", "on_error")
"""The settings in the configurations of trainers."""

_WITHOUT_TEXT = {"audio", "file", "image", "image_url", "input_audio", "reasoning", "refusal", "thinking", "video"}


@dataclass(frozen=True)
class CompletionReward:
    """A `Reward` of completions: of what `pfgen-fast generate` would keep of each, so a later run has equal scores.

    Args:
        reward: The reward; its `reasoning` and `on_error` apply to completions, too.
        mode: The kind of prompts, which determines where an answer begins and ends.

    Example:
        >>> from pfgen_fast import Reward
        >>> rewards = CompletionReward(Reward("mini"), "qa")
        >>> table, answers = rewards(["Q07"], [[{"role": "assistant", "content": "A: Ice floats. Q: And"}]])
        >>> answers, table["reward"].tolist()
        (['Ice floats.'], [0.02259])
    """

    reward: Reward
    mode: Mode = "completion"

    @property
    def key(self) -> str:
        """The values of a row that the reward compares a completion with: `questions` or `references`."""
        return "questions" if self.reward.scorer else "references"

    @classmethod
    def shared(cls, settings: Any, mode: Mode = "chat") -> CompletionReward:
        """`of` for `SETTINGS` in a configuration; all threads of a process share it. `mode` is the default mode."""
        if not isinstance(settings, Mapping):
            raise PfgenError(f"settings: expected a mapping with settings such as suite, not {shown_value(settings)}")
        known = {"suite": None, "mode": mode, **settings}
        for name, value in known.items():
            if name not in SETTINGS:
                raise PfgenError(unknown_name("setting", name, SETTINGS))
            if name == "shape" and not isinstance(value, str | None):
                known[name] = shape_of(value)
            elif not isinstance(value, Hashable):
                raise PfgenError(f"{name}: expected a text, not {shown_value(value)}")
        return cls._cached(**known)

    @classmethod
    @lru_cache
    def _cached(cls, suite: str | None, mode: Mode, **settings: Any) -> CompletionReward:
        return cls.of(suite, mode, has_references=suite is None, **settings)

    @classmethod
    def of(
        cls,
        source: Any,
        mode: Mode,
        *,
        metric: str = "score",
        shape: ShapeLike = None,
        has_references: bool = False,
        reasoning: Reasoning = "strip",
        on_error: OnError = "raise",
    ) -> CompletionReward:
        """For the settings of a trainer; `has_references` is whether the rows have references."""
        check_mode(mode)
        if isinstance(source, Reward):
            if (metric, shape, reasoning, on_error) != ("score", None, "strip", "raise"):
                raise PfgenError(
                    "metric, shape, reasoning, on_error: expected none of them with a Reward, which has them"
                )
            return cls(source, mode)
        if source is None and (metric == "score" or not has_references):
            raise PfgenError("suite: expected a suite, or reference answers and the name of their metric")
        if has_references:
            if source is not None:
                raise PfgenError("references: expected a suite or a column of references, not both")
            source = ReferenceScorer([metric])
        return cls(Reward(source, shape, metric=metric, reasoning=reasoning, on_error=on_error), mode)

    def __call__(
        self,
        values: Any,
        completions: Sequence[Completion],
        *,
        prompts: Sequence[Completion] | None = None,
        finished: Sequence[bool] | None = None,
        n_tokens: Any = None,
        groups: Any = None,
        end_tokens: Sequence[str] = (),
    ) -> tuple[RewardTable, list[str | None]]:
        """The rewards of a batch with their parts, and the answers that were scored; see `Reward.details`.

        `values` are the questions of the rows, or for a `ReferenceScorer` their lists of reference answers. A row whose
        completion is neither a text nor messages cannot be scored. Without `groups`, equal prompts are a group.
        `end_tokens` are special tokens, of which the first one ends an answer.
        """
        reward, answers = self.reward, list[str | None]()
        if reward.needs_groups and len(completions) == 1:  # no `on_error`, because every call would have this fault
            raise RewardError("the shape compares the answers to one prompt; expected at least two answers, got one")
        stop, opened = (*end_tokens, *STOP[self.mode]), dict[str, str]()
        ended = [True] * len(completions) if finished is None else list(map(bool, finished))
        for row, completion in enumerate(completions):
            try:
                text = text_of(completion)
            except PfgenError as error:
                if reward.on_error == "raise":
                    raise TrialsError(str(error), column="completions", row=row) from None
                answers.append(None)
                continue
            prompt = prompts[row] if prompts is not None and row < len(prompts) else None
            if isinstance(prompt, str):
                if prompt not in opened:
                    opened[prompt] = opened_by(prompt)
                text = opened[prompt] + text
            reply = answer_text(text, mode=self.mode, stop=stop, keep=reward.reasoning != "strip")
            answers.append(reply.answer)
            if reply.state == "unfinished" and row < len(ended):
                ended[row] = False
        texts: list[str | None] | None = None
        if prompts is not None and (reward.needs_prompts or reward.needs_groups):
            texts = []
            for row, prompt in enumerate(prompts):
                try:
                    texts.append(prompt_text(prompt, "prompts", row))
                except TrialsError:
                    if reward.on_error == "raise":
                        raise
                    texts.append(None)
        known = {
            "prompts": texts,
            "finished": ended,
            "n_tokens": n_tokens,
            "groups": texts if groups is None else groups,
        }
        if self.key == "questions":
            table = reward.details(values, answers, **known)
        else:
            table = reward.details(None, answers, references=values, **known)
        if reward.on_error == "zero" and np.isnan(table["score"]).any():  # trainers average parts, or train with them
            table = RewardTable(table.signature, {name: np.nan_to_num(table[name]) for name in table.columns})
        return table, answers

    def of_task(
        self, values: Sequence[Any], completions: Sequence[Completion], **known: Any
    ) -> tuple[RewardTable, list[str | None]]:
        """The rewards of the rows that have a value; other rows belong to another task, and have NaN and no answer."""
        rows = [row for row, value in enumerate(values) if value is not None]
        if len(rows) == len(values):
            return self(values, completions, **known)
        part = {name: [column[row] for row in rows] for name, column in known.items() if column is not None}
        try:
            table, some = self([values[row] for row in rows], [completions[row] for row in rows], **part)
        except TrialsError as error:
            row = None if error.row is None else rows[error.row]
            raise TrialsError(error.problem, column=error.column, row=row) from None
        columns = {name: np.full(len(values), np.nan) for name in table.columns}
        for name, column in columns.items():
            column[rows] = table[name]
        answers = dict(zip(rows, some, strict=True))
        return RewardTable(table.signature, columns), [answers.get(row) for row in range(len(values))]


def answer_in(completion: Completion, mode: Mode | None) -> str:
    """The answer in a completion: the text up to the first stop string, without any lead-in; all of it without a mode.

    Example:
        >>> answer_in([{"role": "assistant", "content": "A: It floats. Q: And"}], "chat")
        'It floats.'
    """
    text = text_of(completion)
    return without_reasoning(text) if mode is None else answer_text(text, mode=mode, stop=STOP[mode]).answer


def text_of(completion: Completion) -> str:
    """The text of a completion: all of it, or the content of its last message."""
    if isinstance(completion, str):
        return completion
    content: Any = completion
    if isinstance(content, Sequence) and not isinstance(content, str):
        message = content[-1] if content else {}
        content = (message.get("content") or "") if isinstance(message, Mapping) else message
    if isinstance(content, Sequence) and not isinstance(content, str):
        content = "".join(map(_text_of_part, content))
    if not isinstance(content, str):
        raise PfgenError(f"expected a completion, which is a text or messages, not {type(content).__name__}")
    return content


def prompt_text(prompt: Any, column: str, row: int | None = None) -> str:
    """The text of a prompt: all of it, or the contents of its messages; an error names the column and the row."""
    try:
        return prompt if isinstance(prompt, str) else "\n".join(text_of([message]) for message in prompt)
    except (PfgenError, TypeError):
        raise TrialsError(f"expected a text or messages, not {shown_value(prompt)}", column=column, row=row) from None


def settings_of_environment() -> dict[str, Any]:
    """The settings in variables such as `PFGEN_FAST_SUITE`."""
    names = {name: f"PFGEN_FAST_{name.upper()}" for name in SETTINGS}
    return {name: os.environ[variable] for name, variable in names.items() if variable in os.environ}


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
