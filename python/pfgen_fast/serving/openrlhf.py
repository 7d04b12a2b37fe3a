"""OpenRLHF's requests for rewards: whole texts with their prompts and labels, and the answers in them.

A query is the text of a prompt and of the model's reply, with all special tokens. The answer is the part that
`pfgen-fast generate` would keep, so its reward is its score in a run.
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
"""The special tokens at which an answer ends."""


def scores_of_queries(
    scorer: Scorer, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], mode: Mode = "completion"
) -> dict[str, Any]:
    """The reply to OpenRLHF: rewards, equal scores, and the parts of the scores to log."""
    if not len(queries) == len(prompts) == len(labels):
        raise TrialsError(
            f"{len(queries)} queries, {len(prompts)} prompts, {len(labels)} labels; expected as many each"
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
    """The answer in a query: what follows the prompt, up to the first special token or stop string."""
    # Some tokenizers put a token before the prompt, so it may begin later than the query.
    _, found, said = query.partition(prompt) if prompt else ("", "found", query)
    if not found:
        shown = in_one_line(prompt, 40)
        raise TrialsError(f"does not hold its prompt '{shown}'", column="query", row=row)
    return answer_text(opened_by(prompt) + said, mode=mode, stop=(*END_TOKENS, *STOP[mode])).answer
