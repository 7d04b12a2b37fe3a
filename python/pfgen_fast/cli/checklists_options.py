"""Options of several subcommands of `pfgen-fast checklists`: single ones, and groups for `with_options`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from .app import Quiet
from .checklists_printing import Faults

if TYPE_CHECKING:
    from ..checklists.runs import Run
    from ..checklists.scoring.scores import Scores
    from ..checklists.suite import ChecklistSuite


MissingChoice = Literal["skip", "zero"]
MethodChoice = Literal["checklist", "llm-eval", "llm-eval-c"]
WeightsChoice = Literal["suite", "equal"]
WordsChoice = Literal["published", "count"]
ScaleChoice = Literal["unit", "ui"]
SuiteOption = Annotated[
    str,
    typer.Option(
        "--suite",
        "-s",
        help="Use this checklist suite: a directory, or a packaged suite such as essays-en or essays-ja.",
        metavar="SUITE",
    ),
]
SuiteFolder = Annotated[
    Path, typer.Option("--output", "-o", help="Write the checklist suite to this directory.", metavar="SUITE")
]
JudgedRuns = Annotated[
    list[Path],
    typer.Argument(
        help="Runs: directories, directories with many runs, or files of judgements.",
        metavar="RUN...",
        show_default=False,
    ),
]
Draws = Annotated[
    int,
    typer.Option("--draws", min=0, help="Set the bootstrap draws of intervals; 0 computes no intervals.", metavar="N"),
]
RunsWithAnswers = Annotated[
    list[Path], typer.Argument(help="Runs with answers.jsonl, or directories with many such runs.", metavar="RUN...")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Set the random seed; the same seed gives the same figures.")]


@dataclass(frozen=True)
class JudgedOptions:
    """The options of commands that read judgements, for `with_options`."""

    suite: SuiteOption
    judge: Annotated[
        str | None, typer.Option(help="Choose one of several judges by its name or version.", metavar="NAME")
    ] = None
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Count replies of several versions of the judge, or to several prompts.")
    ] = False
    quiet: Quiet = False

    @cached_property
    def loaded(self) -> ChecklistSuite:
        """The suite."""
        from ..checklists.suite import ChecklistSuite

        return ChecklistSuite.load(self.suite)

    @cached_property
    def faults(self) -> Faults:
        """The lines that cannot be read."""
        return Faults()

    @property
    def of_judge(self) -> dict[str, Any]:
        """The arguments of functions that read judgements."""
        return {"judge": self.judge, "mixed": self.mixed, "on_fault": self.faults}


@dataclass(frozen=True)
class ScoreOptions(JudgedOptions):
    """The options of commands that show scores."""

    missing: Annotated[
        MissingChoice | None,
        typer.Option(
            help="Leave out (and mark) answers without a judgement, or count them as zero. Default: as the suite says.",
            show_default=False,
        ),
    ] = None
    method: Annotated[MethodChoice, typer.Option(help="Choose how the judge was asked.")] = "checklist"
    weights: Annotated[
        WeightsChoice, typer.Option(help="Use the suite's weights, or equal weights (known as AVG-C).")
    ] = "suite"
    words: Annotated[
        WordsChoice,
        typer.Option(help="Use the published numbers of words where they exist, or count the words of all answers."),
    ] = "published"
    draws: Draws = 10_000

    def score(self, runs: Sequence[Run]) -> Scores:
        """Scores runs."""
        from ..checklists import score_runs

        return score_runs(
            self.loaded,
            runs,
            missing=self.missing,
            method=self.method,
            weights=self.weights,
            words=self.words,
            draws=self.draws,
            **self.of_judge,
        )
