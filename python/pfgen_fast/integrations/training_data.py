"""The prompts of a suite as data for trainers: a dataset for TRL, a Parquet file for verl and SkyRL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import optional
from ..base.file_writing import writing_whole
from ..generation.prompts import NUM_EXAMPLES, training_tasks
from ..scoring.reply_text import Mode
from ..suite.suite import Suite

if TYPE_CHECKING:
    from datasets import Dataset


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


def write_dataset(
    path: str | Path,
    suite: Suite | str | Path,
    mode: Mode = "qa",
    *,
    trials: int = 10,
    num_examples: int = NUM_EXAMPLES,
    data_source: str = "pfgen",
) -> int:
    """Writes the prompts of some trials to a Parquet file for verl and SkyRL, and returns the number of rows.

    A row has the columns `data_source`, `prompt` (messages), `ability`, `reward_model` (with the id of the question as
    `ground_truth`) and `extra_info` (`index`, `question`, `trial`), and for SkyRL `env_class` and `reward_spec`.

    Each question has `trials` prompts with different examples, at most `num_examples` in each prompt. In mode
    `completion`, the prompt becomes one user message. verl reports these rows under the name `data_source`, and SkyRL
    has an environment of this name.
    """
    pyarrow = optional("pyarrow", extra="verl", needed_for="write_dataset")
    parquet = optional("pyarrow.parquet", extra="verl", needed_for="write_dataset")
    rows = [
        {
            "data_source": data_source,
            "env_class": data_source,
            "prompt": list(task.prompt.messages or [{"role": "user", "content": task.prompt.text}]),
            "ability": "writing",
            "reward_model": {"style": "rule", "ground_truth": task.question_id},
            "reward_spec": {"ground_truth": task.question_id},
            "extra_info": {"index": index, "question": task.question, "trial": task.trial},
        }
        for index, task in enumerate(training_tasks(suite, mode, trials, num_examples))
    ]
    with writing_whole(Path(path)) as file:
        parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return len(rows)
