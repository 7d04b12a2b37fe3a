"""Collects the names and values of a run for experiment trackers; `mlflow`, `tensorboard` and `wandb` send them.

Names are safe for every tracker, texts are limited in length, and numbers that are not finite are omitted.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..errors import PfgenError, TrialsError
from ..files.untrusted_text import harmless, in_one_line, json_text
from ..report import ReportRun, write_report
from ..runs.checkout import checkout_of, run_name, suite_of
from ..runs.result import Figures, RunResult, Scores, read_result
from ..runs.run_scorer import Outcome
from ..statistics.mean_interval import mean_interval
from ..suite.rules import METRICS, PARTS, SCORES, column_of
from ..suite.suite import Suite

Run = RunResult | Outcome | str | Path
"""A result, an outcome of `RunScorer.score`, a result.json, or the directory that contains a result.json."""

N_SHOWN = 10_000
"""The maximum number of code points of an answer in a table."""

_N_PARAMETERS = 100
_UNSAFE = re.compile(r"[^\w-]")


class Table(NamedTuple):
    """A table: the names of its columns, and its rows."""

    columns: tuple[str, ...]
    rows: list[tuple[str | float | None, ...]]


@dataclass(frozen=True)
class Tracked:
    """The names and values to log for a run.

    Attributes:
        name: The name of the run, such as `openai/gpt-4o/5e1e9f4`.
        metrics: `pfgen/score`, its parts and the length; `..._low` and `..._high`, the ends of the 95 % interval over
            questions (docs/statistics.md); `pfgen/n_trials`, `pfgen/n_answers`; the scores `pfgen_questions/<id>`.
        parameters: The config of the run.
        tags: The origin of the scores: `suite_hash`, `trials_hash`, `version` (of this package), and `signature` if it
            is known.
        tables: The table `questions`, with figures for each question, and the table `answers`, with the sample answers
            of the result. Empty tables are omitted.
        page: The report of the run, as HTML; None if its suite is unknown, or with `report=False`.
    """

    name: str
    metrics: Mapping[str, float]
    parameters: Mapping[str, str]
    tags: Mapping[str, str]
    tables: Mapping[str, Table]
    page: str | None


def tracked(
    run: Run,
    *,
    suite: Suite | str | Path | None = None,
    signature: str | None = None,
    prefix: str = "pfgen",
    report: bool = True,
) -> Tracked:
    """Collects the values to log of a run.

    Args:
        run: A result, an outcome of `RunScorer`, a result.json, or its directory.
        suite: The suite of the run, for the report; by default the suite in the checkout of the run, if it exists.
        signature: The signature of the scores (`Scorer.signature`), because a result.json has none. By default the
            signature of the outcome, if the run was scored now.
        prefix: The prefix of all names: letters, digits, `_` and `-`.
        report: Whether to make the report, which needs Jinja.

    Raises:
        TrialsError: There is no result, or it belongs to another suite.
        PfgenError: The prefix is invalid, the run was not scored, or Jinja is missing.
    """
    if not prefix or _UNSAFE.search(prefix):
        raise PfgenError(f"prefix {in_one_line(prefix)!r}: expected letters, digits, '_' and '-'")
    if isinstance(run, Outcome):
        signature, suite = signature or run.signature, suite or run.suite
    result, folder = _result_of(run)
    known = _suite_of(folder, suite)
    model = (result.config or {}).get("model")
    name = in_one_line(model or (run_name(folder) if folder else "run"), 200)
    tables = {"questions": _questions(result), "answers": _answers(result)}
    return Tracked(
        name=name,
        metrics={name: value for name, value in _metrics(result, prefix) if math.isfinite(value)},
        parameters=_parameters(result.config or {}),
        tags=_tags(result, signature),
        tables={name: table for name, table in tables.items() if table.rows},
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


def _suite_of(folder: Path | None, given: Suite | str | Path | None) -> Suite | None:
    if given is not None:
        return given if isinstance(given, Suite) else Suite.load(given)
    return suite_of(folder) if folder is not None and checkout_of(folder) else None


def _metrics(result: RunResult, prefix: str) -> Iterator[tuple[str, float]]:
    for metric, value in _figures(result).items():
        yield f"{prefix}/{metric}", value
    for metric in SCORES:
        values = [question.scores.total(column_of(metric)) for question in result.questions.values()]
        if values and all(map(math.isfinite, values)):
            interval = mean_interval(values)
            if interval.low is not None and interval.high is not None:
                yield f"{prefix}/{metric}_low", interval.low
                yield f"{prefix}/{metric}_high", interval.high
    yield f"{prefix}/n_trials", float(result.num_trials)
    yield f"{prefix}/n_answers", float(result.num_trials * len(result.questions))
    for question_id, question in result.questions.items():
        yield f"{prefix}_questions/{safe_name(question_id)}", question.score


def _figures(figures: Figures) -> dict[str, float]:
    return {"score": figures.score, **_parts(figures.scores), "length": figures.length}


def _parts(scores: Scores) -> dict[str, float]:
    return {part: scores.total(part) for part in PARTS}


def safe_name(text: str) -> str:
    """A name of at most 100 characters that every tracker accepts; all other characters become `_`.

    Example:
        >>> safe_name("Q07"), safe_name("a/b c")
        ('Q07', 'a_b_c')
    """
    return _UNSAFE.sub("_", text)[:100] or "_"


def _parameters(config: Mapping[str, Any]) -> dict[str, str]:
    return {
        safe_name(name): in_one_line(value if isinstance(value, str) else json_text(value), 400)
        for name, value in list(config.items())[:_N_PARAMETERS]
    }


def _tags(result: RunResult, signature: str | None) -> dict[str, str]:
    tags = {"suite_hash": result.metadata_hash, "trials_hash": result.input_hash, "version": __version__}
    if signature:
        tags["signature"] = signature
    return {name: in_one_line(value, 400) for name, value in tags.items()}


def _questions(result: RunResult) -> Table:
    columns = ("question_id", "question", "score", "score_std", *METRICS[1:])
    rows: list[tuple[str | float | None, ...]] = []
    for question_id, question in result.questions.items():
        figures = {**_figures(question), "score_std": question.score_std}
        texts = in_one_line(question_id, 100), in_one_line(question.question, 1000)
        rows.append((*texts, *(_number(figures[column]) for column in columns[2:])))
    return Table(columns, rows)


def _answers(result: RunResult) -> Table:
    columns = ("question_id", "answer", "score", *PARTS, "missing")
    rows: list[tuple[str | float | None, ...]] = []
    for question_id, question in result.questions.items():
        for sample in question.samples:
            numbers = [sample.scores.average, *_parts(sample.scores).values()]
            shown = in_one_line(question_id, 100), harmless(sample.answer[:N_SHOWN])
            missing = in_one_line(", ".join(sample.missing), 1000)
            rows.append((*shown, *map(_number, numbers), missing))
    return Table(columns, rows)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _page(run: ReportRun, suite: Suite) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        write_report([run], suite, path)
        return path.read_text(encoding="utf-8")
