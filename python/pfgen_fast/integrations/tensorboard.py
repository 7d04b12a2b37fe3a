"""Logs runs for TensorBoard, without TensorFlow: scalars, tables as text, and the report as a file; see `tracking`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..files.cells import markdown_table
from ..files.optional import optional
from ..files.untrusted_text import markdown_text
from ..files.writing import check_folder, write_whole
from ..suite.suite import Suite
from .tracking import Run, Table, tracked

_N_SHOWN = 500
"""The maximum number of code points of a cell."""


def log_run(
    run: Run,
    *,
    into: str | Path = "runs",
    step: int | None = None,
    suite: Suite | str | Path | None = None,
    signature: str | None = None,
    prefix: str = "pfgen",
    report: bool = True,
) -> str:
    """Logs a scored run for TensorBoard, whose scalars are 32-bit floats, and returns the directory.

    `into` is the directory of the event files, which TensorBoard shows as one run; it is created if needed. `step` is
    the training step that the scores belong to; the default is 0. The report is written as `pfgen-report.html` or
    `pfgen-report-<step>.html`. The other arguments are those of `tracked`.
    """
    writers = optional("tensorboard.summary.writer.event_file_writer", extra="tensorboard", needed_for="log_run")
    events = optional("tensorboard.compat.proto.event_pb2", extra="tensorboard", needed_for="log_run")
    found = tracked(run, suite=suite, signature=signature, prefix=prefix, report=report)
    folder = Path(into)
    check_folder(folder)
    texts = {"run": _list({"name": found.name, **found.tags, **found.parameters})}
    texts |= {name: _table(table) for name, table in found.tables.items()}
    if found.page is not None:
        page = folder / f"{prefix}-report{'' if step is None else f'-{step}'}.html"
        write_whole(page, found.page.encode())
        texts["run"] += f"\n* report: {markdown_text(str(page.absolute()))}"
    summary = _summary(found.metrics, {f"{prefix}/{name}": text for name, text in texts.items()})
    writer = writers.EventFileWriter(str(folder))
    try:
        writer.add_event(events.Event(wall_time=time.time(), step=step or 0, summary=summary))
    finally:
        writer.close()
    return str(folder)


def _summary(metrics: Mapping[str, float], texts: Mapping[str, str]) -> Any:
    summaries = optional("tensorboard.compat.proto.summary_pb2", extra="tensorboard", needed_for="log_run")
    tensors = optional("tensorboard.compat.proto.tensor_pb2", extra="tensorboard", needed_for="log_run")
    plugin = optional("tensorboard.plugins.text.metadata", extra="tensorboard", needed_for="log_run")
    values = [summaries.Summary.Value(tag=name, simple_value=value) for name, value in metrics.items()]
    for name, text in texts.items():
        tensor = tensors.TensorProto(dtype="DT_STRING", string_val=[text.encode()])
        metadata = plugin.create_summary_metadata(display_name=None, description=None)
        values.append(summaries.Summary.Value(tag=name, tensor=tensor, metadata=metadata))
    return summaries.Summary(value=values)


def _list(named: Mapping[str, str]) -> str:
    return "\n".join(f"* {markdown_text(name)}: {markdown_text(value)}" for name, value in named.items())


def _table(table: Table) -> str:
    return markdown_table(table.columns, (map(_cell, row) for row in table.rows))


def _cell(value: str | float | None) -> str:
    if isinstance(value, str):
        return value if len(value) <= _N_SHOWN else value[: _N_SHOWN - 1] + "…"
    return "–" if value is None else f"{value:.4f}"
