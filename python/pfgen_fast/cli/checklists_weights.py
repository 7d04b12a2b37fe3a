"""`pfgen-fast checklists fit` and `sensitivity`: weights from people's marks, and how much a table depends on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..errors import ChecklistError
from . import checklists_options as options
from .app import print_line, shown
from .checklists_findings import FindingOptions
from .engine_options import with_options

if TYPE_CHECKING:
    from ..checklists.runs import Run
    from ..checklists.scoring.scores import Scores
    from ..checklists.weights.fitting import Fit
    from ..checklists.weights.table_stability import Stability


CombineChoice = Literal["pool", "mean"]


@dataclass(frozen=True)
class FitOptions(FindingOptions):
    """Likewise, with another option for the page."""

    output: Annotated[
        Path | None,
        typer.Option(
            "--page", help="Write a page with tables and pictures of the fit to this directory.", metavar="DIR"
        ),
    ] = None


@with_options(given=FitOptions)
def fit(
    marks: Annotated[
        Path,
        typer.Argument(
            help="Marks: JSON lines, CSV, TSV or Parquet with id, response_sha256, annotator, verdicts (one for each "
            "question, in one cell) and overall (0 to 10); perhaps length and category.",
            metavar="MARKS",
        ),
    ],
    scale: Annotated[
        options.ScaleChoice,
        typer.Option("--scale", help="Read verdicts from 0 to 1 (unit), or from 0 to 4 as of annotation tools (ui)."),
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the weights to a .json file, or a copy of the suite with the weights to a directory.",
            metavar="OUT",
        ),
    ] = None,
    combine: Annotated[
        CombineChoice,
        typer.Option("--combine", help="Use a row for each annotator of an answer, or one row of their means."),
    ] = "pool",
    bound: Annotated[
        float, typer.Option("--bound", min=0, help="Set the smallest coefficient, so that no question is ignored.")
    ] = 0.5,
    allow_unidentified: Annotated[
        bool,
        typer.Option(
            "--allow-unidentified",
            help="Where marks do not define the weights, take the weights nearest to equal weights.",
        ),
    ] = False,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=0, help="Refit on this many draws of the answers.", metavar="N")
    ] = 0,
    run: Annotated[
        list[Path] | None,
        typer.Option("--run", help="Use only marks of answers in this run. May be repeated.", metavar="RUN"),
    ] = None,
    table: Annotated[
        list[Path] | None,
        typer.Option(
            "--table",
            help="Show how sure the order of these judged runs is under the draws. May be repeated.",
            metavar="RUN",
        ),
    ] = None,
    seed: options.Seed = 0,
    *,
    given: FitOptions,
) -> None:
    """Fits the weights of each checklist to people's marks.

    The marks of whole answers are regressed on the verdicts, without an intercept and with no coefficient below the
    bound; the coefficients divided by their sum are the weights. A category whose marks do not define its weights is
    named, and gets none.

    Examples

      pfgen-fast checklists fit marks.csv --suite SUITE --scale unit

      pfgen-fast checklists fit marks.jsonl --suite SUITE --scale ui --bootstrap 1000 --table RUNS -o weighted-suite

      pfgen-fast checklists fit marks.jsonl --suite SUITE --scale ui --json
    """
    from ..checklists.scoring.scoring import score_runs
    from ..checklists.suite_writing import check_suite_folder
    from ..checklists.weights.fit_finding import fit_finding, fit_to_dict
    from ..checklists.weights.fitting import fit_suite
    from ..checklists.weights.marks import read_marks

    if table and not bootstrap:
        raise typer.BadParameter("--table needs --bootstrap N, whose draws tell how sure an order is")
    if to is not None and to.suffix != ".json":
        check_suite_folder(to)
    found = fit_suite(
        given.loaded,
        read_marks(marks, given.loaded, scale=scale, runs=_runs(run)),
        combine=combine,
        bound=bound,
        draws=bootstrap,
        seed=seed,
        allow_unidentified=allow_unidentified,
    )
    order = None
    if table:
        runs = _runs(table)
        order = _order(found, score_runs(given.loaded, runs, draws=0, **given.of_judge))
    given.present(fit_finding(found, order), fit_to_dict(found, order), tables=("fitted", "draws"))
    if to is not None:
        _write(found, to)
        if not (given.quiet or given.as_json):
            print_line(f"weights of {len(found.weights)} categories: {shown(str(to))}")
    given.faults.end()


@with_options(given=FindingOptions)
def sensitivity(
    runs: options.JudgedRuns,
    draws: Annotated[int, typer.Option("--draws", min=0, help="Draw random weights this often; 0: never.")] = 1000,
    concentration: Annotated[
        int,
        typer.Option(
            "--concentration",
            min=2,
            help="Draw random weights this near to the suite's: a weight w varies by about the square root of "
            "w (100 - w) / N.",
            metavar="N",
        ),
    ] = 100,
    seed: options.Seed = 0,
    *,
    given: FindingOptions,
) -> None:
    """How much do averages and places depend on the weights, and on what missing answers count?

    Compares the usual table with equal weights, with random weights around the suite's, with a zero for each missing
    answer, and with the mean of all answers instead of the mean of areas. Needs no marks of people.

    Examples

      pfgen-fast checklists sensitivity RUNS --suite SUITE

      pfgen-fast checklists sensitivity RUNS --suite SUITE --concentration 30 -o sensitivity
    """
    from ..checklists.scoring.scoring import score_runs
    from ..checklists.weights.sensitivity import sensitivity as measure
    from ..checklists.weights.sensitivity import sensitivity_finding, sensitivity_to_dict

    scores = score_runs(given.loaded, _runs(runs), draws=0, **given.of_judge)
    found = measure(scores, draws=draws, concentration=concentration, seed=seed)
    given.finish(sensitivity_finding(found), sensitivity_to_dict(found), tables=("variations", "draws"))


def _runs(paths: list[Path] | None) -> list[Run]:
    from ..checklists.runs import open_runs

    return open_runs(paths) if paths else []


def _order(found: Fit, scores: Scores) -> Stability | None:
    from ..checklists.weights.table_stability import fitted_stability, verdict_sums

    return fitted_stability(found, verdict_sums(scores))


def _write(found: Fit, output: Path) -> None:
    from ..checklists.suite_writing import write_suite
    from ..checklists.weights.fitting import write_weights

    if output.suffix == ".json":
        write_weights(found, output)
        return
    if not found.weights:
        raise ChecklistError(f"{output}: no category has weights that its marks define; see --allow-unidentified")
    write_suite(found.applied(), output)
