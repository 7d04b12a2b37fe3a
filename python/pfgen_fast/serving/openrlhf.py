"""Requests for rewards in the protocol of OpenRLHF: queries with their prompts and labels.

A query is the prompt followed by the output of the model, with all special tokens. The answer is the part that
`pfgen-fast generate` would keep, so its reward equals its score in a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import TrialsError
from ..files.untrusted_text import in_one_line
from ..generation.prompts import STOP, Mode
from ..generation.reasoning import answer_text
from ..scoring.reasoning_text import opened_by
from ..scoring.scorer import Scorer
from ..suite.rules import PARTS

END_TOKENS = (
    *("</s>", "<eos>", "<pad>", "<|endoftext|>", "<|end_of_text|>", "<|end|>", "<|eot_id|>", "<|im_end|>"),
    *("<|return|>", "<|END_OF_TURN_TOKEN|>", "<end_of_turn>", "<turn|>", "[EOS]", "[PAD]", "<｜end▁of▁sentence｜>"),
)
"""The special tokens that end an answer."""


def scores_of_queries(
    scorer: Scorer, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], mode: Mode = "completion"
) -> dict[str, Any]:
    """The reply to OpenRLHF: rewards, scores with the same values, and the parts of the scores for logs."""
    if not len(queries) == len(prompts) == len(labels):
        raise TrialsError(
            f"{len(queries)} queries, {len(prompts)} prompts, {len(labels)} labels; expected equal numbers"
        )
    pairs = enumerate(zip(queries, prompts, strict=True))
    answers = [answer_in_query(query, prompt, mode, row) for row, (query, prompt) in pairs]
    try:
        table = scorer.score(list(labels), answers)
    except TrialsError as error:
        if error.column != "questions" or error.row is None:
            raise
        raise TrialsError(error.problem, column="labels", row=error.row) from None
    return {
        "rewards": table.average,
        "scores": table.average,
        "extra_logs": {name: table[name] for name in PARTS},
    }


def answer_in_query(query: str, prompt: str, mode: Mode, row: int = 0) -> str:
    """The answer in a query: the text after the prompt, up to the first special token or stop string."""
    # Some tokenizers add a token before the prompt, so the query may begin before the prompt.
    _, found, said = query.partition(prompt) if prompt else ("", "found", query)
    if not found:
        shown = in_one_line(prompt, 40)
        raise TrialsError(f"does not contain its prompt '{shown}'", column="query", row=row)
    return answer_text(opened_by(prompt) + said, mode=mode, stop=(*END_TOKENS, *STOP[mode])).answer
