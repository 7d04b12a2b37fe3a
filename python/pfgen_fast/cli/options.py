"""Options shared by several subcommands, and the parsers of their values; a parser may return a list of values.

Options of tables of scores (of any evaluation) are here, those of tables of answers in score/options.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..base.untrusted_text import in_one_line, unknown_name
from .app import fail, note
from .parser import Argument, BadValue, Option, option_group

if TYPE_CHECKING:
    from ..runs.items.item_table import ItemScores

_MAX_FILE_BYTES = 1 << 20

ModeChoice = Literal["completion", "qa", "chat", "turns"]


def name_list(text: str) -> str:
    """Checks a value that is a list of names; see `names_of`."""
    if not all(name.strip() for name in text.split(",")):
        raise BadValue(f"expected names separated by commas, not {in_one_line(text)!r}")
    return text


def names_of(texts: list[str] | None) -> tuple[str, ...]:
    """The names in all values of an option."""
    return tuple(name.strip() for text in texts or () for name in text.split(","))


def names(text: str) -> list[str]:
    """The names in a value."""
    return [*names_of([name_list(text)])]


def question_names(text: str) -> list[str]:
    """The names in a value, or in the file after `@`, one to a line; # begins a comment."""
    if not text.startswith("@"):
        if Path(text).suffix and Path(text).is_file():
            raise BadValue("expected question IDs; to read them from a file, put @ before its name")
        return names(text)
    lines = (re.split(r"(?:^|\s)#", line)[0].strip() for line in text_or_file(text).splitlines())
    if not (listed := ",".join(line for line in lines if line)):
        raise BadValue(f"{in_one_line(text[1:])}: expected question IDs, one to a line")
    return names(listed)


def text_or_file(text: str) -> str:
    """The value of an option that is a text, or the name of a file after `@`."""
    if not text.startswith("@"):
        return text
    try:
        with open(text[1:], "rb") as file:
            return file.read(_MAX_FILE_BYTES).decode()
    except (OSError, ValueError) as error:
        raise BadValue(f"{in_one_line(text[1:])}: cannot be read as UTF-8: {in_one_line(error)}") from None


def directory(text: str) -> Path:
    """The value of an option that names a directory to write."""
    from ..base.file_writing import check_folder

    check_folder(Path(text))
    return Path(text)


