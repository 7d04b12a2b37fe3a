"""Logs runs to Weights & Biases: metrics, tables, config, and the report as an artifact; see `tracking`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..files.optional import optional
from ..files.untrusted_text import in_one_line
from ..suite.suite import Suite
from .tracking import Run, safe_name, tracked


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
    """Logs a scored run to W&B, and returns the id of the W&B run.

    `into` is the name of a W&B run, which is continued or created. By default the active run is used, or a new run with
    the name of the model. Parts of a run that are logged offline are joined when they are synced. `step` is the
    training step that the scores belong to. With a `step`, charts use the metric `pfgen/step`, because the steps of W&B
    cannot decrease. The other arguments are those of `tracked`.
    """
    wandb = optional("wandb", extra="wandb", needed_for="log_run")
    found = tracked(run, suite=suite, signature=signature, prefix=prefix, report=report)
    with _active(wandb, into, found.name) as active:
        logged: dict[str, Any] = dict(found.metrics)
        for name, table in found.tables.items():
            logged[f"{prefix}/{name}"] = wandb.Table(columns=list(table.columns), data=list(map(list, table.rows)))
        if step is not None:
            logged[f"{prefix}/step"] = step
            for names in (f"{prefix}/*", f"{prefix}_questions/*"):
                active.define_metric(names, step_metric=f"{prefix}/step")
        active.log(logged)
        config = {"name": found.name, **found.tags, "config": dict(found.parameters)}
        active.config.update({prefix: config}, allow_val_change=True)
        if found.page is not None:
            artifact = wandb.Artifact(f"{prefix}-report-{active.id}", type="report", metadata=config)
            with artifact.new_file("report.html", encoding="utf-8") as file:
                file.write(found.page)
            active.log_artifact(artifact, aliases=["latest", *([] if step is None else [f"step-{step}"])])
        run_id: str = active.id
    return run_id


@contextmanager
def _active(wandb: Any, into: str | None, name: str) -> Iterator[Any]:
    """The W&B run; it ends with the block unless it was active before."""
    if wandb.run is not None and into in (None, wandb.run.name, wandb.run.id):
        yield wandb.run
        return
    named = {"name": in_one_line(into or name, 120)}
    if into:
        named |= {"id": safe_name(into), "resume": "allow"}
    with wandb.init(**named, reinit="create_new") as opened:
        yield opened
