"""Reinforcement learning with TRL: a reward function, and the prompts of a suite as a dataset.

The reward is the score of the part of a completion that `pfgen-fast generate` would keep, so a later run has equal
scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

from ..base.errors import PfgenError, TrialsError, optional
from ..generation.prompts import NUM_EXAMPLES
from ..rewards.reward import Reward, ShapeLike
from ..scoring.reply_text import Mode, check_mode
from ..suite.suite import Suite
from .rewarding import Completion, answer_in, answers_in, reward_of, text_of_prompt, training_tasks

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = ["Completion", "RewardFunction", "answer_in", "make_dataset", "make_reward"]

RewardFunction = Callable[..., list[float | None]]

T = TypeVar("T")


def make_reward(
    suite: Suite | str | Path | Reward | None = None,
    mode: Mode = "completion",
    *,
    column: str = "question",
    metric: str = "score",
    name: str = "pfgen",
    shape: ShapeLike = None,
    references: str | None = None,
    max_completion_length: int | None = None,
) -> RewardFunction:
    """A reward function for `GRPOTrainer(reward_funcs=...)`.

    A row without a question, or without references, (`None`) belongs to another task; its reward is `None`. With
    `metric="score"` or a shape, the function also logs the means of the parts (`pfgen/fluency`, `pfgen/overlong`, ...)
    and the scored answers (column `pfgen_answer` of the table of completions), if TRL passes the functions for logging.

    Args:
        suite: A suite, an argument of `Suite.load`, or a `Reward`, which already has a metric and a shape. None if the
            dataset has reference answers.
        mode: The kind of prompts, which determines where an answer begins and ends.
        column: The column of the dataset with the id or exact text of the question.
        metric: The score: `"score"`, or one of its parts, `"fluency"`, `"truthfulness"` and `"helpfulness"`; with
            `references`, a metric of `ReferenceScorer`.
        name: The prefix of the name of the function and of the logged names. Use different names if a training run has
            several suites.
        shape: The shape of the reward, such as `"recommended"`; see `rewards.reward.shape_of`. A suite is scored
            with the profile of the shape. For another profile, pass a `Reward` with your own `Scorer`.
        references: The column of the dataset with a list of reference answers for each prompt.
        max_completion_length: The limit of `GRPOConfig`; completions with this number of tokens count as unfinished.

    Example:
        >>> reward = make_reward("mini")
        >>> answers = [" Ice floats because it is less dense than water.\\n\\nQ: And", " Because.", "42"]
        >>> rewards = reward(prompts=["...", "...", "..."], completions=answers, question=["Q07", "Q07", None])
        >>> [None if value is None else round(value, 2) for value in rewards]
        [0.35, 0.01, None]
    """
    check_mode(mode)
    shaped = reward_of(suite, metric, shape, has_references=references is not None)
    is_logging = shaped.metric == "score" or bool(shaped.shape)
    asked = column if references is None else references

    def reward(prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        if asked not in columns:
            what = "the question" if references is None else "the reference answers"
            raise PfgenError(f"the dataset has no column {asked!r} with {what} of each prompt")
        if len(columns[asked]) != len(completions):
            raise PfgenError(f"{asked}: expected {len(completions)} values, one for each completion")
        rows = [row for row, value in enumerate(columns[asked]) if value is not None]
        answers, finished = answers_in([completions[row] for row in rows], mode)
        batch: dict[str, Any] = {"finished": finished}
        if "completion_ids" in columns:
            batch["n_tokens"] = [len(columns["completion_ids"][row]) for row in rows]
            if max_completion_length is not None:
                pairs = zip(finished, batch["n_tokens"], strict=True)
                batch["finished"] = [is_finished and n < max_completion_length for is_finished, n in pairs]
        if shaped.needs_prompts:
            batch["prompts"] = [text_of_prompt(prompts[row]) for row in rows]
        values = [columns[asked][row] for row in rows]
        questions, batch["references"] = (values, None) if references is None else (None, values)
        try:
            table = shaped.details(questions, answers, **batch)
        except TrialsError as error:
            row = None if error.row is None else rows[error.row]
            raise TrialsError(error.problem, column=error.column, row=row) from None
        if is_logging and "log_metric" in columns and rows:
            for part in table.columns[: -1 if shaped.shape else -2]:
                columns["log_metric"](f"{name}/{part}", fmean(table[part].tolist()))
        if is_logging and "log_extra" in columns:
            columns["log_extra"](f"{name}_answer", _placed(answers, rows, len(completions)))
        return _placed(table["reward"].tolist(), rows, len(completions))

    reward.__name__ = f"{name}_{shaped.metric}"
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
