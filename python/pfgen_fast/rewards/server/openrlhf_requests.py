"""Requests for rewards in the protocol of OpenRLHF: queries with their prompts and labels.

A query is the prompt followed by the output of the model, with all special tokens. The answer is the part that
`pfgen-fast generate` would keep, so its reward equals its score in a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...base.errors import TrialsError
from ...base.untrusted_text import in_one_line
from ...scoring.reply_text import STOP, Mode, answer_text, opened_by
from ..reward import Reward

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
