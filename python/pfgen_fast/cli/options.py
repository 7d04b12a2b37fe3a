"""Options shared by several subcommands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..files.untrusted_text import in_one_line

_MAX_FILE_BYTES = 1 << 20

Paths = Annotated[
    list[str],
    typer.Argument(
        help="Runs: directories, trials files, directories with many runs, or globs (including '**').",
        metavar="PATH...",
    ),
]
SuiteOption = Annotated[
    str | None,
    typer.Option(
        "--suite",
        "-s",
        help="Name the suite: a directory with Q*.json files, or 'mini'. Default: data/ of the checkout that contains "
        "the runs, or the working directory.",
        metavar="FOLDER",
    ),
]
SuiteArgument = Annotated[
    str | None,
    typer.Argument(
        help="Directory with Q*.json files, or 'mini'. Default: data/ of the checkout of the working directory.",
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
        help="Take only these questions: IDs, or patterns such as 'Q0*', separated by commas. May be repeated.",
        parser=question_names,
        metavar="ID,...",
    ),
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="Take only the first N questions, for a quick try.", metavar="N")
]


def names_of(questions: list[str] | None) -> tuple[str, ...]:
    """The IDs and patterns that were given as `Questions`."""
    return tuple(name.strip() for text in questions or () for name in text.split(","))


UnknownQuestionsChoice = Literal["error", "skip"]
UnknownQuestions = Annotated[
    UnknownQuestionsChoice, typer.Option("--unknown-questions", help="Refuse or skip trials of unknown questions.")
]
RequiredSuite = Annotated[str, typer.Argument(help="Directory with Q*.json files, or 'mini'.", metavar="SUITE")]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="Set the number of threads. Default: one per core.")
]


FormatChoice = Literal["text", "json"]
_FORMAT_HELP = "Choose the output format; json is the same as --json."
Format = Annotated[FormatChoice, typer.Option("--format", "-f", help=_FORMAT_HELP)]
FormatWithoutLetter = Annotated[FormatChoice, typer.Option("--format", help=_FORMAT_HELP)]
"""For commands whose -f is --force."""

OutputFile = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file. Default: stdout.", metavar="FILE")
]

SuiteToAsk = Annotated[
    str | None,
    typer.Option(
        "--suite",
        "-s",
        help="Name the suite: a directory with Q*.json files and questions.jsonl, or 'mini'. Default: data/ of the "
        "checkout that contains the working directory.",
        metavar="FOLDER",
    ),
]
Root = Annotated[
    Path, typer.Option("--output", "-o", help="Create the run's directory below this directory.", metavar="FOLDER")
]


FloatSumChoice = Literal["compensated", "naive"]
ResultSumChoice = Literal["auto", "compensated", "naive"]
ProfileChoice = Literal["leaderboard", "paper"]
FloatSumOption = Annotated[
    FloatSumChoice,
    typer.Option(help="Sum rounded parts like Python 3.12 and later, or like older versions. Affects the last digit."),
]
ResultSumOption = Annotated[
    ResultSumChoice,
    typer.Option(
        "--float-sum",
        help="Sum rounded parts like Python 3.12 and later, or naively, like older versions; affects the last digit. "
        "auto: as in an existing result.json, or else compensated.",
    ),
]
ProfileOption = Annotated[
    ProfileChoice, typer.Option(help="Reproduce the published figures, or the formulas as printed.")
]


ModeChoice = Literal["completion", "qa", "chat"]
Trials = Annotated[int, typer.Option("--trials", "-n", min=1, help="Ask each question this often.")]
ModeOption = Annotated[
    ModeChoice,
    typer.Option(help="Use a text to continue (base models), one user message, or system and user messages."),
]
Examples = Annotated[int, typer.Option("--examples", min=0, help="Set the sample answers in a prompt.")]
Seed = Annotated[str, typer.Option("--seed", help="Set the seed (any text) of sample answers and sampling.")]


def text_or_file(text: str) -> str:
    """The value of an option that is a text, or the name of a file after `@`."""
    if not text.startswith("@"):
        return text
    try:
        with open(text[1:], "rb") as file:
            return file.read(_MAX_FILE_BYTES).decode()
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{in_one_line(text[1:])}: cannot be read as UTF-8: {in_one_line(error)}") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def json_object(text: str) -> dict[str, Any]:
    """The value of an option that is a JSON object, or the name of a file with one after `@`."""
    try:
        value = json.loads(text_or_file(text), parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"expected a JSON object, got {in_one_line(text, 80)!r} ({error})") from None
    if not isinstance(value, dict):
        raise typer.BadParameter(f"expected a JSON object, got {in_one_line(text, 80)!r}")
    return value


System = Annotated[
    str,
    typer.Option(
        help="Send this system message, before that of mode chat. @FILE reads it from a file.",
        parser=text_or_file,
        metavar="TEXT|@FILE",
    ),
]
Prefix = Annotated[str, typer.Option("--prefix", help="Begin every prompt with this text; \\n is a line break.")]
Model = Annotated[str, typer.Option("--model", "-m", help="Name the model, and so the run's directory.")]


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
        help="Set the sampling temperature; 0 takes the most likely token; none sends no temperature to a server.",
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
        help="Sample from the most likely tokens that reach this probability; none: all, or the server's default.",
        parser=number_or_none,
        metavar="NUMBER|none",
    ),
]
TopK = Annotated[int | None, typer.Option("--top-k", help="Sample from this many most likely tokens. Default: all.")]
MaxTokens = Annotated[int, typer.Option("--max-tokens", help="Limit the tokens of an answer.")]
Stop = Annotated[
    list[str] | None,
    typer.Option(
        "--stop",
        help="End answers at this text too, such as an end token that a server does not know. May be repeated.",
        metavar="TEXT",
    ),
]
PromptPrice = Annotated[
    float, typer.Option("--prompt-price", help="Set the price per million prompt tokens, in any currency.")
]
ReplyPrice = Annotated[float, typer.Option("--reply-price", help="Set the price per million reply tokens.")]
CachedPrice = Annotated[
    float | None,
    typer.Option("--cached-price", help="Set the price per million cached prompt tokens. Default: as the others."),
]
