"""Options of `pfgen-fast discern` that several of its subcommands have."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from ..files.untrusted_text import in_one_line

CollectionFile = Annotated[
    str | None,
    typer.Argument(
        help="Texts to be damaged: JSON lines, CSV, TSV or Parquet with id, text, task; perhaps language, question, "
        "context, references, alternative, perturbed. - is stdin.",
        metavar="[COLLECTION]",
    ),
]
FromRun = Annotated[
    str | None,
    typer.Option("--from-run", help="Instead: the first answers of a run to each question.", metavar="RUN"),
]
FromSuite = Annotated[
    bool,
    typer.Option("--from-suite", help="Instead: answers that the suite holds, of humans, or else reference answers."),
]
PerQuestion = Annotated[
    int,
    typer.Option("--per-question", min=1, help="With --from-run and --from-suite: answers to each question."),
]
MaxItems = Annotated[
    int | None, typer.Option("--items", min=1, help="Only this many items, from the first.", metavar="N")
]
SuiteOption = Annotated[
    str | None,
    typer.Option(
        "--suite",
        "-s",
        help="Suite of the n-gram scores and of --from-run and --from-suite: a folder with Q*.json files, or 'mini'. "
        "Default: data/ of the checkout that contains the run (or, if none is given, the working folder).",
        metavar="FOLDER",
    ),
]


def _pair(text: str) -> str:
    """A value of the form KEY=VALUE, checked."""
    key, sign, value = text.partition("=")
    if not (sign and key.strip() and value.strip()):
        raise typer.BadParameter(f"expected KEY=COLUMN, not {in_one_line(text)!r}")
    return text


Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="The column of a key of COLLECTION, such as text=summary or perturbed.typo/1=worse. May be repeated.",
        parser=_pair,
        metavar="KEY=COLUMN",
    ),
]
Task = Annotated[
    str | None, typer.Option("--task", help="The task of items that name none, such as answers or translation.")
]
Language = Annotated[
    str | None, typer.Option("--language", help="The language of all texts, ja or en. Default: found from each text.")
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of a CSV or TSV file. Default: UTF-8.", metavar="NAME")
]
PlanOption = Annotated[
    str,
    typer.Option(
        "--plan",
        help="usual: all kinds that rules make. Or a data set of the paper (SummEval, SumPubMed, 'Story Cloze Test', "
        "'Answer Equivalence', 'WMT-22 de-en', 'WMT-22 zh-en'), or a TOML file.",
        metavar="NAME|FILE",
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kinds",
        help="Only these kinds, or perturbations such as char_delete/30, separated by commas; 'discern kinds' lists "
        "them. May be repeated.",
        metavar="KIND,...",
    ),
]
Levels = Annotated[
    list[str] | None,
    typer.Option("--level", help="Only this level: character, word, sentence or control. May be repeated."),
]
RulesOnly = Annotated[
    bool, typer.Option("--rules-only", help="Rules in the place of those kinds of the paper that a model makes.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the damage; the same seed damages in the same way.")]
Donors = Annotated[
    Path | None,
    typer.Option(
        "--donors",
        help="A collection of texts to take from, for answer_swap, sentence_insert and term_swap. Default: the other "
        "items.",
        metavar="FILE",
    ),
]
AnalyserOption = Annotated[
    str | None,
    typer.Option(
        "--analyser",
        help="What finds the words, names and particles of Japanese instead of the rules: sudachi (needs "
        "pfgen-fast[japanese]).",
        metavar="NAME",
    ),
]
Model = Annotated[str | None, typer.Option("--model", "-m", help="The judge's name on the server.", metavar="NAME")]
Maker = Annotated[
    str | None,
    typer.Option(
        "--maker", help="The model that makes texts, for kinds that rules cannot. Default: the judge.", metavar="NAME"
    ),
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", help="Address of the server of judge and maker, including /v1.")
]
KeyEnv = Annotated[
    str | None,
    typer.Option("--key-env", help="Environment variable that holds the key. Default: OPENAI_API_KEY.", metavar="NAME"),
]
PromptPrice = Annotated[
    float, typer.Option("--prompt-price", help="Price per million prompt tokens, for the estimate.")
]
ReplyPrice = Annotated[float, typer.Option("--reply-price", help="Price per million reply tokens.")]
Budget = Annotated[
    float | None,
    typer.Option("--budget", min=0, help="Stop before the estimated cost of this call could exceed this."),
]
Offline = Annotated[bool, typer.Option("--offline", help="Send no requests; use the stored replies.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be asked, and its cost.")]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, help="Maximum number of concurrent requests.")]
Timeout = Annotated[
    float, typer.Option("--timeout", min=0.001, help="Timeout in seconds of a request, or of a command's silence.")
]
Retries = Annotated[int, typer.Option("--retries", min=0, help="How often a failed request is retried.")]


class ZerosChoice(str, enum.Enum):
    """How unchanged scores are treated."""

    drop = "drop"
    pratt = "pratt"


def listed(texts: list[str] | None) -> list[str] | None:
    """The names in the values of an option that takes names separated by commas; None if it is not given."""
    if not texts:
        return None
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def columns_of(pairs: list[str] | None) -> tuple[dict[str, str], dict[str, str]]:
    """The columns of the keys of an item, and those of perturbations, of the values of `Columns`."""
    names: dict[str, str] = {}
    perturbed: dict[str, str] = {}
    for pair in pairs or ():
        key, _, column = (part.strip() for part in pair.partition("="))
        first, dot, name = key.partition(".")
        if dot and first == "perturbed":
            perturbed[name] = column
        else:
            names[key] = column
    return names, perturbed
