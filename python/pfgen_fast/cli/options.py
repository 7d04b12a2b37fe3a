"""Options shared by several subcommands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from ..base.untrusted_text import in_one_line
from .parser import Argument, BadValue, Option

_MAX_FILE_BYTES = 1 << 20

Paths = Annotated[
    list[str],
    Argument(
        help="Runs: directories, trials files, directories with many runs, or globs (including '**').",
        metavar="PATH...",
    ),
]
SuiteOption = Annotated[
    str | None,
    Option(
        "--suite",
        "-s",
        help="Name the suite: a directory with Q*.json files, 'mini', or 'pfgen-bench' (see 'suite get'). Default: "
        "data/ of the checkout that contains the runs or the working directory.",
        metavar="FOLDER",
    ),
]
SuiteArgument = Annotated[
    str | None,
    Argument(
        help="Directory with Q*.json files, 'mini' or 'pfgen-bench'. Default: data/ of the checkout of the working "
        "directory.",
        metavar="[SUITE]",
    ),
]


def name_list(text: str) -> str:
    """Checks a value that is a list of names; see `names_of`."""
    if not all(name.strip() for name in text.split(",")):
        raise BadValue(f"expected names separated by commas, not {in_one_line(text)!r}")
    return text


def question_list(text: str) -> str:
    """The value of an option that is a list of names, or the name of a file after `@`, one name to a line."""
    if not text.startswith("@"):
        if Path(text).suffix and Path(text).is_file():
            raise BadValue("expected question IDs; to read them from a file, put @ before its name")
        return name_list(text)
    lines = (re.split(r"(?:^|\s)#", line)[0].strip() for line in text_or_file(text).splitlines())
    names = ",".join(line for line in lines if line)
    if not names:
        raise BadValue(f"{in_one_line(text[1:])}: expected question IDs, one to a line")
    return name_list(names)


Questions = Annotated[
    list[str] | None,
    Option(
        help="Use only these questions: IDs, or patterns such as 'Q0*', separated by commas. @FILE reads them from a "
        "file, one to a line; # begins a comment. May be repeated.",
        parser=question_list,
        metavar="ID,...|@FILE",
    ),
]
Limit = Annotated[int | None, Option(min=1, help="Use only the first N questions, for a quick test.", metavar="N")]


def names_of(texts: list[str] | None) -> tuple[str, ...]:
    """The names in all values of an option."""
    return tuple(name.strip() for text in texts or () for name in text.split(","))


UnknownQuestions = Annotated[
    Literal["error", "skip"], Option(help="Treat trials of unknown questions as errors, or skip them.")
]
RandomSeed = Annotated[int, Option(min=0, help="Set the random seed; the same seed gives the same figures.")]
Threads = Annotated[int | None, Option(min=1, help="Set the number of threads. Default: one per core.")]


FormatWithMarkdown = Annotated[
    Literal["text", "markdown", "json"],
    Option("--format", "-f", help="Choose the output format; json is the same as --json."),
]

OutputFile = Annotated[
    Path | None, Option("--output", "-o", help="Write to this file. Default: stdout.", metavar="FILE")
]

Root = Annotated[
    Path, Option("--output", "-o", help="Create the run's directory below this directory.", metavar="FOLDER")
]


ResultSumOption = Annotated[
    Literal["auto", "compensated", "naive"],
    Option(
        help="Sum rounded parts like Python 3.12 and later, or naively, like older versions; affects the last digit. "
        "auto: as in an existing result.json, or else compensated."
    ),
]
ProfileOption = Annotated[
    Literal["leaderboard", "paper", "normalised"],
    Option(
        help="Compute the published figures, use the formulas as printed in the paper, or compare texts without "
        "punctuation, spaces and differences of width."
    ),
]


ModeChoice = Literal["completion", "qa", "chat"]
Examples = Annotated[int, Option(min=0, help="Set the number of sample answers in a prompt.")]
Seed = Annotated[str, Option(help="Set the seed (any text) of sample answers and sampling.")]


def text_or_file(text: str) -> str:
    """The value of an option that is a text, or the name of a file after `@`."""
    if not text.startswith("@"):
        return text
    try:
        with open(text[1:], "rb") as file:
            return file.read(_MAX_FILE_BYTES).decode()
    except (OSError, ValueError) as error:
        raise BadValue(f"{in_one_line(text[1:])}: cannot be read as UTF-8: {in_one_line(error)}") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def json_object(text: str) -> dict[str, Any]:
    """The value of an option that is a JSON object, or the name of a file with one after `@`."""
    try:
        value = json.loads(text_or_file(text), parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise BadValue(f"expected a JSON object, got {in_one_line(text, 80)!r} ({error})") from None
    if not isinstance(value, dict):
        raise BadValue(f"expected a JSON object, got {in_one_line(text, 80)!r}")
    return value


System = Annotated[
    str,
    Option(
        help="Send this system message before the system message of mode chat. @FILE reads it from a file.",
        parser=text_or_file,
        metavar="TEXT|@FILE",
    ),
]
Instruction = Annotated[
    str,
    Option(
        help="Put this line above the examples of mode completion; default: the instruction of mode qa. @FILE reads it "
        "from a file.",
        parser=text_or_file,
        metavar="TEXT|default|@FILE",
    ),
]
ContextFile = Annotated[
    Path | None,
    Option(
        "--context",
        help="Show sentences of this file above each question: a table with the columns question and sentence, or a "
        "text with one sentence per line.",
        metavar="FILE",
    ),
]
Sentences = Annotated[
    int | None,
    Option(min=1, help="Draw this many sentences of --context for each question and trial. Default: 5.", metavar="N"),
]
Prefix = Annotated[str, Option(help="Begin every prompt with this text; \\n is a line break.")]


def number_list(text: str) -> str:
    """Checks a value that is a list of numbers, or `none`; see `names_of`."""
    for number in names_of([name_list(text)]):
        number_or_none(number)
    return text


def integer_list(text: str) -> str:
    """Checks a value that is a list of integers; see `names_of`."""
    for number in names_of([name_list(text)]):
        if not re.fullmatch("-?[0-9]{1,18}", number):
            raise BadValue(f"expected integers separated by commas, not {in_one_line(number)!r}")
    return text


def number_or_none(text: str) -> float | None:
    """The value of an option that may be `none`."""
    try:
        return None if text == "none" else float(text)
    except ValueError:
        raise BadValue(f"expected a number or 'none', not {in_one_line(text)!r}") from None


Temperature = Annotated[
    float | None,
    Option(
        help="Set the sampling temperature. With 0, the most likely token is chosen. With none, servers use "
        "their default.",
        parser=number_or_none,
        metavar="NUMBER|none",
    ),
]


def temperature_of(temperature: float | None, engine_settings: dict[str, Any]) -> float:
    """The temperature of sampling; none becomes the option `omit`."""
    if temperature is None:
        engine_settings["omit"] = [*engine_settings.get("omit", ()), "temperature"]
    return 1.0 if temperature is None else temperature


TopP = Annotated[
    float | None,
    Option(
        help="Sample from the most likely tokens that together have this probability. With none, all tokens "
        "are used, or the server's default.",
        parser=number_or_none,
        metavar="NUMBER|none",
    ),
]
TopK = Annotated[int | None, Option(help="Sample from this many most likely tokens. Default: all.")]
MaxTokens = Annotated[int, Option(help="Limit the tokens of an answer.")]
Stop = Annotated[
    list[str] | None,
    Option(
        help="Also end answers at this text, such as an end token that a server does not know. May be repeated.",
        metavar="TEXT",
    ),
]
