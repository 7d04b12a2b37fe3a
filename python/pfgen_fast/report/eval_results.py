"""Evaluation results for the Hugging Face Hub: the file `.eval_results/NAME.yaml` of a model.

The file is JSON, which is YAML too. The notes of an entry have the values that the format has no other place for.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base.errors import PfgenError, TrialsError
from ..base.file_writing import check_folder, write_whole
from ..base.untrusted_text import in_one_line, json_text, utf8
from ..runs.run_result import read_scores, result_path
from ..runs.run_scorer import RunScorer
from ..runs.trials import RunFolder
from ..suite.rules import PARTS
from ..suite.suite import Suite

_MAX_NOTES = 4000  # code points


def write_eval_results(runs: Sequence[RunFolder], path: Path, dataset: str, *, suite: Suite | None = None) -> None:
    """Writes an entry for each run of a model; raises TrialsError unless each result.json is that of its answers.

    `dataset` names the benchmark on the Hub: ORG/NAME or ORG/NAME/TASK.
    """
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise PfgenError(f"{path}: expected a file such as .eval_results/pfgen.yaml")
    check_folder(path.parent)
    entries, models = [], set()
    for run in runs:
        entry, model = _entry(run, dataset, suite)
        entries.append(entry)
        models.add(str(model))
    if len(models) != 1:
        raise PfgenError(f"{path}: the runs are of several models; choose the runs of one model")
    write_whole(path, utf8(f"{json_text(entries, indent=2)}\n"))


def _entry(run: RunFolder, dataset: str, suite: Suite | None) -> tuple[dict[str, Any], object]:
    """The entry of a run, and the name of its model."""
    path = result_path(run)
    again = f"'pfgen-fast score {run.folder}'"
    if not path.is_file():
        raise TrialsError(f"{run.folder}: no result.json; {again} writes it")
    recorded, _ = read_scores(path)
    config = recorded.config or {}
    scorer = RunScorer(
        suite,
        float_sum="auto",
        force=True,
        reasoning="strip" if config.get("scored_reasoning") == "strip" else "keep",
        on_scored=lambda run, table: None,  # so that nothing is written
    )
    (outcome,) = scorer.score([run])
    if outcome.error:
        raise TrialsError(outcome.error)
    if outcome.summary != recorded or outcome.suite is None or outcome.interval is None:
        raise TrialsError(
            f"{path}: not the result of the run's answers, config.json and suite in profile leaderboard; "
            f"{again} scores it again"
        )
    organization, name, *task = dataset.split("/", 2) if "/" in dataset else ("", dataset)
    notes = [
        f"95 % interval of the score over questions {outcome.interval.shown()}",
        *(f"{part} {recorded.scores.total(part):.5f}" for part in PARTS),
        str(outcome.signature),
        f"suite {outcome.suite.title}, hash {recorded.metadata_hash}",
        f"{len(outcome.by_question)} questions, {recorded.num_trials} trials of each",
        f"config {json_text(config)}",
    ]
    benchmark = {"id": f"{organization}/{name}" if organization else name, "task_id": "".join(task) or "default"}
    entry = {
        "dataset": {key: in_one_line(text, 200) for key, text in benchmark.items()},
        "value": recorded.score,
        "notes": in_one_line("; ".join(notes), _MAX_NOTES),
    }
    return entry, config.get("model")
