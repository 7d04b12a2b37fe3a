"""Options of `pfgen-fast checklists` that several of its subcommands have."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer


class MissingChoice(str, enum.Enum):
    """What an answer without a judgement counts."""

    skip = "skip"
    zero = "zero"


class MethodChoice(str, enum.Enum):
    """What a judge is asked."""

    checklist = "checklist"
    llm_eval = "llm-eval"
    llm_eval_c = "llm-eval-c"


class WeightsChoice(str, enum.Enum):
    """Whether the suite's weights count."""

    suite = "suite"
    equal = "equal"


class WordsChoice(str, enum.Enum):
    """Where numbers of words are from."""

    published = "published"
    counted = "count"


class ScaleChoice(str, enum.Enum):
    """The scale of people's verdicts."""

    unit = "unit"
    ui = "ui"


SuiteOption = Annotated[
    str,
    typer.Option(
        "--suite",
        "-s",
        help="Checklist suite: its folder, or a packaged one such as essays-en or essays-ja.",
        metavar="SUITE",
    ),
]
SuiteFolder = Annotated[
    Path, typer.Option("--output", "-o", help="Folder of the checklist suite to write.", metavar="SUITE")
]
JudgedRuns = Annotated[
    list[Path],
    typer.Argument(
        help="Folders of runs, folders with many runs, or files of judgements.", metavar="RUN...", show_default=False
    ),
]
RunsWithAnswers = Annotated[
    list[Path],
    typer.Argument(help="Folders of runs with answers.jsonl, or folders with many such runs.", metavar="RUN..."),
]
JudgeOption = Annotated[
    str | None,
    typer.Option(
        "--judge", help="Name of the judge, or a version of it; only needed where there are several.", metavar="NAME"
    ),
]
Mixed = Annotated[
    bool, typer.Option("--mixed", help="Let replies of several versions of the judge, or to several prompts, count.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random seed; the same seed gives the same figures.")]
Draws = Annotated[
    int,
    typer.Option("--draws", min=0, help="Bootstrap draws of tasks for the intervals; 0 for none.", metavar="N"),
]
MissingOption = Annotated[
    MissingChoice | None,
    typer.Option(
        help="An answer without a judgement is left out (and marked), or counts as zero. Default: as the suite says.",
        show_default=False,
    ),
]
MethodOption = Annotated[MethodChoice, typer.Option(help="How the judge was asked.")]
WeightsOption = Annotated[
    WeightsChoice, typer.Option(help="The suite's weights, or all questions alike (known as AVG-C).")
]
WordsOption = Annotated[
    WordsChoice,
    typer.Option(help="Numbers of words as published with the judgements where they are, or counted from all answers."),
]
CsvOption = Annotated[
    Path | None, typer.Option("--csv", help="Also write everything to this file, with full digits.", metavar="FILE")
]
Page = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for the page, tables and pictures. Default: text only.", metavar="DIR"),
]