def json_object(text: str) -> dict[str, Any]:
    """The value of an option that is a JSON object, or the name of a file with one after `@`."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    try:
        value = json.loads(text_or_file(text), parse_constant=refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise BadValue(f"expected a JSON object, got {in_one_line(text, 80)!r} ({error})") from None
    if not isinstance(value, dict):
        raise BadValue(f"expected a JSON object, got {in_one_line(text, 80)!r}")
    return value


def integers(text: str) -> list[int]:
    """The integers in a value."""
    for number in names(text):
        if not re.fullmatch("-?[0-9]{1,18}", number):
            raise BadValue(f"expected integers separated by commas, not {in_one_line(number)!r}")
    return list(map(int, names(text)))


def number_or_none(text: str) -> float | None:
    """The value of an option that may be `none`."""
    try:
        return None if text == "none" else float(text)
    except ValueError:
        raise BadValue(f"expected a number or 'none', not {in_one_line(text)!r}") from None


def number_or_word(text: str) -> float | Literal["none"]:
    """The value of an option that may be `none`, which differs from an option that is not set."""
    number = number_or_none(text)
    return "none" if number is None else number


_SUITE = (
    "Name the suite: a directory with Q*.json files, 'mini' or 'pfgen-bench'. Default: data/ of the checkout of the"
)
_NUMBER: Any = {"parser": number_or_none, "metavar": "NUMBER|none"}

Paths = Annotated[list[str], Argument(..., "Runs: directories, trials files, or globs.", metavar="PATH...")]
PathsOrTable = Annotated[
    list[str] | None, Argument(..., "Runs: directories, trials files, or globs.", metavar="[PATH...]")
]
SuiteOption = Annotated[
    str | None, Option(..., f"{_SUITE} runs or of the working directory.", "--suite", "-s", metavar="FOLDER")
]
SuiteOfRuns = Annotated[
    str | None, Option(..., f"Runs: {_SUITE} runs.", "--suite", "-s", metavar="FOLDER", for_input="runs")
]
SuiteArgument = Annotated[str | None, Argument(..., f"{_SUITE} working directory.", metavar="[SUITE]")]
Encoding = Annotated[
    str | None,
    Option(..., "Set the encoding of CSV and TSV, such as cp932. Default: by the byte-order mark, or UTF-8."),
]
MetricOfTable = Annotated[
    str | None, Option(..., "Tables: rank or compare by this metric. Default: the first one.", for_input="tables")
]
Reduce = Annotated[
    Literal["best", "mean"],
    Option(..., "With several references, take the best score, or the mean of the scores with each reference alone."),
]
Questions = Annotated[
    list[str] | None,
    Option(
        ...,
        "Use only these questions: IDs, or patterns such as 'Q0*'; @FILE has one to a line. May be repeated.",
        parser=question_names,
        metavar="ID,...|@FILE",
    ),
]
Limit = Annotated[int | None, Option(..., "Use only the first N questions, for a quick test.", min=1)]
UnknownQuestions = Annotated[
    Literal["error", "skip"], Option(..., "Treat trials of unknown questions as errors, or skip them.")
]
RandomSeed = Annotated[int, Option(..., "Set the random seed; the same seed gives the same figures.", min=0)]
Threads = Annotated[int | None, Option(..., "Set the number of threads. Default: one per core.", min=1, max=1024)]
FormatWithMarkdown = Annotated[
    Literal["text", "markdown"], Option(..., "Print aligned text, or Markdown for a document.", "--format", "-f")
]
OutputFile = Annotated[Path | None, Option(..., "Write to this file. Default: stdout.", "--output", "-o")]
FOLDER: Any = {"metavar": "FOLDER", "parser": directory}
Root = Annotated[Path, Option(..., "Create the run's directory below this one.", "--output", "-o", **FOLDER)]
ResultSumOption = Annotated[
    Literal["auto", "compensated", "naive"],
    Option(
        ..., "Sum parts like Python 3.12, or naively like older ones. auto: as an existing result.json, or like 3.12."
    ),
]
ProfileOption = Annotated[
    Literal["leaderboard", "paper", "normalised"],
    Option(
        ..., "Use the published formulas, those of the paper, or ignore punctuation, spaces and differences of width."
    ),
]
Seed = Annotated[str, Option(..., "Set the seed (any text) of sample answers and sampling.", metavar="TEXT")]
Temperature = Annotated[
    float | None,
    Option(..., "Set the temperature. 0: the most likely token; none: the server's default.", group="", **_NUMBER),
]
TopP = Annotated[
    float | None, Option(..., "Sample from the most likely tokens with this probability. none: from all.", **_NUMBER)
]
TopK = Annotated[int | None, Option(..., "Sample from this many most likely tokens. Default: all.")]
MaxTokens = Annotated[int, Option(..., "Limit the tokens of an answer.", group="")]
Stop = Annotated[list[str] | None, Option(..., "Also end answers at this text. May be repeated.", metavar="TEXT")]


@option_group
class ItemScoreOptions:
    """The columns of tables of scores, and the choice of models."""

    help_group = "Tables of scores"
    for_input = "tables"
    item_column: str | None = Option(None, "Name the column with the items. Default: item, id or another usual name.")
    model_column: str | None = Option(None, "Name the column with the models. Default: model or another usual name.")
    score_columns: list[str] | None = Option(
        None,
        "Name a column with scores; each is a metric. May be repeated. Default: score, accuracy or other usual "
        "names, or in a wide table one column for each model.",
        "--score-column",
    )
    trial_column: str | None = Option(None, "Name the column that numbers the trials of a model on an item.")
    metric_column: str | None = Option(None, "Name the column with the metrics.")
    subject_column: str | None = Option(None, "Name the column with the subject of each item.")
    cluster_column: str | None = Option(None, "Name the column with the cluster of each item, such as its document.")
    encoding: Encoding = None
    lower_is_better: list[str] | None = Option(
        None,
        "Treat lower scores of these metrics as better, separated by commas. May be repeated.",
        parser=name_list,
        metavar="METRIC,...",
    )
    models: list[str] | None = Option(
        None,
        "Use only these models, in this order, separated by commas. May be repeated.",
        parser=name_list,
        metavar="NAME,...",
    )

    def read(
        self, paths: Sequence[str], *asked: str | None, quiet: bool = False, all_models: bool = False
    ) -> ItemScores:
        """Reads the chosen models, or all, and prints how; parts of `average` such as `fluency_A` only if asked for."""
        from ..runs.items.score_columns import ColumnNames
        from ..runs.items.score_tables import read_item_scores

        columns = ColumnNames(
            item=self.item_column,
            model=self.model_column,
            score=tuple(self.score_columns or ()),
            trial=self.trial_column,
            metric=self.metric_column,
            subject=self.subject_column,
            cluster=self.cluster_column,
        )
        scores = read_item_scores(paths, columns, encoding=self.encoding)
        if not quiet:
            note(*scores.notes)
        lower, parts = names_of(self.lower_is_better), ("fluency_", "truthfulness_")
        if "average" in scores.metrics:
            asked += (*lower, *columns.score)
            kept = [name for name in scores.metrics if name in asked or not name.startswith(parts)]
            scores = scores.only(metrics=kept)
        for metric in sorted({*lower}.difference(scores.metrics)):
            fail(f"--lower-is-better: {unknown_name('metric', metric, scores.metrics)}")
        scores = replace(scores, higher_is_better={**scores.higher_is_better, **dict.fromkeys(lower, False)})
        return scores.only(models=self.chosen_of(scores.models)) if self.models and not all_models else scores

    def chosen_of(self, models: Sequence[str]) -> list[str]:
        """The names in --models; a value that is the name of a model, with commas, is one name."""
        return [name for text in self.models or () for name in ([text] if text in models else names_of([text]))]
