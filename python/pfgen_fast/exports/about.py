"""What an export says beside the runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["question", "answer"]
FormatName = Literal["model-index", "eval-results", "lm-eval", "inspect", "every-eval-ever", "csv", "parquet"]


@dataclass(frozen=True, kw_only=True)
class About:
    """What an export says beside the runs.

    Attributes:
        by: The rows of a table.
        dataset: The benchmark's dataset on the Hub.
        task: The benchmark's task, in `.eval_results`.
        source_url: The address of the evaluation's source.
        organization: The organization that made the evaluation.
        relationship: Of this organization to the model: `first_party`, `third_party`, `collaborative` or `other`.
    """

    by: Level = "question"
    dataset: str | None = None
    task: str = "default"
    source_url: str | None = None
    organization: str | None = None
    relationship: str = "other"
