"""The options for reasoning in replies, and what commands say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..scoring.reasoning_text import ReasoningChoice
from .app import print_line, warn

if TYPE_CHECKING:
    from ..generation.raw_replies import ReplySummary


Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--reasoning-tags",
        help="Add tags around reasoning to the known ones, such as <think> </think>. May be repeated.",
        metavar="OPEN CLOSE",
        click_type=(str, str),  # makes click read pairs
    ),
]


def reasoning_options(
    reasoning: Annotated[
        ReasoningChoice,
        typer.Option(help="Remove reasoning from answers, or keep it as a part of them, as in the published runs."),
    ] = "strip",
    reasoning_tags: Tags = None,
    reasoning_tokens: Annotated[
        int,
        typer.Option(min=0, help="Allow this many tokens for reasoning, in addition to --max-tokens.", metavar="N"),
    ] = 0,
    retry_unfinished: Annotated[
        int,
        typer.Option(
            min=0,
            help="Ask again this often if the reasoning did not end, which prefers short reasoning. Otherwise the "
            "answer is empty.",
            metavar="N",
        ),
    ] = 0,
) -> Any:
    """How a run treats reasoning, for `with_options`."""
    from ..generation.reasoning import Reasoning

    pairs: Any = tuple(reasoning_tags or ())
    return Reasoning(reasoning == "keep", pairs, reasoning_tokens, retry_unfinished)


def print_replies(replies: ReplySummary | None, *, quiet: bool) -> None:
    """Prints how replies ended if there was reasoning or a limit, and warns if that happened often."""
    if replies is None:
        return
    if not quiet and (replies.n_reasoning or replies.n_cut):
        print_line(replies.sentence)
    for problem in replies.problems:
        warn(problem)
