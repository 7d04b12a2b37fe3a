"""Reinforcement learning with TRL: the score of an answer as its reward, and the prompts as a dataset.

The reward is for what `pfgen-fast generate` would keep of the answer, so it is the score of a later run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import PfgenError
from ..files.optional import optional
from ..generation.engines import first_part
from ..generation.prompts import NUM_EXAMPLES, STOP, Mode, check_mode, cleaned, make_tasks
from ..scoring.scorer import Scorer
from ..suite.suite import Suite

if TYPE_CHECKING:
    from datasets import Dataset

Completion = str | list[dict[str, Any]]
"""What a model said: a text, or the messages of a conversation, where the last message counts."""

RewardFunction = Callable[..., list[float]]


def make_reward(suite: Suite | str | Path, mode: Mode = "completion", *, column: str = "question") -> RewardFunction:
    """A reward function for `GRPOTrainer(reward_funcs=...)`.

    Args:
        suite: The suite, or what `Suite.load` takes.
        mode: The kind of prompts, which determines where an answer begins and ends.
        column: The column of the dataset that names the question, by its id or its exact text.

    Raises:
        SuiteError: The suite cannot be read.
        EngineError: The mode is unknown.

    Example:
        >>> reward = make_reward("mini")
        >>> answers = [" Ice floats because it is less dense than water.\\n\\nQ: And", " Because."]
        >>> rewards = reward(prompts=["...", "..."], completions=answers, question=["Q07", "Q07"])
        >>> [round(value, 2) for value in rewards]
        [0.35, 0.01]
    """
    check_mode(mode)
    scorer = Scorer(suite)

    def pfgen_score(prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any) -> list[float]:
        if column not in columns:
            raise PfgenError(f"the dataset has no column {column!r}, which names the question of each prompt")
        answers = [answer_in(completion, mode) for completion in completions]
        rewards: list[float] = scorer.reward(columns[column], answers).tolist()
        return rewards

    return pfgen_score


def answer_in(completion: Completion, mode: Mode) -> str:
    """The part of a completion that is the answer: up to the first stop string, without any lead-in.

    Example:
        >>> answer_in([{"role": "assistant", "content": "A: It floats. Q: And"}], "chat")
        'It floats.'
    """
    said = completion if isinstance(completion, str) else (completion[-1].get("content") or "" if completion else "")
    return cleaned(first_part(said, STOP[mode]), mode)


def make_dataset(
    suite: Suite | str | Path, mode: Mode = "completion", *, trials: int = 10, num_examples: int = NUM_EXAMPLES
) -> Dataset:
    """The prompts of some trials (column `prompt`), each with the id of its question (column `question`).

    Args:
        suite: The suite, or what `Suite.load` takes.
        mode: The kind of prompts.
        trials: How many prompts there are for each question, with different examples.
        num_examples: How many sample answers a prompt shows at most.

    Raises:
        PfgenError: The package datasets is not installed, or there are no such prompts.
    """
    datasets = optional("datasets", extra="trl", needed_for="make_dataset")
    loaded = suite if isinstance(suite, Suite) else Suite.load(suite)
    tasks = [
        task
        for trial in range(1, trials + 1)
        for task in make_tasks(loaded, trial, mode=mode, num_examples=num_examples)
    ]
    prompts = [task.prompt.text if task.prompt.messages is None else list(task.prompt.messages) for task in tasks]
    return datasets.Dataset.from_dict({"prompt": prompts, "question": [task.question_id for task in tasks]})
