"""A table of the answers of runs with their scores: CSV, TSV, JSON lines or Parquet, which `compare` reads."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..base.errors import SuiteError
from ..base.untrusted_text import json_text
from ..scoring.score_table import ScoreTable
from ..tables.formats import WriteValues, check_value_table, writing_values
from .checkout import run_name
from .run_scorer import ReadRun

_TEXTS = ("run_name", "model", "question_id", "category", "question", "answer")
_SETTINGS = ("timestamp", "suite_hash", "signature", "config")


@contextlib.contextmanager
def writing_answers(path: Path) -> Iterator[Callable[[ReadRun, ScoreTable], None]]:
    """Yields a function that appends the answers of a run, for `RunScorer.on_scored`. Writes atomically.

    A text cell is written as it is, so a spreadsheet may read an untrusted answer as a formula.
    """
    check_value_table(path)
    write: WriteValues | None = None
    scores: list[str] = []
    with contextlib.ExitStack() as stack:

        def append(job: ReadRun, table: ScoreTable) -> None:
            nonlocal write, scores
            names = [name for name in table.columns if name != "question_id"]
            if write is None:
                scores = names
                types: dict[str, type] = dict.fromkeys(_TEXTS, str)
                types |= {"trial": int, "length": int}
                types |= dict.fromkeys(("score" if name == "average" else name for name in names), float)
                types |= dict.fromkeys(_SETTINGS, str)
                write = stack.enter_context(writing_values(path, types))
            if names != scores:
                raise SuiteError(
                    f"{path}: the suite of {job.run.folder} has other reference sets than the suite of the runs before "
                    "it; write a table for each"
                )
            write(_rows(job, table, names))

        yield append


def _rows(job: ReadRun, table: ScoreTable, names: list[str]) -> Iterator[list[Any]]:
    config, trials = job.config or {}, job.trials
    name = run_name(job.run.folder)
    model = config.get("model")
    model = model if isinstance(model, str) and model.strip() else name
    settings = (job.suite.metadata_hash, table.signature, json_text(config))
    columns, lengths = [table[column] for column in names], trials.lines.lengths
    for question in job.suite:
        for trial, row in enumerate(trials.rows_by_question[question.question], start=1):
            timestamp = trials.trial(row).get("timestamp")
            yield [
                *(name, model, question.question_id, question.category or None, question.question, trials.answers[row]),
                *(trial, int(lengths[row]), *(float(column[row]) for column in columns)),
                *(timestamp if isinstance(timestamp, str) else None, *settings),
            ]
