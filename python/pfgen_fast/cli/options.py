"""Options that several subcommands share."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

Paths = Annotated[
    list[str],
    typer.Argument(
        help="Run folders, trials files, folders that hold many runs, or globs ('**' too).", metavar="PATH..."
    ),
]
SuiteOption = Annotated[
    str | None,
    typer.Option(
        "--suite",
        "-s",
        help="Folder with Q*.json files, or 'mini'. Default: data/ of the checkout that the runs lie in.",
        metavar="FOLDER",
    ),
]
RequiredSuite = Annotated[str, typer.Argument(help="Folder with Q*.json files, or 'mini'.", metavar="SUITE")]
Threads = Annotated[int | None, typer.Option("--threads", min=1, help="Threads to use. Default: one for each core.")]
OutputFile = Annotated[
    Path | None, typer.Option("--output", "-o", help="File to write. Default: stdout.", metavar="FILE")
]

NamedSuite = Annotated[
    str,
    typer.Option("--suite", "-s", help="Folder with Q*.json files and questions.jsonl, or 'mini'.", metavar="FOLDER"),
]
Root = Annotated[
    Path, typer.Option("--output", "-o", help="The run's folder is made below this one.", metavar="FOLDER")
]


class FloatSumChoice(str, enum.Enum):
    """How rounded parts are added up."""

    compensated = "compensated"
    naive = "naive"


class ProfileChoice(str, enum.Enum):
    """Which formulas are used."""

    leaderboard = "leaderboard"
    paper = "paper"


FloatSumOption = Annotated[
    FloatSumChoice,
    typer.Option(help="How rounded parts are added up: as Python >= 3.12 does, or as older ones did. Last digit only."),
]
ProfileOption = Annotated[ProfileChoice, typer.Option(help="The published figures, or the formulas as printed.")]


class ModeChoice(str, enum.Enum):
    """What kind of prompts are sent."""

    completion = "completion"
    qa = "qa"
    chat = "chat"


Trials = Annotated[int, typer.Option("--trials", "-n", min=1, help="How often each question is asked.")]
ModeOption = Annotated[
    ModeChoice, typer.Option(help="A text to continue (base models), one user message, or system and user messages.")
]
Examples = Annotated[int, typer.Option("--examples", min=0, help="How many sample answers a prompt shows.")]
Seed = Annotated[str, typer.Option("--seed", help="Any text; another one chooses other examples and another seed.")]
Prefix = Annotated[str, typer.Option("--prefix", help="Stands before everything else in a prompt.")]
Model = Annotated[str, typer.Option("--model", "-m", help="Name of the model; also that of the run's folder.")]
Temperature = Annotated[float, typer.Option("--temperature", help="0 takes the likeliest token.")]
TopP = Annotated[float, typer.Option("--top-p", help="Draw from the likeliest tokens of this probability together.")]
TopK = Annotated[int | None, typer.Option("--top-k", help="Draw from this many likeliest tokens. Default: from all.")]
MaxTokens = Annotated[int, typer.Option("--max-tokens", help="The most tokens of an answer.")]
