"""Documents, prompts and scores for the tasks in this directory. The harness loads this file by its path.

A document is one question of one trial, so each trial has different examples, as in `pfgen-fast generate`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pfgen_fast import Scorer
from pfgen_fast.base.errors import optional
from pfgen_fast.generation.prompts import NUM_EXAMPLES, Prompt, training_tasks
from pfgen_fast.scoring.reply_text import Mode, answer_text
from pfgen_fast.suite.rules import SCORES, column_of

if TYPE_CHECKING:
    from datasets import DatasetDict


def documents(
    suite: str = "mini",
    mode: Mode = "completion",
    trials: int = 10,
    examples: int = NUM_EXAMPLES,
    seed: str = "",
    **others: object,
) -> DatasetDict:
    """The documents of a task, trial by trial.

    The arguments come from `--metadata` of lm-evaluation-harness; `others` are not used. `suite` is the directory of a
    suite, or `mini`. The mode is `completion`, or `qa` or `chat` with `--apply_chat_template`; documents of mode `chat`
    have a system message. Each question is asked `trials` times; `examples` is the maximum number of examples in a
    prompt, and a different `seed` selects different examples.
    """
    datasets = optional("datasets", extra="lm-eval", needed_for="lm-evaluation-harness")
    rows = [
        {
            "suite": suite,
            "mode": mode,
            "trial": task.trial,
            "question_id": task.question_id,
            "question": task.question,
            **_texts(task.prompt),
        }
        for task in training_tasks(suite, mode, trials, examples, seed)
    ]
    return datasets.DatasetDict({"test": datasets.Dataset.from_list(rows)})


def _texts(prompt: Prompt) -> dict[str, str]:
    """The prompt of a document and, in mode `chat`, its system message."""
    if prompt.messages is None:
        return {"prompt": prompt.text}
    *system, user = prompt.messages
    return {"prompt": user["content"], **{message["role"]: message["content"] for message in system}}


def scores(document: dict[str, Any], results: list[str]) -> dict[str, float]:
    """The scores of the answer to a document."""
    answer = answer_text(results[0], mode=document["mode"]).answer
    table = scorer_of(document["suite"]).score(document["question_id"], [answer])
    return {name: float(table[column_of(name)][0]) for name in SCORES}


@lru_cache(maxsize=4)
def scorer_of(suite: str) -> Scorer:
    """The scorer of a suite, created once."""
    return Scorer(suite)
