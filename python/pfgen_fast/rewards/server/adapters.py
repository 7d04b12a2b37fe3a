"""The protocols of the server: by path, the keys of a body, the rows of answers in it, and the reply.

A new protocol needs an `Adapter` in `adapters`, and its description in `data/openapi.json`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...base.errors import PfgenError, TrialsError
from ...base.untrusted_json import json_bytes
from ...base.untrusted_text import in_one_line, shown_value
from ...scoring.reply_text import first_part
from ...scoring.score_table import ScoreTable
from ..completions import CompletionReward, prompt_text, text_of
from ..reward import RewardTable
from .admission import Limits, Refusal, checked_answers
from .request_bodies import Kind, Reply, decoded

END_TOKENS = (
    *("</s>", "<eos>", "<pad>", "<|endoftext|>", "<|end_of_text|>", "<|end|>", "<|eot_id|>", "<|im_end|>"),
    *("<|return|>", "<|END_OF_TURN_TOKEN|>", "<end_of_turn>", "<turn|>", "[EOS]", "[PAD]", "<｜end▁of▁sentence｜>"),
)
"""The special tokens that end an answer."""

_COLUMNS = {"questions": "question", "references": "references"}  # of a row for NeMo Gym

Body = dict[str, Any]
Rows = dict[str, Any]
"""Columns: `answers`, `questions` or `references`, and other arguments of the reward."""


@dataclass(frozen=True)
class Adapter:
    """A protocol."""

    keys: Mapping[str, Kind]
    rows: Callable[[Body], Rows]
    reply: Callable[[Rows, Body], Any]
    optional: Mapping[str, Kind] = field(default_factory=dict)
    is_open: bool = False  # whether a body may have other keys

    def read(self, body: bytes) -> Body:
        """Decodes a body, and checks it."""
        return decoded(body, self.keys, self.optional, is_open=self.is_open)


class Handler:
    """Makes replies to bodies; thread-safe."""

    def __init__(self, rewards: CompletionReward, limits: Limits) -> None:
        self._reward, self._limits = rewards.reward, limits
        self.adapters = adapters(rewards)

    def __call__(self, path: str, body: bytes) -> Reply:
        """Decodes a body, scores its answers and encodes the reply."""
        adapter = self.adapters[path]
        value = adapter.read(body)
        reply = adapter.reply(self._bounded(adapter.rows(value)), value)
        try:
            return Reply(json_bytes(reply, is_compact=True))
        except (TypeError, ValueError, RecursionError) as error:
            raise Refusal(400, f"the body cannot be sent back: {in_one_line(error, 200)}") from None

    def _bounded(self, rows: Rows) -> Rows:
        rows["answers"] = checked_answers(rows["answers"], self._limits, on_error=self._reward.on_error)
        if "rouge_l" in self._reward.signature:  # or rouge_lsum
            sizes = (sum(map(_size, texts)) for texts in rows.get("references", []) if isinstance(texts, list))
            n_pairs = sum(_size(answer) * size for answer, size in zip(rows["answers"], sizes, strict=False))
            if n_pairs > self._limits.n_pairs:
                sentence = f"answers and references have {n_pairs:,} pairs of characters (a line counts as 45 more)"
                raise Refusal(413, f"{sentence}; the limit is {self._limits.n_pairs:,}; send smaller batches")
        return rows


def _size(text: Any) -> int:
    return len(text) + 45 * text.count("\n") if isinstance(text, str) else 0


def adapters(rewards: CompletionReward) -> dict[str, Adapter]:
    """The protocols of a server by path."""
    reward, key = rewards.reward, rewards.key
    text: Kind = str if reward.on_error == "raise" else object  # otherwise such an answer has the reward of an error
    batch: dict[str, Kind] = {"questions": [str], "answers": [text]}
    known: dict[str, Kind] = {"prompts": [str], "finished": [bool], "n_tokens": [int], "groups": [object]}
    if key == "references":  # questions have no effect
        known = {"references": [[str]], "questions": batch.pop("questions"), **known}

    def columns(body: Body) -> Rows:
        return {**body, "questions": body.get("questions") if key == "questions" else None}

    def scores(rows: Rows, body: Body) -> Any:
        is_plain = reward.scorer is not None and not reward.shape and reward.on_error == "raise"
        if reward.scorer is not None and is_plain:
            table: ScoreTable | RewardTable = reward.scorer.score(rows["questions"], rows["answers"])
        else:
            table = reward.details(**rows)
        return {"scores": {name: table[name] for name in table.columns}, "signature": reward.signature}

    def sample(rows: Rows, body: Body) -> Any:
        return _table(rewards, rows, value="label", answer="response", is_single=True)["reward"][0]

    return {
        "/reward": Adapter(
            batch, columns, lambda rows, body: {"rewards": reward(**rows), "signature": reward.signature}, known
        ),
        "/score": Adapter(batch, columns, scores, known),
        "/get_reward": Adapter(
            {"query": [text], "prompts": [str], "labels": [object]},
            lambda body: {"answers": body["query"], key: label_values(key, body["labels"])},
            lambda rows, body: scores_of_queries(rewards, rows["answers"], body["prompts"], rows[key]),
        ),
        "/rm": Adapter(
            {"prompt": object, "response": text, "label": object},
            lambda body: {
                "answers": [body["response"]],
                key: label_values(key, [body["label"]]),
                "prompts": [prompt_text(body["prompt"], "prompt")],
                "end_tokens": END_TOKENS,
            },
            sample,
        ),
        "/verify": Adapter(
            {"responses_create_params": dict, "response": dict},
            lambda body: rows_of_verification(rewards, body),
            lambda rows, body: verified(rewards, rows, body),
            is_open=True,
        ),
    }


def label_values(key: str, labels: Sequence[Any]) -> list[Any]:
    """The questions that labels name, or the references that they are; a text is a single reference."""
    return [[label] if key == "references" and isinstance(label, str) else label for label in labels]


def _table(rewards: CompletionReward, rows: Rows, *, value: str, answer: str, is_single: bool = False) -> RewardTable:
    """The rewards of rows; messages name the columns of questions or references, and of answers, by these names."""
    try:
        return rewards(rows.pop(rewards.key), rows.pop("answers"), **rows)[0]
    except TrialsError as error:
        names = {rewards.key: value, "answers": answer, "completions": answer}
        row = None if is_single else error.row
        raise TrialsError(error.problem, column=names.get(error.column or "", error.column), row=row) from None


def scores_of_queries(
    rewards: CompletionReward, queries: Sequence[Any], prompts: Sequence[str], values: Sequence[Any]
) -> dict[str, Any]:
    """The reply to OpenRLHF: rewards, scores with the same values, and the parts of scores and shape for logs.

    A query is the prompt followed by the output of the model, with all special tokens. The answer is the part that
    `pfgen-fast generate` would keep. It is finished if a special token ends it, and its reasoning has ended.
    """
    if not len(queries) == len(prompts) == len(values):
        raise TrialsError(
            f"{len(queries)} queries, {len(prompts)} prompts, {len(values)} labels; expected equal numbers"
        )
    completions = []
    for row, (query, prompt) in enumerate(zip(queries, prompts, strict=True)):
        # Some tokenizers add a token before the prompt, so the query may begin before the prompt.
        _, separator, text = query.partition(prompt) if prompt and isinstance(query, str) else ("", "no prompt", query)
        if not separator and rewards.reward.on_error == "raise":
            raise TrialsError(f"does not contain its prompt '{in_one_line(prompt, 40)}'", column="query", row=row)
        completions.append(text if separator else None)
    finished = [isinstance(text, str) and first_part(text, END_TOKENS) != text for text in completions]
    rows = {"answers": completions, rewards.key: list(values), "prompts": prompts, "finished": finished}
    table = _table(rewards, {**rows, "end_tokens": END_TOKENS}, value="labels", answer="query")
    logs = {name: table[name] for name in table.columns if name not in ("score", "reward")}
    return {"rewards": table["reward"], "scores": table["reward"], "extra_logs": logs}


def rows_of_verification(rewards: CompletionReward, body: Body) -> Rows:
    """The row of a request of NeMo Gym: a response of the Responses API, and the columns of the dataset.

    The dataset has `question` (an id or exact text) or `references`, as a column or in `verifier_metadata`.
    """
    column = _COLUMNS[rewards.key]
    metadata, response = body.get("verifier_metadata"), body["response"]
    value = {**(metadata if isinstance(metadata, dict) else {}), **body}.get(column)
    if value is None:
        raise TrialsError("expected a value in the body or in its verifier_metadata", column=column)
    output, usage = response.get("output"), response.get("usage")
    if not isinstance(output, list):
        raise TrialsError(f"expected a list of items, not {shown_value(output)}", column="response.output")
    answer: Any = [item for item in output if isinstance(item, dict) and item.get("type") == "message"][-1:]
    with contextlib.suppress(PfgenError):  # an answer without text remains, for `on_error`
        answer = text_of(answer)
    n_tokens = usage.get("output_tokens") if isinstance(usage, dict) else None
    return {
        "answers": [answer],
        rewards.key: label_values(rewards.key, [value]),
        "prompts": [prompt_text(body["responses_create_params"].get("input"), "responses_create_params.input")],
        "finished": [response.get("incomplete_details") is None],
        "n_tokens": None if n_tokens is None else [n_tokens],
    }


def verified(rewards: CompletionReward, rows: Rows, body: Body) -> Body:
    """The reply to NeMo Gym: the body with the reward and its parts, also as columns, which NeMo Gym averages."""
    table = _table(rewards, rows, value=_COLUMNS[rewards.key], answer="response", is_single=True)
    columns = [name for name in table.columns if name not in ("score", "reward")]
    parts = {name: float(np.nan_to_num(table[name][0])) for name in columns or ["reward"]}
    return {**body, **parts, "reward": float(table["reward"][0]), "reward_components": parts}
