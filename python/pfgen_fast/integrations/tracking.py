"""Logs scored runs to Weights & Biases or MLflow: metrics, config, tables, and the report.

Names are safe for both trackers, texts are limited in length, and numbers that are not finite are omitted.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .. import __version__
from ..base.errors import PfgenError, TrialsError, optional
from ..base.mean_interval import mean_interval
from ..base.table import Column, Table
from ..base.untrusted_text import harmless, in_one_line, json_text, unknown_name
from ..report import ReportRun, write_report
from ..runs.checkout import checkout_of, run_name, suite_of
from ..runs.run_result import Figures, RunResult, read_result
from ..runs.run_scorer import Outcome
from ..suite.questions import excess_shown
from ..suite.rules import METRICS, PARTS, SCORES, column_of
from ..suite.suite import Suite

Run = RunResult | Outcome | str | Path
"""A result, an outcome of `RunScorer.score`, a result.json, or the directory that contains a result.json."""
Tracker = Literal["wandb", "mlflow"]

_N_SHOWN = 10_000  # code points of an answer in a table
_OF_QUESTIONS = ("score", "score_std", *METRICS[1:])
_N_PARAMETERS = 100
_N_METRICS = 1000  # in a request to MLflow
_UNSAFE = re.compile(r"[^\w-]")


def log_run(
    run: Run,
    to: Tracker,
    *,
    into: str | None = None,
    step: int | None = None,
    suite: Suite | str | Path | None = None,
    report: bool = True,
) -> str:
    """Logs a scored run, and returns the id of the run of the tracker.

    Args:
        run: A result, an outcome of `RunScorer`, a result.json, or its directory.
        to: The tracker; its own settings choose the server and the project or experiment.
        into: The name of a run of the tracker, which is continued or created. By default the active run is used, or a
            new run with the name of the model.
        step: The training step that the scores belong to. Charts of W&B then use the metric `pfgen/step`, because the
            steps of W&B cannot decrease; the config is then only in an artifact of MLflow, whose parameters cannot
            change.
        suite: The suite of the run, for the report; by default the suite in the checkout of the run, if it exists.
        report: Whether to log the report too, if the suite is known.

    Raises:
        TrialsError: There is no result, or it belongs to another suite.
        PfgenError: The tracker is unknown or not installed, or the run was not scored.
    """
    if to not in ("wandb", "mlflow"):
        raise PfgenError(unknown_name("tracker", to, ("wandb", "mlflow")))
    package = optional(to, extra=to, needed_for="log_run")
    tracked = _tracked(run, suite, report=report)
    return (_log_to_wandb if to == "wandb" else _log_to_mlflow)(package, tracked, into, step)


# --- trackers


def _log_to_wandb(wandb: Any, tracked: _Tracked, into: str | None, step: int | None) -> str:
    with _wandb_run(wandb, into, tracked.name) as active:
        logged: dict[str, Any] = dict(tracked.metrics)
        for name, table in tracked.tables.items():
            rows = [list(row.values()) for row in table.to_dicts()]
            logged[f"pfgen/{name}"] = wandb.Table(columns=[column.name for column in table.columns], data=rows)
        if step is not None:
            logged["pfgen/step"] = step
            for names in ("pfgen/*", "pfgen_questions/*"):
                active.define_metric(names, step_metric="pfgen/step")
        active.log(logged)
        active.config.update({"pfgen": tracked.config}, allow_val_change=True)
        if tracked.page is not None:
            artifact = wandb.Artifact(f"pfgen-report-{active.id}", type="report", metadata=tracked.config)
            with artifact.new_file("report.html", encoding="utf-8") as file:
                file.write(tracked.page)
            active.log_artifact(artifact, aliases=["latest", *([] if step is None else [f"step-{step}"])])
        run_id: str = active.id
    return run_id


@contextmanager
def _wandb_run(wandb: Any, into: str | None, name: str) -> Iterator[Any]:
    """The W&B run; it ends with the block unless it was active before."""
    if wandb.run is not None and into in (None, wandb.run.name, wandb.run.id):
        yield wandb.run
        return
    named = {"name": in_one_line(into or name, 120)}
    if into:
        named |= {"id": _safe_name(into), "resume": "allow"}
    with wandb.init(**named, reinit="create_new") as opened:
        yield opened


def _log_to_mlflow(mlflow: Any, tracked: _Tracked, into: str | None, step: int | None) -> str:
    folder = "pfgen" if step is None else f"pfgen/step-{step}"
    with _mlflow_run(mlflow, into, tracked.name) as run_id:
        metrics = iter(tracked.metrics.items())
        while some := dict(islice(metrics, _N_METRICS)):
            mlflow.log_metrics(some, step=step)
        mlflow.set_tags({f"pfgen.{name}": tag for name, tag in tracked.tags.items()})
        if step is None:
            mlflow.log_params({f"pfgen.{name}": value for name, value in tracked.parameters.items()})
        mlflow.log_dict(tracked.config, f"{folder}/run.json")
        for name, table in tracked.tables.items():
            rows = table.to_dicts()
            columns = {column.name: [row[column.name] for row in rows] for column in table.columns}
            mlflow.log_table(columns, f"{folder}/{name}.json")
        if tracked.page is not None:
            mlflow.log_text(tracked.page, f"{folder}/report.html")
    return run_id


@contextmanager
def _mlflow_run(mlflow: Any, into: str | None, name: str) -> Iterator[str]:
    active = mlflow.active_run()
    # Filters of MLflow have no escapes, so quotes in names are replaced.
    wanted = in_one_line(into or name, 200).replace("'", "_")
    if active is not None and (into is None or active.info.run_name == wanted):
        yield active.info.run_id
        return
    known = into and mlflow.search_runs(filter_string=f"run_name = '{wanted}'", max_results=1, output_format="list")
    to_continue = {"run_id": known[0].info.run_id} if known else {"run_name": wanted}
    with mlflow.start_run(**to_continue, nested=active is not None) as opened:
        yield opened.info.run_id


# --- what is logged


class _Tracked(NamedTuple):
    """The names and values to log for a run."""

    name: str  # of the model, or of the run
    metrics: Mapping[str, float]  # see docs/integrations/tracking.md
    parameters: Mapping[str, str]  # the config of the run
    tags: Mapping[str, str]  # the origin of the scores
    tables: Mapping[str, Table]  # figures of questions, and sample answers; empty tables are omitted
    page: str | None  # the report; None if the suite is unknown

    @property
    def config(self) -> dict[str, Any]:
        """All but the scores."""
        return {"name": self.name, **self.tags, "config": dict(self.parameters)}


def _tracked(run: Run, suite: Suite | str | Path | None, *, report: bool) -> _Tracked:
    signature = None  # a result.json has none
    if isinstance(run, Outcome):
        signature, suite = run.signature, suite or run.suite
    result, folder = _result_of(run)
    known = _suite_of(folder, suite)
    model = (result.config or {}).get("model")
    name = in_one_line(model or (run_name(folder) if folder else "run"), 200)
    tags = {"suite_hash": result.metadata_hash, "trials_hash": result.input_hash, "version": __version__}
    return _Tracked(
        name=name,
        metrics={name: value for name, value in _metrics(result) if math.isfinite(value)},
        parameters={
            _safe_name(name): in_one_line(value if isinstance(value, str) else json_text(value), 400)
            for name, value in islice((result.config or {}).items(), _N_PARAMETERS)
        },
        tags={name: in_one_line(tag, 400) for name, tag in {**tags, "signature": signature}.items() if tag},
        tables={table.name: table for table in _tables(result, known) if table.rows},
        page=_page(ReportRun(name, None, result), known) if report and known else None,
    )


def _result_of(run: Run) -> tuple[RunResult, Path | None]:
    if isinstance(run, RunResult):
        return run, None
    if isinstance(run, Outcome) and run.error:
        raise PfgenError(run.error)
    path = run.path if isinstance(run, Outcome) else Path(run)
    if path.is_dir():
        path = path / "result.json"
    if not path.exists():
        raise TrialsError(f"{path}: no such file; write it with 'pfgen-fast score {path.parent}'")
    return read_result(path), path.parent


def _suite_of(folder: Path | None, suite: Suite | str | Path | None) -> Suite | None:
    if suite is not None:
        return suite if isinstance(suite, Suite) else Suite.load(suite)
    return suite_of(folder) if folder is not None and checkout_of(folder) else None


def _metrics(result: RunResult) -> Iterator[tuple[str, float]]:
    for metric, value in _figures(result).items():
        yield f"pfgen/{metric}", value
    for metric in SCORES:
        values = [question.scores.total(column_of(metric)) for question in result.questions.values()]
        if values and all(map(math.isfinite, values)):
            interval = mean_interval(values)
            if interval.low is not None and interval.high is not None:
                yield f"pfgen/{metric}_low", interval.low
                yield f"pfgen/{metric}_high", interval.high
    yield "pfgen/n_trials", float(result.num_trials)
    yield "pfgen/n_answers", float(result.num_trials * len(result.questions))
    for question_id, question in result.questions.items():
        yield f"pfgen_questions/{_safe_name(question_id)}", question.score


def _figures(figures: Figures) -> dict[str, float]:
    parts = {part: figures.scores.total(part) for part in PARTS}
    return {"score": figures.score, **parts, "length": figures.length}


def _safe_name(text: str) -> str:
    """A name of at most 100 characters that both trackers accept."""
    return _UNSAFE.sub("_", text)[:100] or "_"


def _tables(result: RunResult, suite: Suite | None) -> tuple[Table, Table]:
    """The figures of each question, and its sample answers."""
    questions, answers = [], []
    for question_id, question in result.questions.items():
        name, text = in_one_line(question_id, 100), in_one_line(question.question, 1000)
        figures = {**_figures(question), "score_std": question.score_std}
        questions.append((name, text, *(figures[column] for column in _OF_QUESTIONS)))
        asked = suite[question_id] if suite and question_id in suite else None
        for sample in question.samples:
            parts = (sample.scores.total(part) for part in PARTS)
            missing = in_one_line(", ".join(excess_shown(detail, asked) or detail for detail in sample.missing), 1000)
            answers.append((name, harmless(sample.answer[:_N_SHOWN]), sample.scores.average, *parts, missing))
    of_questions = list(map(Column, ("question_id", "question", *_OF_QUESTIONS)))
    of_answers = list(map(Column, ("question_id", "answer", "score", *PARTS, "missing")))
    return Table(of_questions, questions, name="questions"), Table(of_answers, answers, name="answers")


def _page(run: ReportRun, suite: Suite) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        write_report([run], suite, path)
        return path.read_text(encoding="utf-8")
