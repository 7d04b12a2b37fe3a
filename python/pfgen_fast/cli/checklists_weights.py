"""`pfgen-fast checklists fit` and `sensitivity`: weights from people's marks, and how much a table depends on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer
from typer import Argument, Option

from .app import exit_if_partial, print_line, shown
from .checklists_options import FindingOptions, JudgedRuns, MarksScale
from .command_class import option_group
from .options import RandomSeed

if TYPE_CHECKING:
    from ..checklists.runs import Run
    from ..checklists.scoring.scores import Scores


@option_group
class FitOptions(FindingOptions):
    """The options of a finding; `--page` names its output, because `--output` names the output of the weights."""

    output: Path | None = Option(
        None, "--page", help="Write a page with tables and pictures of the fit to this directory.", metavar="DIR"
    )


class _Fit:
    """Fits the weights of each checklist to people's marks.

    The marks of whole answers are regressed on the verdicts, without an intercept and with no coefficient below the
    bound. The weights are the coefficients divided by their sum. A category whose marks do not determine its weights
    is reported, and gets no weights.

    Examples

      pfgen-fast checklists fit marks.csv --suite SUITE --scale unit

      pfgen-fast checklists fit marks.jsonl --suite SUITE --scale ui --bootstrap 1000 --table RUNS -o weighted-suite

      pfgen-fast checklists fit marks.jsonl --suite SUITE --scale ui --json
    """

    marks: list[Path] = Argument(
        help="Marks: exports of annotators, or JSON lines, CSV, TSV or Parquet with id, response_sha256, annotator, "
        "verdicts (one for each question, in one cell) and overall (0 to 10); optionally length and category.",
        metavar="MARKS...",
    )
    scale: MarksScale = None
    to: Path | None = Option(
        None,
        "--output",
        "-o",
        help="Write the weights to a .json file, or a copy of the suite with the weights to a directory.",
        metavar="OUT",
    )
    combine: Literal["pool", "mean"] = Option(
        "pool",
        help="Use one row for each annotator of an answer (pool), or one row of their means (mean).",
    )
    bound: float = Option(
        0.5, min=0, help="Set the smallest allowed coefficient. With a bound above 0, no question is ignored."
    )
    allow_unidentified: bool = Option(
        False, help="If marks do not determine the weights, take the weights nearest to equal weights."
    )
    bootstrap: int = Option(0, min=0, help="Refit on this many draws of the answers.", metavar="N")
    run: list[Path] | None = Option(None, help="Use only marks of answers in this run. May be repeated.", metavar="RUN")
    table: list[Path] | None = Option(
        None, help="Show how stable the order of these judged runs is over the draws. May be repeated.", metavar="RUN"
    )
    seed: RandomSeed = 0
    given: FitOptions

    def __call__(self) -> None:
        from ..checklists.people.reading import read_marks
        from ..checklists.suite_writing import check_suite_folder
        from ..checklists.weights import fit_finding, fitting, table_stability

        if self.table and not self.bootstrap:
            raise typer.BadParameter("--table needs --bootstrap N, whose draws show how stable the order is")
        if self.to is not None and self.to.suffix != ".json":
            check_suite_folder(self.to)
        given = self.given
        found = fitting.fit_suite(
            given.loaded,
            read_marks(self.marks, given.loaded, scale=self.scale, runs=_runs(self.run)),
            combine=self.combine,
            bound=self.bound,
            draws=self.bootstrap,
            seed=self.seed,
            allow_unidentified=self.allow_unidentified,
        )
        order = None
        if self.table:
            order = table_stability.fitted_stability(found, table_stability.verdict_sums(_scores(given, self.table)))
        finding, data = fit_finding.fit_finding(found, order), fit_finding.fit_to_dict(found, order)
        given.present(finding, data, tables=("fitted", "draws"))
        if self.to is not None:
            fitting.write_weights(found, self.to)
            if not (given.quiet or given.as_json):
                print_line(f"weights of {len(found.weights)} categories: {shown(self.to)}")
        exit_if_partial(given.faults)


class _Sensitivity:
    """How much do averages and places depend on the weights, and on how missing answers count?

    Compares the usual table with equal weights, with random weights around the suite's, with a zero for each missing
    answer, and with the mean of all answers instead of the mean of areas. Needs no marks of people.

    Examples

      pfgen-fast checklists sensitivity RUNS --suite SUITE

      pfgen-fast checklists sensitivity RUNS --suite SUITE --concentration 30 -o sensitivity
    """

    runs: JudgedRuns
    draws: int = Option(1000, min=0, help="Set the number of draws of random weights; 0 disables them.")
    concentration: int = Option(
        100,
        min=2,
        help="Set how close random weights are to those of the suite: a weight w varies by about the square root of "
        "w (100 - w) / N.",
        metavar="N",
    )
    seed: RandomSeed = 0
    given: FindingOptions

    def __call__(self) -> None:
        from ..checklists.weights.sensitivity import sensitivity as measure
        from ..checklists.weights.sensitivity import sensitivity_finding, sensitivity_to_dict

        scores = _scores(self.given, self.runs)
        found = measure(scores, draws=self.draws, concentration=self.concentration, seed=self.seed)
        self.given.finish(sensitivity_finding(found), sensitivity_to_dict(found), tables=("variations", "draws"))


def _runs(paths: Sequence[Path] | None) -> list[Run]:
    from ..checklists.runs import open_runs

    return open_runs(paths) if paths else []


def _scores(given: FindingOptions, paths: Sequence[Path]) -> Scores:
    from ..checklists.scoring.scoring import score_runs

    return score_runs(given.loaded, _runs(paths), draws=0, **given.of_judge)
