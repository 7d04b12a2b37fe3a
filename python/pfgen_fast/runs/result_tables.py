"""Tables of runs: the results of many runs as JSON lines, and the answers of runs with their scores.

Each line of results is a result.json with the name of its run as `run`; the members that rankings do not need may be
missing. A table of answers is CSV, TSV, JSON lines or Parquet, and `compare` reads it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import PfgenError, SuiteError, TrialsError
from ..base.file_reading import numbered_lines, reading
from ..base.untrusted_json import checked, member, parse_json, text
from ..base.untrusted_text import json_text
from ..tables.formats import WriteValues, check_value_table, column_names, writing_values
from .checkout import run_name
from .items.item_table import ItemScores
from .items.ranking import ModelRanking, rank_models
from .items.score_tables import is_score_table, item_scores_of_table, read_item_scores
from .leaderboard import Entry, Leaderboard, entry_of, find_results, is_system, rank
from .run_result import parse_scores

if TYPE_CHECKING:
    from ..scoring.score_table import ScoreTable
    from .run_scorer import ReadRun

PUBLISHED = "published"
"""The name of the table of the published results, which comes with the package."""

_TABLE = Path(__file__).parents[1] / "data" / "published" / "pfgen-bench.jsonl.xz"
QUICK_FILE = Path(__file__).parents[1] / "data" / "quick" / "pfgen-bench.json"

_TEXTS = ("run_name", "model", "question_id", "category", "question", "answer")
_SETTINGS = ("timestamp", "suite_hash", "signature", "config")


def published(*, models: bool = True, yardsticks: bool = False) -> list[Entry]:
    """The published results, by name: those of pfgen-bench's repository on 9 July 2025, of models or of yardsticks."""
    return [entry for entry in _read_once(_TABLE) if (yardsticks if is_system(entry.model) else models)]


@cache
def _read_once(path: Path) -> list[Entry]:
    return read_table(path)


def published_set_scores() -> dict[str, Any]:
    """By run, the published scores with each reference set alone, and the number of questions that have these sets."""
    return {value["run"]: value["set_scores"] for _, value in _values(_TABLE)}


@dataclass(frozen=True)
class QuickQuestions:
    """Some questions of a published suite that keep the order of models, and what they cost in precision.

    The figures are of models that did not choose the questions: docs/experiments.md.
    """

    metadata_hash: str  # hash of the whole suite
    questions: tuple[str, ...]  # IDs
    kendall: float  # Kendall's correlation of the order of runs by these questions with that by all
    score_difference: float  # mean absolute difference of a score from that of all questions
    half_width: float  # median half width of the 95 % interval of a score over these questions
    half_width_of_all: float  # the same over all questions
    rank_difference: int  # median change of a rank among all runs
    n_runs: int  # number of published runs

    def cost(self) -> str:
        """What a comparison on these questions is worth, in a sentence."""
        return (
            f"{len(self.questions)} questions cost precision: their order of the published runs agrees with that of "
            f"all questions by Kendall {self.kendall:.2f}, a score differs by {self.score_difference:.3f} on average "
            f"and a rank by {self.rank_difference} of {self.n_runs} in the median, and the usual interval of a score "
            f"is ±{self.half_width:.3f} instead of ±{self.half_width_of_all:.3f}"
        )


@cache
def quick_questions() -> QuickQuestions:
    """The questions of pfgen-bench for `evaluate --quick`, which tools/quick_questions.py chose."""
    content = json.loads(QUICK_FILE.read_text(encoding="utf-8"))
    return QuickQuestions(**{**content, "questions": tuple(content["questions"])})


def leaderboard(*runs: Any, with_published: bool = False, metric: str | None = None) -> Leaderboard | ModelRanking:
    """Ranks scored runs by score, or the models of a table of scores by a metric.

    Args:
        runs: Directories of runs, or directories with many runs. Or else tables of scores by item and model: files, or
            one table in memory (`ItemScores`, a data frame, Arrow data, a list of dicts).
        with_published: Whether the published results are ranked with runs.
        metric: The metric that ranks the models of a table; by default the first one.

    Returns:
        A `Leaderboard` of runs, or a `ModelRanking` of a table.

    Raises:
        TrialsError: A directory has no result, or a result or a table cannot be read or ranked.

    Example:
        >>> leaderboard(with_published=True)[0].model
        'claude-opus-4-20250514'
        >>> leaderboard({"item": [1, 2, 1, 2], "model": ["a", "a", "b", "b"], "score": [0, 1, 1, 1]}).models[0].model
        'b'
    """
    scores = score_table_of(runs)
    if scores is None:
        if metric is not None:
            raise TrialsError("metric: runs are ranked by their score; expected a metric for tables of scores only")
        return rank(find_results(runs), others=published() if with_published else ())
    if with_published:
        raise TrialsError("with_published: the published results are runs, and cannot be ranked with a table of scores")
    return rank_models(scores, metric)


def score_table_of(sources: Sequence[Any]) -> ItemScores | None:
    """The scores of sources that are tables of scores; None if they are runs. A mixture raises TrialsError."""
    if len(sources) == 1 and not isinstance(sources[0], str | Path):
        [table] = sources
        return table if isinstance(table, ItemScores) else item_scores_of_table(table)
    if not all(isinstance(source, str | Path) for source in sources):
        raise TrialsError("expected directories of runs, files with tables of scores, or one table in memory")
    return read_item_scores(sources) if are_score_tables(sources) else None


def are_score_tables(paths: Sequence[str | Path]) -> bool:
    """Whether paths are tables of scores instead of runs; a mixture of both raises TrialsError."""
    tables = [path for path in paths if is_score_table(path)]
    if tables and len(tables) < len(paths):
        run = next(path for path in paths if path not in tables)
        raise TrialsError(
            f"{run}: not a table of scores, while {tables[0]} is one; expected only runs, or only tables of scores"
        )
    return bool(tables)


def read_entries(source: str | Path) -> list[Entry]:
    """The results of a source: the word `published`, a table of results, or a directory with runs."""
    if source == PUBLISHED:
        return published()
    path = Path(source)
    return read_table(path) if path.is_file() and path.name != "result.json" else rank(find_results([path]))


def is_result_table(path: Any) -> bool:
    """Whether a path is a file with a table of results."""
    if not isinstance(path, str | Path) or not Path(path).is_file() or ".json" not in Path(path).name:
        return False
    try:
        return "metadata_hash" in column_names(str(path))
    except PfgenError:
        return True  # the reader names the error


def read_table(path: Path) -> list[Entry]:
    """The results of a table."""
    rows = [_entry(value, where) for where, value in _values(path)]
    if not rows:
        raise TrialsError(f"{path}: expected lines of JSON, each a result.json with the run's name as 'run'")
    return rows


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    """The places and the decoded values of the lines of a table."""
    with reading(path) as file:
        for number, line in numbered_lines(file, str(path)):
            if line.strip():
                yield (where := f"{path}, line {number}"), parse_json(line, where)


def _entry(value: Any, where: str) -> Entry:
    name = checked(value, lambda row: member(row, "run", text), f"{where}: not a result")
    return entry_of(*parse_scores(value, where), name, where)


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
