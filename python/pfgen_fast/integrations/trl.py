"""Reinforcement learning with TRL: a reward function, and the prompts of a suite as a dataset.

The reward is the score of the part of a completion that `pfgen-fast generate` would keep, so a later run has equal
scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import PfgenError, TrialsError
from ..files.optional import optional
from ..generation.prompts import NUM_EXAMPLES, Mode, check_mode
from ..scoring.spec import ScorerSpec
from ..suite.rules import PARTS
from ..suite.suite import Suite
from .rewarding import Completion, answer_in, check_metric, rewards_of, training_tasks

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = ["Completion", "RewardFunction", "answer_in", "make_dataset", "make_reward"]

RewardFunction = Callable[..., list[float | None]]

T = TypeVar("T")


def make_reward(
    suite: Suite | str | Path,
    mode: Mode = "completion",
    *,
    column: str = "question",
    metric: str = "score",
    name: str = "pfgen",
) -> RewardFunction:
    """A reward function for `GRPOTrainer(reward_funcs=...)`.

    A row without a question (`None`) belongs to another task; its reward is `None`. With `metric="score"`, the function
    also logs the means of the three parts (`pfgen/fluency`, ...) and the scored answers (column `pfgen_answer` of the
    table of completions), if TRL passes the functions for logging.

    Args:
        suite: A suite, or an argument of `Suite.load`.
        mode: The kind of prompts, which determines where an answer begins and ends.
        column: The column of the dataset with the id or exact text of the question.
        metric: The reward: `"score"`, or one of its parts, `"fluency"`, `"truthfulness"` and `"helpfulness"`.
        name: The prefix of the name of the function and of the logged names. Use different names if a training run has
            several suites.

    Example:
        >>> reward = make_reward("mini")
        >>> answers = [" Ice floats because it is less dense than water.\\n\\nQ: And", " Because.", "42"]
        >>> rewards = reward(prompts=["...", "...", "..."], completions=answers, question=["Q07", "Q07", None])
        >>> [None if value is None else round(value, 2) for value in rewards]
        [0.35, 0.01, None]
    """
    check_mode(mode)
    check_metric(metric)
    scorer = ScorerSpec(suite).scorer

    def reward(prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        if column not in columns:
            raise PfgenError(f"the dataset has no column {column!r} with the question of each prompt")
        questions = columns[column]
        rows = [row for row, question in enumerate(questions) if question is not None]
        answers = [answer_in(completions[row], mode) for row in rows]
        try:
            table = scorer.score([questions[row] for row in rows], answers)
        except TrialsError as error:
            row = None if error.row is None else rows[error.row]
            raise TrialsError(error.problem, column=error.column, row=row) from None
        if metric == "score" and "log_metric" in columns and rows:
            for part in PARTS:
                columns["log_metric"](f"{name}/{part}", fmean(rewards_of(table, part)))
        if metric == "score" and "log_extra" in columns:
            columns["log_extra"](f"{name}_answer", _placed(answers, rows, len(questions)))
        return _placed(rewards_of(table, metric), rows, len(questions))

    reward.__name__ = f"{name}_{metric}"
    return reward


def _placed(values: Sequence[T], rows: Sequence[int], n_rows: int) -> list[T | None]:
    """A list with these values in these rows, and None in all other rows."""
    placed: list[T | None] = [None] * n_rows
    for row, value in zip(rows, values, strict=True):
        placed[row] = value
    return placed


def make_dataset(
    suite: Suite | str | Path, mode: Mode = "completion", *, trials: int = 10, num_examples: int = NUM_EXAMPLES
) -> Dataset:
    """The prompts of some trials (column `prompt`), each with the id of its question (column `question`).

    Each question has `trials` prompts with different examples, at most `num_examples` in each prompt.
    """
    datasets = optional("datasets", extra="trl", needed_for="make_dataset")
    tasks = training_tasks(suite, mode, trials, num_examples)
    prompts = [task.prompt.text if task.prompt.messages is None else list(task.prompt.messages) for task in tasks]
    return datasets.Dataset.from_dict({"prompt": prompts, "question": [task.question_id for task in tasks]})
