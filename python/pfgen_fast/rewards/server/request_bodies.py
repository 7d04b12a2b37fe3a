"""Replies to batches: a worker decodes the body of a request, scores the answers and encodes the reply.

Bodies are decoded strictly, so that mistakes in training programs are reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ...base.errors import TrialsError
from ...base.untrusted_text import in_one_line
from ...scoring.reply_text import Mode
from ...scoring.score_table import ScoreTable
from ..completions import CompletionReward
from ..reward import Reward, RewardTable
from .admission import MAX_VALUES, Limits, Refusal, checked_answers

JSON = "application/json"

END_TOKENS = (
    *("</s>", "<eos>", "<pad>", "<|endoftext|>", "<|end_of_text|>", "<|end|>", "<|eot_id|>", "<|im_end|>"),
    *("<|return|>", "<|END_OF_TURN_TOKEN|>", "<end_of_turn>", "<turn|>", "[EOS]", "[PAD]", "<｜end▁of▁sentence｜>"),
)
"""The special tokens that end an answer."""

_QUESTIONS = "questions"  # the only key whose value may be a text instead of a list
_OPTIONAL: Mapping[str, type] = {"prompts": str, "finished": bool, "n_tokens": int}
_ITEMS = {str: "a text", bool: "a truth value", int: "an integer", list: "a list of texts"}
_LISTS = {str: "texts", bool: "truth values", int: "integers", list: "lists of texts"}
_TYPES = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
_ESCAPED = re.compile(rb'\\[\\"]')  # matches escaped backslashes too, so that these do not escape a quotation mark


@dataclass(frozen=True)
class Reply:
    """A reply."""

    content: bytes
    kind: str = JSON
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Replies:
    """Makes replies to bodies; thread-safe."""

    shaped: Reward
    limits: Limits
    mode: Mode  # kind of prompts for OpenRLHF

    def reward(self, body: bytes) -> Reply:
        """The rewards of a batch."""
        questions, answers, known = self._batch(body)
        rewards = self.shaped(questions, answers, **known)
        return Reply(json_of({"rewards": rewards, "signature": self.shaped.signature}))

    def score(self, body: bytes) -> Reply:
        """All columns of the scores of a batch, or the details of shaped rewards; in JSON, missing scores are null."""
        questions, answers, known = self._batch(body)
        if self.shaped.scorer is None or self.shaped.shape:
            table: ScoreTable | RewardTable = self.shaped.details(questions, answers, **known)
        else:
            table = self.shaped.scorer.score(questions, answers)
        scores = {name: table[name].tolist() if name == "question_id" else table[name] for name in table.columns}
        return Reply(json_of({"scores": scores, "signature": self.shaped.signature}))

    def openrlhf(self, body: bytes) -> Reply:
        """The reply to OpenRLHF."""
        if self.shaped.scorer is None:
            raise Refusal(400, "the protocol of OpenRLHF has no references, which this server needs; use /reward")
        batch = _decoded(body, dict.fromkeys(("query", "prompts", "labels"), str))
        queries = checked_answers(batch["query"], self.limits)
        reply = scores_of_queries(CompletionReward(self.shaped, self.mode), queries, batch["prompts"], batch["labels"])
        return Reply(json_of(reply))

    def _batch(self, body: bytes) -> tuple[Any, list[str], dict[str, Any]]:
        questions, answers, known = read_batch(body, self.limits, has_references=self.shaped.scorer is None)
        if "rouge_l" in self.shaped.signature:  # or rouge_lsum
            sizes = (sum(map(_size, texts)) for texts in known.get("references", []))
            n_pairs = sum(_size(answer) * size for answer, size in zip(answers, sizes, strict=False))
            if n_pairs > self.limits.n_pairs:
                sentence = f"answers and references have {n_pairs:,} pairs of characters (a line counts as 45 more)"
                raise Refusal(413, f"{sentence}; the limit is {self.limits.n_pairs:,}; send smaller batches")
        return questions, answers, known


def _size(text: str) -> int:
    return len(text) + 45 * text.count("\n")


def read_batch(body: bytes, limits: Limits, *, has_references: bool = False) -> tuple[Any, list[str], dict[str, Any]]:
    """The questions, the answers and the other arguments of `Reward` in a body."""
    if has_references:  # questions have no effect
        batch = _decoded(body, {"answers": str}, {"references": list, _QUESTIONS: str, **_OPTIONAL})
    else:
        batch = _decoded(body, {_QUESTIONS: str, "answers": str}, _OPTIONAL)
    answers = checked_answers(batch.pop("answers"), limits)
    return batch.pop(_QUESTIONS, None), answers, batch


def _decoded(
    body: bytes, keys: Mapping[str, type], optional: Mapping[str, type] = MappingProxyType({})
) -> dict[str, Any]:
    """The checked values of an object with these keys and no other keys; values are lists of items of these types."""
    import orjson

    if len(body) >= MAX_VALUES and sum(map(body.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise Refusal(413, f"more than {MAX_VALUES:,} commas and brackets, which is the limit; send smaller batches")
    expected = ", ".join(map(repr, keys)) + (f"; optional: {', '.join(map(repr, optional))}" if optional else "")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as problem:
        raise Refusal(400, f"the body is not JSON in UTF-8: {in_one_line(problem.msg)} (byte {problem.pos})") from None
    if not isinstance(value, dict):
        raise Refusal(400, f"expected a JSON object with {expected}")
    types = {**optional, **keys}
    for key in value:
        if key not in types:
            raise Refusal(400, f"unknown key '{in_one_line(key, 40)}'; expected {expected}")
    for key in keys:
        if key not in value:
            raise Refusal(400, f"the key {key!r} is missing; expected {expected}")
    n_texts = len(value) + sum(
        1 if key == _QUESTIONS and isinstance(items, str) else _n_texts(items, key, types[key])
        for key, items in value.items()
    )
    n_escaped = sum(escaped[0] == rb"\"" for escaped in _ESCAPED.finditer(body))
    if (body.count(b'"') - n_escaped) // 2 != n_texts:  # orjson keeps only the last value of a duplicate key
        raise Refusal(400, f"a key appears twice; expected each key once: {expected}")
    return value


def _n_texts(items: Any, key: str, kind: type) -> int:
    """The number of texts in a list of items of a type; raises Refusal for another value. Lists are lists of texts."""
    if not isinstance(items, list):
        raise Refusal(400, f"{key}: expected a list of {_LISTS[kind]}, not {_TYPES.get(type(items), 'a number')}")
    if not set(map(type, items)) <= {kind}:
        place = next(place for place, item in enumerate(items) if type(item) is not kind)
        got = _TYPES.get(type(items[place]), "a number")
        raise Refusal(400, f"{key}[{place}]: expected {_ITEMS[kind]}, not {got}")
    if kind is list:
        return sum(_n_texts(texts, f"{key}[{place}]", str) for place, texts in enumerate(items))
    return len(items) if kind is str else 0


def scores_of_queries(
    rewards: CompletionReward, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]
) -> dict[str, Any]:
    """The reply to OpenRLHF: rewards, scores with the same values, and the parts of scores and shape for logs.

    A query is the prompt followed by the output of the model, with all special tokens. The answer is the part that
    `pfgen-fast generate` would keep. It is finished if a special token ends it, and its reasoning has ended.
    """
    if not len(queries) == len(prompts) == len(labels):
        raise TrialsError(
            f"{len(queries)} queries, {len(prompts)} prompts, {len(labels)} labels; expected equal numbers"
        )
    completions = []
    for row, (query, prompt) in enumerate(zip(queries, prompts, strict=True)):
        # Some tokenizers add a token before the prompt, so the query may begin before the prompt.
        _, separator, text = query.partition(prompt) if prompt else ("", "no prompt", query)
        if not separator:
            raise TrialsError(f"does not contain its prompt '{in_one_line(prompt, 40)}'", column="query", row=row)
        completions.append(text)
    finished = [any(token in text for token in END_TOKENS) for text in completions]
    try:
        table, _ = rewards(list(labels), completions, prompts=prompts, finished=finished, end_tokens=END_TOKENS)
    except TrialsError as error:
        if error.column != rewards.key or error.row is None:
            raise
        raise TrialsError(error.problem, column="labels", row=error.row) from None
    logs = {name: table[name] for name in table.columns if name not in ("score", "reward")}
    return {"rewards": table["reward"], "scores": table["reward"], "extra_logs": logs}


def json_of(value: Any) -> bytes:
    """JSON in which floats keep every bit, and NaN is null."""
    import orjson

    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
