"""`pfgen-fast checklists fit`: weights from people's marks."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from typer import Argument, Option

from .app import exit_if_partial, print_line, shown
from .checklists_options import FindingOptions, MarksScale
from .command_class import option_group
from .options import RandomSeed


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

      pfgen-fast checklists fit marks.jsonl --suite SUITE --scale ui --bootstrap 1000 -o weighted-suite

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
    seed: RandomSeed = 0
    given: FitOptions

    def __call__(self) -> None:
        from ..checklists.people.reading import read_marks
        from ..checklists.runs import open_runs
        from ..checklists.suite_writing import check_suite_folder
        from ..checklists.weights import fit_finding, fitting

        if self.to is not None and self.to.suffix != ".json":
            check_suite_folder(self.to)
        given = self.given
        found = fitting.fit_suite(
            given.loaded,
            read_marks(self.marks, given.loaded, scale=self.scale, runs=open_runs(self.run or ())),
            combine=self.combine,
            bound=self.bound,
            draws=self.bootstrap,
            seed=self.seed,
            allow_unidentified=self.allow_unidentified,
        )
        finding, data = fit_finding.fit_finding(found), fit_finding.fit_to_dict(found)
        given.present(finding, data, tables=("fitted", "draws"))
        if self.to is not None:
            fitting.write_weights(found, self.to)
            if not (given.quiet or given.as_json):
                print_line(f"weights of {len(found.weights)} categories: {shown(self.to)}")
        exit_if_partial(given.faults)
