"""Options shared by several subcommands."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..files.untrusted_text import in_one_line

_MAX_FILE_BYTES = 1 << 20

Paths = Annotated[
    list[str],
    typer.Argument(
        help="Folders of runs, trials files, folders with many runs, or globs (including '**').", metavar="PATH..."
    ),
]
SuiteOption = Annotated[
    str | None,
    typer.Option(
        "--suite",
        "-s",
        help="Folder with Q*.json files, or 'mini'. Default: data/ of the checkout that contains the runs (or, if no "
        "run is given, the working folder).",
        metavar="FOLDER",
    ),
]
SuiteArgument = Annotated[
    str | None,
    typer.Argument(
        help="Folder with Q*.json files, or 'mini'. Default: data/ of the checkout that contains the working folder.",
        metavar="[SUITE]",
    ),
]


def question_names(text: str) -> str:
    """A value of `--questions`, checked; see `names_of`."""
    if not all(name.strip() for name in text.split(",")):
        raise typer.BadParameter(
            f"expected IDs or patterns such as 'Q0*', separated by commas, not {in_one_line(text)!r}"
        )
    return text


Questions = Annotated[
    list[str] | None,
    typer.Option(
        "--questions",
        help="Only these questions: IDs, or patterns such as 'Q0*', separated by commas. May be repeated.",
        parser=question_names,
        metavar="ID,...",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", min=1, help="Only this many questions, from the first, for a quick try.", metavar="N"),
]


def names_of(questions: list[str] | None) -> tuple[str, ...]:
    """The IDs and patterns that were given as `Questions`."""
    return tuple(name.strip() for text in questions or () for name in text.split(","))


class UnknownQuestionsChoice(str, enum.Enum):
    """What happens to trials of questions that the suite lacks."""

    error = "error"
    skip = "skip"


UnknownQuestions = Annotated[
    UnknownQuestionsChoice,
    typer.Option("--unknown-questions", help="Trials of questions that the suite lacks: an error, or left out."),
]
RequiredSuite = Annotated[str, typer.Argument(help="Folder with Q*.json files, or 'mini'.", metavar="SUITE")]
Threads = Annotated[int | None, typer.Option("--threads", min=1, help="Number of threads. Default: one per core.")]


class FormatChoice(str, enum.Enum):
    """How a command prints its results."""

    text = "text"
    json = "json"


_FORMAT_HELP = "Output format; json is the same as --json."
Format = Annotated[FormatChoice, typer.Option("--format", "-f", help=_FORMAT_HELP)]
FormatWithoutLetter = Annotated[FormatChoice, typer.Option("--format", help=_FORMAT_HELP)]
"""For commands whose -f is --force."""

OutputFile = Annotated[
    Path | None, typer.Option("--output", "-o", help="Output file. Default: stdout.", metavar="FILE")
]

SuiteToAsk = Annotated[
    str | None,
    typer.Option(
        "--suite",
        "-s",
        help="Folder with Q*.json files and questions.jsonl, or 'mini'. Default: data/ of the checkout that contains "
        "the working folder.",
        metavar="FOLDER",
    ),
]
Root = Annotated[
    Path, typer.Option("--output", "-o", help="Folder below which the run's folder is created.", metavar="FOLDER")
]


class FloatSumChoice(str, enum.Enum):
    """How rounded parts are summed."""

    compensated = "compensated"
    naive = "naive"


class ResultSumChoice(str, enum.Enum):
    """How rounded parts of a result are summed."""

    auto = "auto"
    compensated = "compensated"
    naive = "naive"


class ProfileChoice(str, enum.Enum):
    """Which formulas are used."""

    leaderboard = "leaderboard"
    paper = "paper"


FloatSumOption = Annotated[
    FloatSumChoice,
    typer.Option(
        help="How rounded parts are summed: like Python 3.12 and later, or like older versions. Affects the last digit."
    ),
]
ResultSumOption = Annotated[
    ResultSumChoice,
    typer.Option(
        "--float-sum",
        help="How rounded parts are summed: like Python 3.12 and later, or naively, like older versions; affects the "
        "last digit. auto: as in the result.json that is there, which is tried; compensated where there is none.",
    ),
]
ProfileOption = Annotated[
    ProfileChoice, typer.Option(help="Reproduce the published figures, or the formulas as printed.")
]


class ModeChoice(str, enum.Enum):
    """The kind of prompts."""

    completion = "completion"
    qa = "qa"
    chat = "chat"


Trials = Annotated[int, typer.Option("--trials", "-n", min=1, help="How often each question is asked.")]
ModeOption = Annotated[
    ModeChoice,
    typer.Option(help="Prompts: a text to continue (base models), one user message, or system and user messages."),
]
Examples = Annotated[int, typer.Option("--examples", min=0, help="Number of sample answers in a prompt.")]
Seed = Annotated[str, typer.Option("--seed", help="Any text; determines the sample answers and the sampling seed.")]


def text_or_file(text: str) -> str:
    """The value of an option that is a text, or the name of a file after `@`."""
    if not text.startswith("@"):
        return text
    try:
        with open(text[1:], "rb") as file:
            return file.read(_MAX_FILE_BYTES).decode()
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{in_one_line(text[1:])}: cannot be read as UTF-8: {in_one_line(error)}") from None


def json_object(text: str) -> dict[str, Any]:
    """The value of an option that is a JSON object, or the name of a file with one after `@`."""
    try:
        value = json.loads(text_or_file(text))
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"expected a JSON object, got {in_one_line(text, 80)!r} ({error})") from None
    if not isinstance(value, dict):
        raise typer.BadParameter(f"expected a JSON object, got {in_one_line(text, 80)!r}")
    return value


System = Annotated[
    str,
    typer.Option(
        help="A system message, which precedes that of mode chat. @FILE reads it from a file.",
        parser=text_or_file,
        metavar="TEXT|@FILE",
    ),
]
Prefix = Annotated[str, typer.Option("--prefix", help="Text that begins every prompt; \\n is a line break.")]
Model = Annotated[str, typer.Option("--model", "-m", help="Name of the model, and of the run's folder.")]


def number_or_none(text: str) -> float | None:
    """The value of an option that may be `none`."""
    try:
        return None if text == "none" else float(text)
    except ValueError:
        raise typer.BadParameter(f"expected a number or 'none', not {in_one_line(text)!r}") from None


Temperature = Annotated[
    float | None,
    typer.Option(
        "--temperature",
        help="Sampling temperature; 0 takes the most likely token; none sends no temperature to a server.",
        parser=number_or_none,
        metavar="NUMBER|none",
    ),
]


def temperature_of(given: float | None, of_engine: dict[str, Any]) -> float:
    """The temperature of sampling; none becomes the option `omit`."""
    if given is None:
        of_engine["omit"] = [*of_engine.get("omit", ()), "temperature"]
    return 1.0 if given is None else given


TopP = Annotated[
    float | None,
    typer.Option(
        "--top-p",
        help="Sample from the most likely tokens that reach this probability; none: all, or as the server likes.",
        parser=number_or_none,
        metavar="NUMBER|none",
    ),
]
TopK = Annotated[int | None, typer.Option("--top-k", help="Sample from this many most likely tokens. Default: all.")]
MaxTokens = Annotated[int, typer.Option("--max-tokens", help="Maximum number of tokens in an answer.")]
Stop = Annotated[
    list[str] | None,
    typer.Option(
        "--stop",
        help="Another text that ends an answer, such as an end token that a server does not know. May be repeated.",
        metavar="TEXT",
    ),
]
PromptPrice = Annotated[
    float, typer.Option("--prompt-price", help="Price per million prompt tokens, in any currency, to show the cost.")
]
ReplyPrice = Annotated[float, typer.Option("--reply-price", help="Price per million reply tokens.")]
CachedPrice = Annotated[
    float | None,
    typer.Option("--cached-price", help="Price per million prompt tokens from a cache. Default: as the others."),
]
