"""The options for reasoning in replies, and what commands say about it."""

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
        help="Add tags around reasoning to the known ones, such as <think> </think>. May be repeated.",
        metavar="OPEN CLOSE",
        click_type=(str, str),  # makes click read pairs
    ),
]


@option_group
class ReasoningOptions:
    """How a run treats reasoning."""

    reasoning: ReasoningChoice = Option(
        "strip", help="Remove reasoning from answers, or keep it as a part of them, as in the published runs."
    )
    reasoning_tags: Tags = None
    reasoning_tokens: int = Option(
        0, min=0, help="Allow this many tokens for reasoning, in addition to --max-tokens.", metavar="N"
    )
    retry_unfinished: int = Option(
        0,
        min=0,
        help="Ask again this often if the reasoning did not end, which prefers short reasoning. Otherwise the answer "
        "is empty.",
        metavar="N",
    )

    @property
    def chosen(self) -> Reasoning:
        """The options as the library takes them."""
        from ..generation.reasoning import Reasoning

        pairs: Any = tuple(self.reasoning_tags or ())
        return Reasoning(self.reasoning == "keep", pairs, self.reasoning_tokens, self.retry_unfinished)


def print_replies(replies: ReplySummary | None, *, quiet: bool) -> None:
    """Prints how replies ended if there was reasoning or a limit, and warns if that happened often."""
    if replies is None:
        return
    if not quiet and (replies.n_reasoning or replies.n_cut):
        print_line(replies.sentence)
    for problem in replies.problems:
        warn(problem)
