"""The options of `pfgen-fast score`."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..base.errors import PfgenError
from ..scoring.reply_text import ReasoningChoice
from . import options
from .app import Json, Quiet
from .parser import Argument, Option, option_group

if TYPE_CHECKING:
    from ..suite.rules import FloatSum

STDIN = "-"
_LINES, *_OTHERS = (
    tuple(f"{kind}{packed}" for packed in ("", ".gz", ".xz", ".zst")) for kind in (".jsonl", ".csv", ".tsv", ".json")
)
_ENDINGS = sum(_OTHERS, ())


@option_group
class ScoreOptions:
    """The options of `score`, for runs and for tables."""

    paths: list[str] = Argument(
        help="Runs: directories, trials files, directories with many runs, globs (including '**'). Tables: files, "
        "directories, globs, URLs such as s3://bucket/in/, or '-'.",
        metavar="PATH...",
    )
    suite: options.SuiteOption = None
    questions: options.Questions = None
    limit: options.Limit = None
    unknown_questions: options.UnknownQuestions = "error"
    output: str | None = Option(
        None,
        "-o",
        help="Write results below this directory instead of the runs, or a table of all answers to this file, such as "
        "answers.csv. Tables: write to this file, or '-', instead of printing the means of the models; several tables: "
        "to this directory, also a remote one such as s3://bucket/folder/.",
        metavar="PATH",
    )
    question_column: str | None = Option(None, help="Tables: name the question column.")
    answer_column: str | None = Option(None, help="Tables: name the answer column.")
    metrics: list[str] | None = Option(
        None,
        "--metric",
        help="Tables: compare answers with the references in their rows, by bleu, chrf, chrf++, rouge_1, rouge_2, "
        "rouge_l, rouge_lsum, token_f1, exact_match, rep_4 or distinct_4, or with 100 references or more fluency or "
        "truthfulness, without a suite. May be repeated.",
        metavar="NAME",
    )
    reference_columns: list[str] | None = Option(
        None,
        "--reference-column",
        help="With --metric: name the column with the references of each row, as lists (in CSV, JSON lists) or texts. "
        "May be repeated.",
        metavar="NAME",
    )
    tokenize: str | None = Option(
        None,
        help="With --metric: split texts by the rules of 13a, intl, zh, char or none. Default: the usual rules of "
        "each metric.",
        metavar="NAME",
    )
    lowercase: bool = Option(False, help="With --metric: convert texts to lower case first.")
    columns: str | None = Option(
        None, help="Tables: add only these scores, such as average,helpfulness. Default: all.", metavar="NAME,..."
    )
    where: str | None = Option(
        None,
        "--filter",
        help="Tables: write only rows that pass, as in 'average >= 0.6 and helpfulness > 0.5'.",
        metavar="CONDITION",
    )
    nulls: bool = Option(False, help="Tables: give missing answers null scores.")
    input_format: Literal["csv", "tsv", "jsonl", "json", "parquet"] | None = Option(
        None, help="Tables: read this format from stdin. Default: JSON lines."
    )
    encoding: str | None = Option(
        None,
        help="Tables: set the encoding of CSV and TSV, such as cp932. Default: by the byte-order mark, or UTF-8.",
        metavar="NAME",
    )
    reasoning: ReasoningChoice = Option(
        "keep", help="Score answers unchanged, or without reasoning (docs/generation.md)."
    )
    profile: options.ProfileOption = "leaderboard"
    float_sum: options.ResultSumOption = "auto"
    force: bool = Option(
        False, "-f", help="Also score runs that are up to date, and tables scored with other settings."
    )
    threads: options.Threads = None
    dry_run: bool = Option(False, "-n", help="Only show what would be done.")
    quiet: Quiet = False
    as_json: Json = False

    @property
    def is_silent(self) -> bool:
        """Whether the command prints errors and JSON only."""
        return self.quiet or self.as_json

    @property
    def usual_sum(self) -> FloatSum:
        """The float sum of runs without a recorded result."""
        return "naive" if self.float_sum == "naive" else "compensated"

    @cached_property
    def places(self) -> list[str]:
        """The inputs; `file://` is a path."""
        return list(map(_place, self.paths))

    @cached_property
    def target(self) -> str | None:
        """The output; `file://` is a path."""
        return self.output and _place(self.output)

    @property
    def is_answer_table(self) -> bool:
        """Whether runs are written as one table of answers."""
        return (self.output or "").endswith((".parquet", *_ENDINGS, *_LINES))

    @property
    def are_tables(self) -> bool:
        """Whether the inputs are tables instead of runs."""
        columns = self.question_column, self.answer_column, self.columns
        others = self.where, self.encoding, self.input_format, self.metrics
        return any(value is not None for value in (*columns, *others)) or all(map(self._is_table, self.places))

    def _is_table(self, path: str) -> bool:
        """Whether an input must be a table: a URL, or a file that cannot be trials."""
        if _is_url(path) or not os.path.isfile(path):
            return _is_url(path)
        return path.endswith((".parquet", *_ENDINGS)) or (path.endswith(_LINES) and not self._may_be_trials(path))

    def _may_be_trials(self, path: str) -> bool:
        """Whether JSON lines may be trials of one model: they have a suite and the keys, or cannot be read."""
        from ..runs.checkout import checkout_of
        from ..tables.formats import column_names

        if self.suite is None and checkout_of(Path(path).parent) is None:
            return False
        try:
            names = column_names(path)
        except PfgenError:
            return True  # the reader of trials tells why
        return not names or ({"question", "answer"} <= set(names) and "model" not in names)

    def is_many(self) -> bool:
        """Whether the outputs are files in a directory, with the names of their inputs."""
        from ..tables.places import file_info, has_magic, is_folder

        def names_folder(place: str) -> bool:
            return place.endswith("/") or is_folder(place)

        if len(self.places) > 1 or (self.target not in (None, STDIN) and names_folder(str(self.target))):
            return True
        path = self.places[0]
        return path != STDIN and (names_folder(path) or (has_magic(path) and file_info(path) is None))


def _place(path: str) -> str:
    """The place that an argument names: `file://` is a path."""
    if not _is_url(path):
        return path
    from ..tables.places import place_of

    return place_of(path)


def _is_url(path: str) -> bool:
    if "://" not in path:
        return False
    from ..tables.places import is_remote

    return is_remote(path)
