"""Files `.eval_results/*.yaml` in the repository of a model, in the form that clients of the Hub write.

An entry has the score of a run; the notes have its interval, its parts and its settings, for which the format has no
other place.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import PfgenError
from ..files.untrusted_text import in_one_line, json_text, utf8
from ..files.writing import write_whole
from .about import About
from .scored_run import Figure, ScoredRun
from .yaml_text import yaml_text


def write_eval_results(runs: Sequence[ScoredRun], path: Path, about: About) -> None:
    """Writes an entry for each run of a model."""
    if about.dataset is None:
        raise PfgenError("eval-results: name the dataset of the benchmark on the Hub (--dataset ORG/NAME)")
    write_whole(path, utf8(yaml_text([_entry(run, about) for run in runs])))


def _entry(run: ScoredRun, about: About) -> dict[str, Any]:
    return {
        "dataset": {"id": about.dataset, "task_id": about.task},
        "value": run.result.score,
        **({} if run.date is None else {"date": run.date.isoformat().replace("+00:00", "Z")}),
        **({} if about.source_url is None else {"source": {"url": about.source_url, "name": "pfgen-fast"}}),
        "notes": "; ".join(
            [
                with_interval(run.figures[0]),
                *(with_interval(figure, is_value_shown=True) for figure in run.figures[1:]),
                run.settings["signature"],
                f"suite {in_one_line(run.suite_name)}, hash {run.suite.metadata_hash}",
                f"{run.settings['num_questions']} questions, {run.result.num_trials} trials of each",
                f"config {json_text(run.settings['config'])}",
            ]
        ),
    }


def with_interval(figure: Figure, *, is_value_shown: bool = False) -> str:
    """A figure and its interval in words."""
    value = f" {figure.value:g}" if is_value_shown else ""
    if figure.low is None or figure.high is None:
        return f"{figure.name}{value} without an interval"
    return f"{figure.name}{value}, 95 % interval {figure.low:g} to {figure.high:g}"
