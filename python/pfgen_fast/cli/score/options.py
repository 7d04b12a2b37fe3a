"""The options of `pfgen-fast score` that are for runs or for tables, and the inputs that are tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...base.errors import PfgenError
from ...scoring.reply_text import ReasoningChoice
from .. import options
from ..app import Json, Quiet, Verbose
from ..gate_options import ThresholdOptions
from ..parser import Argument, Option, option_group

if TYPE_CHECKING:
    from ...suite.rules import FloatSum

STDIN = "-"


@option_group
class RunScoring(ThresholdOptions):
    """The options of `score` for runs."""

    help_group = "Runs"
    for_input = "runs"
    questions: options.Questions = None
    limit: options.Limit = None
    unknown_questions: options.UnknownQuestions = "error"
    by_subject: bool = Option(False, "Print the score of each category of questions too, with its 95 % interval.")
    verify: bool = Option(False, "Check results and the cached index with the slow oracle; write nothing.")
    sample: int | None = Option(None, "With --verify: check this many answers of each run. Default: all.", min=1)


@option_group
class TableScoring:
    """The options of `score` for tables."""

    help_group = "Tables"
    for_input = "tables"
    question_column: str | None = Option(None, "Name the question column.")
    answer_column: str | None = Option(None, "Name the answer column.")
    columns: str | None = Option(
        None, "Add only these scores, such as average,helpfulness. Default: all.", metavar="NAME,..."
    )
    where: str | None = Option(
        None,
        "Write only rows that pass, as in 'average >= 0.6 and helpfulness > 0.5'.",
        "--filter",
        metavar="CONDITION",
    )
    nulls: bool = Option(False, "Give missing answers null scores.")
    input_format: Literal["csv", "tsv", "jsonl", "json", "parquet"] | None = Option(
        None, "Read this format from stdin. Default: JSON lines."
    )
    encoding: options.Encoding = None
    metrics: list[str] | None = Option(
        None,
        "Compare answers with the references in their rows, by bleu, nmt_bleu, bleu_rouge_f1, chrf, chrf++, rouge_1, "
        "rouge_2, rouge_l, rouge_lsum, token_f1, exact_match, rep_4, distinct_4 or fluency, or with 100 references or "
        "more truthfulness, without a suite. May be repeated.",
        "--metric",
    )
    reference_columns: list[str] | None = Option(
        None,
        "With --metric: name the column with the references of each row, as lists (in CSV, JSON lists) or texts. "
        "May be repeated.",
        "--reference-column",
    )
    tokenize: str | None = Option(
        None,
        "With --metric: split texts by the rules of 13a, intl, zh, char or none. Default: the usual rules of each "
        "metric.",
    )
    lowercase: bool = Option(False, "With --metric: convert texts to lower case first.")
    reduce: options.Reduce = "best"
    unit: Literal["characters", "words"] = Option("characters", "With --metric fluency: count characters or words.")
    lengths: Literal["usual", "references"] = Option(
        "usual",
        "With --metric fluency: answers may have 100 units, or twice the median length of the references in the row.",
    )


@option_group
class ScoreOptions:
    """The options of `score`."""

    paths: list[str] = Argument(
        ...,
        "Runs: directories, trials files, directories with many runs, globs (including '**'). Tables: files, "
        "directories, globs, or '-'.",
        metavar="PATH...",
    )
    suite: options.SuiteOption = None
    output: str | None = Option(
        None,
        "Write results below this directory instead of the runs, or a table of all answers to this file, such as "
        "answers.csv. Tables: also write the scores of all rows to this file; '-' prints only them; several tables: "
        "write them to this directory.",
        "-o",
        metavar="PATH",
    )
    reasoning: ReasoningChoice = Option("keep", "Score answers unchanged, or without reasoning (docs/generation.md).")
    profile: options.ProfileOption = "leaderboard"
    float_sum: options.ResultSumOption = "auto"
    force: bool = Option(False, "Also score runs that are up to date, and tables scored with other settings.", "-f")
    threads: options.Threads = None
    quiet: Quiet = False
    verbose: Verbose = False
    as_json: Json = False
    runs: RunScoring
    tables: TableScoring

    @property
    def is_silent(self) -> bool:
        """Whether the command prints errors and JSON only."""
        return self.quiet or self.as_json

    @property
    def usual_sum(self) -> FloatSum:
        """The float sum of runs without a recorded result."""
        return "naive" if self.float_sum == "naive" else "compensated"


def are_tables(paths: Sequence[str], tables: TableScoring, suite: str | None) -> bool:
    """Whether the inputs are tables instead of runs: by their options or their names."""
    names_tables = tables.question_column, tables.answer_column, tables.columns, tables.where
    others = tables.encoding, tables.input_format, tables.metrics
    return any(value is not None for value in (*names_tables, *others)) or all(_is_table(path, suite) for path in paths)


def kind_of_table(path: str) -> str | None:
    """The format of tables that a file extension stands for; None if there is no extension or it is unknown."""
    if not Path(path).suffix:
        return None
    from ...tables.formats import kind_of

    return kind_of(path)


def _is_table(path: str, suite: str | None) -> bool:
    """Whether an input must be a table: a file that cannot be trials."""
    kind = kind_of_table(path) if os.path.isfile(path) else None
    return kind is not None and not (kind == ".jsonl" and _may_be_trials(path, suite))


def _may_be_trials(path: str, suite: str | None) -> bool:
    """Whether JSON lines may be trials of one model: they have a suite and the keys, or cannot be read."""
    from ...runs.checkout import checkout_of
    from ...tables.formats import column_names

    if suite is None and checkout_of(Path(path).parent) is None:
        return False
    try:
        names = column_names(path)
    except PfgenError:
        return True  # the reader of trials tells why
    return not names or ({"question", "answer"} <= set(names) and "model" not in names)
