"""Logs of Inspect: the answers of a run as samples, whose trials are epochs or in the ids of samples."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..errors import PfgenError
from ..files.optional import optional
from ..files.untrusted_text import folder_names, json_text, utf8
from ..files.writing import write_whole
from ..runs.trials import Trials
from ..scoring.score_table import ScoreTable, TableScorer
from ..suite.rules import AVERAGE_FIRST
from .about import About
from .scored_run import ScoredRun

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.scorer import Score

QUESTION = "question_id"
"""The key of the question in the metadata of a sample. Standard errors are clustered by question."""


def module(name: str) -> Any:
    """A module of Inspect."""
    return optional(name, extra="inspect", needed_for="the integration of Inspect")


def log_path(run: ScoredRun) -> Path:
    """The path of a log: the path of the run, and a name like those of Inspect, by which readers find it."""
    return Path(*folder_names(run.name), f"{run.needed_date():%Y-%m-%dT%H-%M-%S}_pfgen.json")


def write_log(runs: Sequence[ScoredRun], path: Path, about: About) -> None:
    """Writes the log of a run; the ending of the path selects the format."""
    (run,) = runs
    write_scored(
        path,
        run.trials,
        run.table,
        model=run.model,
        config=run.config,
        created=run.needed_date().isoformat(),
        suite_name=run.suite_name,
        settings={key: value for key, value in run.settings.items() if key != "config"},
        are_epochs=True,
    )


def inspect_score(table: ScoreTable, row: int, answer: str) -> Score:
    """The score of an answer, with what its keyword rules say."""
    details = table.details(row)
    unmet = [f"{name or 'a rule without a name'}: {score:.2f}" for name, score in details["helpfulness_results"]]
    score: Score = module("inspect_ai.scorer").Score(
        value={name: float(table[name][row]) for name in AVERAGE_FIRST},
        answer=answer,
        explanation=f"unmet keyword rules, each with the remaining helpfulness: {', '.join(unmet) or 'none'}",
        metadata={part: details[part] for part in ("fluency", "truthfulness")},
    )
    return score


def write_scored(
    path: Path,
    trials: Trials,
    table: ScoreTable,
    *,
    model: str,
    config: Mapping[str, Any],
    created: str,
    suite_name: str | None = None,
    settings: Mapping[str, Any] | None = None,
    are_epochs: bool = False,
) -> None:
    """Writes an eval log of scored trials, which can be epochs; equal arguments give equal files `*.json`."""
    check_log_path(path)
    samples = list(_samples(trials, table, are_epochs=are_epochs))
    name = suite_name or table.scorer.suite.name
    metadata = {"signature": table.scorer.signature, **(settings or {}), "run": dict(config)}
    log = _eval_log(table.scorer, name, samples, utf8(model).decode(), metadata, created)
    with TemporaryDirectory() as folder:
        written = Path(folder, path.name)
        module("inspect_ai.log").write_eval_log(log, str(written))
        write_whole(path, written.read_bytes())


def check_log_path(path: Path) -> None:
    """Raises PfgenError unless the name of a log selects its format."""
    if path.suffix not in (".eval", ".json"):
        raise PfgenError(f"{path}: expected a file *.eval or *.json")


def _samples(trials: Trials, table: ScoreTable, *, are_epochs: bool) -> Iterator[EvalSample]:
    """The answers of a run; the k-th answer to a question belongs to trial k, which is an epoch or in the id."""
    suite = table.scorer.suite
    log, model = module("inspect_ai.log"), module("inspect_ai.model")
    for text, rows in trials.rows_by_question.items():
        question_id = suite[text].question_id
        for trial, row in enumerate(rows, start=1):
            question, answer = (utf8(of[row]).decode() for of in (trials.questions, trials.answers))
            sample_id = f"{question_id}-{trial}"
            output = model.ModelOutput.from_content("", answer)
            output.choices[0].message.id = f"{sample_id}-output"
            yield log.EvalSample(
                id=question_id if are_epochs else sample_id,
                uuid=sample_id,
                epoch=trial if are_epochs else 1,
                input=question,
                target="",
                messages=[
                    model.ChatMessageUser(id=f"{sample_id}-question", content=question),
                    model.ChatMessageAssistant(id=f"{sample_id}-answer", content=answer),
                ],
                output=output,
                scores={_SCORER: inspect_score(table, row, answer)},
                metadata={QUESTION: question_id, "question": question, "trial": trial},
            )


_SCORER = "pfgen_score"
_METRICS = [
    {"name": "inspect_ai/mean", "options": {}},
    {"name": "inspect_ai/stderr", "options": {"cluster": QUESTION}},
]
"""The metrics in the decorator of `pfgen_score`, in the form of logs."""


def _eval_log(
    scorer: TableScorer, suite_name: str, samples: list[EvalSample], model: str, metadata: dict[str, Any], created: str
) -> EvalLog:
    """The log of scored samples; Inspect computes its results."""
    logs = module("inspect_ai.log")
    log: EvalLog = logs.EvalLog(
        status="success",
        eval=logs.EvalSpec(
            eval_id=_id(model, created, metadata),
            run_id=_id(model, created, metadata),
            created=created,
            task="pfgen",
            task_id=f"pfgen-{scorer.suite.metadata_hash[:7]}",
            model=model,
            dataset=logs.EvalDataset(name=f"pfgen-{suite_name}", samples=len(samples)),
            config=logs.EvalConfig(epochs=max(sample.epoch for sample in samples)),
            metadata=metadata,
            scorers=[
                {"name": _SCORER, "options": {"suite": suite_name}, "metrics": dict.fromkeys(AVERAGE_FIRST, _METRICS)}
            ],
        ),
        stats=logs.EvalStats(started_at=created, completed_at=created),
        samples=samples,
    )
    logs.recompute_metrics(log)
    return log


def _id(*parts: Any) -> str:
    """An identifier like those of Inspect, equal for equal parts."""
    return hashlib.sha256(utf8(json_text(parts))).hexdigest()[:22]
