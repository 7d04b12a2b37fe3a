"""The options for reasoning in replies, and the messages about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ..scoring.reasoning_text import ReasoningChoice
from .app import print_line, warn
from .command_class import option_group

if TYPE_CHECKING:
    from ..generation.raw_replies import ReplySummary
    from ..generation.reasoning import Reasoning

Tags = Annotated[
    list[str] | None,
    Option(
        "--reasoning-tags",
        help="Also treat text between these tags as reasoning, such as <think> </think>. May be repeated.",
        metavar="OPEN CLOSE",
        click_type=(str, str),  # makes click read pairs
    ),
]


@option_group
class ReasoningOptions:
    """How a run treats reasoning."""

    reasoning: ReasoningChoice = Option(
        "strip", help="Remove reasoning from answers, or keep it there, as in the published runs."
    )
    reasoning_tags: Tags = None
    reasoning_tokens: int = Option(
        0, min=0, help="Allow this many tokens for reasoning, in addition to --max-tokens.", metavar="N"
    )
    retry_unfinished: int = Option(
        0,
        min=0,
        help="Ask again up to N times if the reasoning did not end. This favours short reasoning. An answer whose "
        "reasoning never ends is empty.",
        metavar="N",
    )

    @property
    def chosen(self) -> Reasoning:
        """The options as the library takes them."""
        from ..generation.reasoning import Reasoning

        pairs: Any = tuple(self.reasoning_tags or ())
        return Reasoning(self.reasoning == "keep", pairs, self.reasoning_tokens, self.retry_unfinished)


def print_replies(replies: ReplySummary | None, *, quiet: bool) -> None:
    """Prints how many replies have reasoning or reached the token limit, and warns if these are many."""
    if replies is None:
        return
    if not quiet and (replies.n_reasoning or replies.n_cut):
        print_line(replies.sentence)
    for problem in replies.problems:
        warn(problem)
