"""Logs runs to MLflow: metrics, parameters and tags, and tables and the report as artifacts; see `tracking`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from ..files.optional import optional
from ..files.untrusted_text import in_one_line
from ..suite.suite import Suite
from .tracking import Run, tracked

_N_METRICS = 1000
"""Maximum number of metrics in a request to MLflow."""


def log_run(
    run: Run,
    *,
    into: str | None = None,
    step: int | None = None,
    suite: Suite | str | Path | None = None,
    signature: str | None = None,
    prefix: str = "pfgen",
    report: bool = True,
) -> str:
    """Logs a scored run to the current server and experiment of MLflow, and returns the id of the MLflow run.

    `into` is the name of an MLflow run, which is continued or created. By default the active run is used, or a new run
    with the name of the model. `step` is the training step that the scores belong to. With a `step`, one MLflow run
    gets many results; the config is then only in the artifact run.json, because MLflow parameters cannot change. The
    other arguments are those of `tracked`.
    """
    mlflow = optional("mlflow", extra="mlflow", needed_for="log_run")
    found = tracked(run, suite=suite, signature=signature, prefix=prefix, report=report)
    folder = prefix if step is None else f"{prefix}/step-{step}"
    with _active(mlflow, into, found.name) as run_id:
        metrics = iter(found.metrics.items())
        while some := dict(islice(metrics, _N_METRICS)):
            mlflow.log_metrics(some, step=step)
        mlflow.set_tags({f"{prefix}.{name}": tag for name, tag in found.tags.items()})
        if step is None:
            mlflow.log_params({f"{prefix}.{name}": value for name, value in found.parameters.items()})
        mlflow.log_dict({"name": found.name, **found.tags, "config": found.parameters}, f"{folder}/run.json")
        for name, table in found.tables.items():
            columns = dict(zip(table.columns, map(list, zip(*table.rows, strict=True)), strict=True))
            mlflow.log_table(columns, f"{folder}/{name}.json")
        if found.page is not None:
            mlflow.log_text(found.page, f"{folder}/report.html")
    return run_id


@contextmanager
def _active(mlflow: Any, into: str | None, name: str) -> Iterator[str]:
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
