"""Replies to batches: a worker decodes the body of a request, scores the answers and encodes the reply.

Bodies are decoded strictly, so that mistakes in training programs are reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ...base.errors import TrialsError
from ...base.untrusted_text import in_one_line
from ...scoring.reply_text import STOP, Mode, answer_text, opened_by
from ...scoring.score_table import ScoreTable
from ..reward import Reward, RewardTable
from .admission import MAX_VALUES, Limits, Refusal, check_pairs, checked_answers

Check = Callable[[Any, str], int]
"""Raises Refusal if the value of a key has a wrong type; returns the number of texts in the value."""

_ESCAPED = re.compile(rb'\\[\\"]')  # matches escaped backslashes too, so that these do not escape a quotation mark


def decoded(
    body: bytes, keys: Mapping[str, Check], optional: Mapping[str, Check] = MappingProxyType({})
) -> dict[str, Any]:
    """The checked values of an object with these keys and no other keys. A duplicate key is refused."""
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
    for key in value:
        if key not in keys and key not in optional:
            raise Refusal(400, f"unknown key '{in_one_line(key, 40)}'; expected {expected}")
    for key in keys:
        if key not in value:
            raise Refusal(400, f"the key {key!r} is missing; expected {expected}")
    checks = {**optional, **keys}
    n_texts = sum(checks[key](member, key) for key, member in value.items())
    if _n_texts(body) != len(value) + n_texts:  # orjson keeps only the last value of a duplicate key
        raise Refusal(400, f"a key appears twice; expected each key once: {expected}")
    return value


def text_or_texts(value: Any, key: str) -> int:
    """Checks a text or a list of texts."""
    return 1 if isinstance(value, str) else texts(value, key)


def texts(value: Any, key: str) -> int:
    """Checks a list of texts."""
    return len(_items(value, key, str, "a text", "a list of texts"))


def lists_of_texts(value: Any, key: str) -> int:
    """Checks a list of lists of texts."""
    lists = _items(value, key, list, "a list of texts", "a list of lists of texts")
    return sum(texts(list_of_texts, f"{key}[{place}]") for place, list_of_texts in enumerate(lists))


def booleans(value: Any, key: str) -> int:
    """Checks a list of truth values, which has no texts."""
    return 0 * len(_items(value, key, bool, "a truth value", "a list of truth values"))


def integers(value: Any, key: str) -> int:
    """Checks a list of integers, which has no texts."""
    return 0 * len(_items(value, key, int, "an integer", "a list of integers"))


def _items(value: Any, key: str, kind: type, item: str, items: str) -> list[Any]:
    if not isinstance(value, list):
        raise Refusal(400, f"{key}: expected {items}, not {_kind(value)}")
    if not set(map(type, value)) <= {kind}:
        place = next(place for place, member in enumerate(value) if type(member) is not kind)
        raise Refusal(400, f"{key}[{place}]: expected {item}, not {_kind(value[place])}")
    return value


def _n_texts(body: bytes) -> int:
    """The number of keys and texts in a valid document: half the number of quotation marks that are not escaped."""
    n_escaped = sum(escaped[0] == rb"\"" for escaped in _ESCAPED.finditer(body))
    return (body.count(b'"') - n_escaped) // 2


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


END_TOKENS = (
    *("</s>", "<eos>", "<pad>", "<|endoftext|>", "<|end_of_text|>", "<|end|>", "<|eot_id|>", "<|im_end|>"),
    *("<|return|>", "<|END_OF_TURN_TOKEN|>", "<end_of_turn>", "<turn|>", "[EOS]", "[PAD]", "<｜end▁of▁sentence｜>"),
)
"""The special tokens that end an answer."""


def scores_of_queries(
    reward: Reward, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], mode: Mode = "completion"
) -> dict[str, Any]:
    """The reply to OpenRLHF: rewards, scores with the same values, and the parts of scores and shape for logs.

    An answer is finished if a special token ends it, and its reasoning has ended.
    """
    if not len(queries) == len(prompts) == len(labels):
        raise TrialsError(
            f"{len(queries)} queries, {len(prompts)} prompts, {len(labels)} labels; expected equal numbers"
        )
    pairs = enumerate(zip(queries, prompts, strict=True))
    texts = [_said(query, prompt, row) for row, (query, prompt) in pairs]
    replies = [answer_text(text, mode=mode, stop=(*END_TOKENS, *STOP[mode])) for text in texts]
    ended = [any(token in text for token in END_TOKENS) for text in texts]
    finished = [is_ended and reply.state != "unfinished" for is_ended, reply in zip(ended, replies, strict=True)]
    answers = [reply.answer for reply in replies]
    try:
        table = reward.details(list(labels), answers, prompts=prompts, finished=finished)
    except TrialsError as error:
        if error.column != "questions" or error.row is None:
            raise
        raise TrialsError(error.problem, column="labels", row=error.row) from None
    logs = {name: table[name] for name in table.columns if name not in ("score", "reward")}
    return {"rewards": table["reward"], "scores": table["reward"], "extra_logs": logs}


def _said(query: str, prompt: str, row: int) -> str:
    """The text after the prompt, with the tag of reasoning at the end of the prompt."""
    # Some tokenizers add a token before the prompt, so the query may begin before the prompt.
    _, separator, text = query.partition(prompt) if prompt else ("", "found", query)
    if not separator:
        shown = in_one_line(prompt, 40)
        raise TrialsError(f"does not contain its prompt '{shown}'", column="query", row=row)
    return opened_by(prompt) + text


_OPTIONAL: Mapping[str, Check] = {"prompts": texts, "finished": booleans, "n_tokens": integers}
JSON = "application/json"


@dataclass(frozen=True)
class Reply:
    """A reply."""

    content: bytes
    kind: str = JSON
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    n_answers: int = 0  # number of scored answers


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
        return Reply(json_of({"rewards": rewards, "signature": self.shaped.signature}), n_answers=len(rewards))

    def score(self, body: bytes) -> Reply:
        """All columns of the scores of a batch, or the details of shaped rewards; in JSON, missing scores are null."""
        questions, answers, known = self._batch(body)
        if self.shaped.scorer is None or self.shaped.shape:
            table: ScoreTable | RewardTable = self.shaped.details(questions, answers, **known)
        else:
            table = self.shaped.scorer.score(questions, answers)
        scores = {name: table[name].tolist() if name == "question_id" else table[name] for name in table.columns}
        return Reply(json_of({"scores": scores, "signature": self.shaped.signature}), n_answers=len(table))

    def openrlhf(self, body: bytes) -> Reply:
        """The reply to OpenRLHF."""
        if self.shaped.scorer is None:
            raise Refusal(400, "the protocol of OpenRLHF has no references, which this server needs; use /reward")
        batch = decoded(body, dict.fromkeys(("query", "prompts", "labels"), texts))
        queries = checked_answers(batch["query"], self.limits)
        reply = scores_of_queries(self.shaped, queries, batch["prompts"], batch["labels"], self.mode)
        return Reply(json_of(reply), n_answers=len(queries))

    def _batch(self, body: bytes) -> tuple[Any, Any, dict[str, Any]]:
        batch = read_batch(body, self.limits, has_references=self.shaped.scorer is None)
        if "rouge_l" in self.shaped.signature:  # or rouge_lsum
            check_pairs(batch[1], batch[2].get("references", []), self.limits)
        return batch


def read_batch(body: bytes, limits: Limits, *, has_references: bool = False) -> tuple[Any, Any, dict[str, Any]]:
    """The questions, the answers and the other arguments of `Reward` in a body."""
    if has_references:  # questions have no effect
        batch = decoded(
            body, {"answers": texts}, {"references": lists_of_texts, "questions": text_or_texts, **_OPTIONAL}
        )
    else:
        batch = decoded(body, {"questions": text_or_texts, "answers": texts}, _OPTIONAL)
    answers = checked_answers(batch.pop("answers"), limits)
    return batch.pop("questions", None), answers, batch


def json_of(value: Any) -> bytes:
    """JSON in which floats keep every bit, and NaN is null."""
    import orjson

    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
