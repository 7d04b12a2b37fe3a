"""Tables as CSV, TSV or Parquet: a row for each question of each run, or for each answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import TrialsError
from ..files.untrusted_text import json_text
from ..suite.rules import PARTS
from ..tables.value_table import writing_values
from .about import About
from .scored_run import ScoredRun


def write_table(runs: Sequence[ScoredRun], path: Path, about: About) -> None:
    """Writes all runs into one table, which `compare` reads."""
    suite = runs[0].suite
    for other in runs[1:]:
        if other.suite.metadata_hash != suite.metadata_hash:
            raise TrialsError(
                f"{runs[0].run.folder} and {other.run.folder} have different suites, {suite.name} and "
                f"{other.suite.name}; write a table for each"
            )
    sets = list(dict.fromkeys(name for question in suite for name in question.answers))
    by_set = [f"{part}_{name}" for part in PARTS[:2] for name in sets]
    begin: dict[str, type] = {"run_name": str, "model": str, "question_id": str, "category": str}
    scores: dict[str, type] = dict.fromkeys(("score", *PARTS, *by_set), float)
    end = dict.fromkeys(("suite", "suite_hash", "signature", "config", "date"), str)
    if about.by == "answer":
        own: dict[str, type] = {"trial": int, "question": str, "answer": str, "timestamp": str, "length": int}
        rows = _answer_rows
    else:
        own = {"question": str, "num_trials": int, "score_std": float, "length": float, "length_std": float}
        rows = _question_rows
    types = begin | own | scores | end
    with writing_values(path, types) as write:
        for run in runs:
            write([[_or_none(row.get(name)) for name in types] for row in rows(run)])


def _or_none(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _of_run(run: ScoredRun) -> dict[str, Any]:
    settings = run.settings
    return {
        "run_name": run.name,
        "model": run.model,
        **{name: settings[name] for name in ("suite", "suite_hash", "signature")},
        "config": json_text(settings["config"]),
        "date": run.date and run.date.isoformat(),
    }


def _question_rows(run: ScoredRun) -> Iterator[dict[str, Any]]:
    of_run = _of_run(run)
    for question in run.suite:
        found = run.result.questions[question.question_id]
        yield {
            **of_run,
            "question_id": question.question_id,
            "category": question.category or None,
            "question": question.question,
            "num_trials": len(run.trials.rows_by_question[question.question]),
            "score_std": found.score_std,
            "length": found.length,
            "length_std": found.length_std,
            **{name: round(run.total(found, name), 5) for name in ("score", *PARTS)},
            **{f"fluency_{name}": value for name, value in found.scores.fluency.items()},
            **{f"truthfulness_{name}": value for name, value in found.scores.truthfulness.items()},
        }


def _answer_rows(run: ScoredRun) -> Iterator[dict[str, Any]]:
    of_run = _of_run(run)
    columns = {name: run.table[name] for name in run.table.columns if name != "question_id"}
    lengths = run.trials.lines.lengths
    for question in run.suite:
        for trial, row in enumerate(run.trials.rows_by_question[question.question], start=1):
            scores = {name: float(column[row]) for name, column in columns.items()}
            timestamp = run.trials.trial(row).get("timestamp")
            yield {
                **of_run,
                "question_id": question.question_id,
                "category": question.category or None,
                "trial": trial,
                "question": question.question,
                "answer": run.trials.answers[row],
                "timestamp": timestamp if isinstance(timestamp, str) else None,
                "length": int(lengths[row]),
                "score": scores.pop("average"),
                **scores,
            }
