"""Reinforcement learning with verl: a reward function, and the prompts of a suite as a Parquet file.

Each reward worker of verl loads the function by name (`path: pkg://pfgen_fast.integrations.verl`) and calls it with
keyword arguments, which include `reward_kwargs`. It is not a coroutine, so verl calls it in threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..base.errors import TrialsError, optional
from ..base.file_writing import writing_whole
from ..generation.prompts import NUM_EXAMPLES, Prompt
from ..rewards.reward import Reward as ShapedReward
from ..scoring.reply_text import Mode, check_mode
from ..suite.suite import Suite
from .rewarding import answers_in, reward_of, training_tasks

Reward = float | dict[str, float]
"""The reward of a completion: a number; with `parts`, a dictionary of the reward (`score`) and the parts."""


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: dict[str, Any] | None = None,
    *,
    suite: str | None = None,
    mode: Mode = "qa",
    metric: str = "score",
    parts: bool = False,
    shape: str | None = None,
    reward_router_address: str | None = None,
    reward_model_tokenizer: Any = None,
) -> Reward:
    """The reward of one completion (`solution_str`), for `reward.custom_reward_function`.

    `ground_truth` is the id or exact text of the question. `suite` is an argument of `Suite.load`; each worker loads
    the suite once. `mode` is the kind of prompts, which determines where an answer begins and ends. `metric` is
    `"score"` or one of its parts, `"fluency"`, `"truthfulness"` and `"helpfulness"`. Without a suite, `metric` is a
    metric of `ReferenceScorer`, and `extra_info["references"]` has the reference answers. `shape` is `"recommended"` or
    a TOML file; its parts use `extra_info["prompt"]` and `extra_info["finished"]`, and a suite is scored with its
    profile. With `parts`, the result is a dictionary with the reward (`score`), the three parts of the score, and the
    parts of the shape, which verl logs. The other arguments are not used.

    Example:
        >>> compute_score("pfgen", "A: Ice floats.", "Q07", suite="mini")
        0.02259
    """
    settings: dict[str, Any] = {"suite": suite, "mode": mode, "metric": metric, "parts": parts, "shape": shape}
    (reward,) = compute_score_batched([data_source], [solution_str], [ground_truth], [extra_info], **settings)
    return reward


def compute_score_batched(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[str],
    extra_infos: Sequence[dict[str, Any] | None] | None = None,
    *,
    suite: str | None = None,
    mode: Mode = "qa",
    metric: str = "score",
    parts: bool = False,
    shape: str | None = None,
) -> list[Reward]:
    """The rewards of a batch, for managers such as `BatchRewardManager`. The arguments are those of `compute_score`.

    Example:
        >>> compute_score_batched(["pfgen"] * 2, ["A: Ice floats.", ""], ["Q07", "Q07"], suite="mini")
        [0.02259, 0.0]
    """
    check_mode(mode)
    reward = _reward(suite, metric, shape)
    answers, ended = answers_in(solution_strs, mode)
    infos = [info or {} for info in ([None] * len(answers) if extra_infos is None else extra_infos)]
    table = reward.details(
        None if suite is None else list(ground_truths),
        answers,
        prompts=_from(infos, "prompt") if reward.needs_prompts else None,
        references=_from(infos, "references") if suite is None else None,
        finished=[is_ended and bool(info.get("finished", True)) for is_ended, info in zip(ended, infos, strict=True)],
    )
    if not parts:
        return list(table["reward"].tolist())
    columns = {"score": table["reward"].tolist()}
    columns.update((name, table[name].tolist()) for name in table.columns if name not in ("score", "reward"))
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _from(infos: Sequence[dict[str, Any]], key: str) -> list[Any]:
    for row, info in enumerate(infos):
        if info.get(key) is None:
            raise TrialsError(f"the key {key!r} is missing", column="extra_info", row=row)
    return [info[key] for info in infos]


@lru_cache
def _reward(suite: str | None, metric: str, shape: str | None) -> ShapedReward:
    """The reward with these settings. All threads of a process share it."""
    return reward_of(suite, metric, shape, has_references=suite is None)


def write_dataset(
    path: str | Path,
    suite: Suite | str | Path,
    mode: Mode = "qa",
    *,
    trials: int = 10,
    num_examples: int = NUM_EXAMPLES,
    data_source: str = "pfgen",
) -> int:
    """Writes the prompts of some trials to a Parquet file for verl, and returns the number of rows.

    A row has the columns `data_source`, `prompt` (messages), `ability`, `reward_model` (with the id of the question as
    `ground_truth`) and `extra_info` (`index`, `question`, `trial`).

    Each question has `trials` prompts with different examples, at most `num_examples` in each prompt. In mode
    `completion`, the prompt becomes one user message. verl reports these rows under the name `data_source`.
    """
    pyarrow = optional("pyarrow", extra="verl", needed_for="write_dataset")
    parquet = optional("pyarrow.parquet", extra="verl", needed_for="write_dataset")
    rows = [
        {
            "data_source": data_source,
            "prompt": _messages(task.prompt),
            "ability": "writing",
            "reward_model": {"style": "rule", "ground_truth": task.question_id},
            "extra_info": {"index": index, "question": task.question, "trial": task.trial},
        }
        for index, task in enumerate(training_tasks(suite, mode, trials, num_examples))
    ]
    with writing_whole(Path(path)) as file:
        parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return len(rows)


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    if prompt.messages is None:
        return [{"role": "user", "content": prompt.text}]
    return [{"role": message["role"], "content": message["content"]} for message in prompt.messages]
