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
