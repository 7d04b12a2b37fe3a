"""`pfgen-fast checklists fit` and `sensitivity`: weights from people's marks, and how much a table depends on them."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ChecklistError
from . import checklists_options as options
from .app import Json, Quiet, print_line, shown
from .checklists_findings import check_page, present
from .checklists_printing import Faults

if TYPE_CHECKING:
    from ..checklists.runs import Run
    from ..checklists.scoring.scores import Scores
    from ..checklists.weights.fitting import Fit
    from ..checklists.weights.table_stability import Stability


class CombineChoice(str, enum.Enum):
    """What several annotators of an answer make."""

    pool = "pool"
    mean = "mean"


def fit(
    marks: Annotated[
        Path,
        typer.Argument(
            help="Marks: JSON lines, CSV, TSV or Parquet with id, response_sha256, annotator, verdicts (one for each "
            "question, in one cell) and overall (0 to 10); perhaps length and category.",
            metavar="MARKS",
        ),
    ],
    suite: options.SuiteOption,
    scale: Annotated[
        options.ScaleChoice,
        typer.Option("--scale", help="Verdicts from 0 to 1 (unit), or from 0 to 4 as annotation tools give them (ui)."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A .json file for the weights alone, or a folder for a copy of the suite with them.",
            metavar="OUT",
        ),
    ] = None,
    combine: Annotated[
        CombineChoice,
        typer.Option("--combine", help="Several annotators of an answer: a row each, or one row of their means."),
    ] = CombineChoice.pool,
    bound: Annotated[
        float, typer.Option("--bound", min=0, help="The smallest coefficient, so that no question is ignored.")
    ] = 0.5,
    allow_unidentified: Annotated[
        bool,
        typer.Option(
            "--allow-unidentified",
            help="Where the marks do not define the weights, take those nearest to equal weights.",
        ),
    ] = False,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=0, help="How often to draw the answers again and refit.", metavar="N")
    ] = 0,
    run: Annotated[
        list[Path] | None,
        typer.Option(
            "--run", help="Run with the marked answers: marks of other answers are left out. Repeat.", metavar="RUN"
        ),
    ] = None,
    table: Annotated[
        list[Path] | None,
        typer.Option(
            "--table",
            help="Runs with judgements: how sure is their order under the draws? May be repeated.",
            metavar="RUN",
        ),
    ] = None,
    judge: options.JudgeOption = None,
    mixed: options.Mixed = False,
    seed: options.Seed = 0,
    page: Annotated[
        Path | None,
        typer.Option("--page", help="Folder for a page with tables and pictures of the fit.", metavar="DIR"),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
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
    from ..checklists.suite import ChecklistSuite
    from ..checklists.suite_writing import check_suite_folder
    from ..checklists.weights.fit_finding import fit_finding, fit_to_dict
    from ..checklists.weights.fitting import fit_suite
    from ..checklists.weights.marks import read_marks

    if table and not bootstrap:
        raise typer.BadParameter("--table needs --bootstrap N, whose draws tell how sure an order is")
    check_page(page)
    if output is not None and output.suffix != ".json":
        check_suite_folder(output)
    loaded = ChecklistSuite.load(suite)
    found = fit_suite(
        loaded,
        read_marks(marks, loaded, scale=scale.value, runs=_runs(run)),
        combine=combine.value,
        bound=bound,
        draws=bootstrap,
        seed=seed,
        allow_unidentified=allow_unidentified,
    )
    faults = Faults()
    order = None
    if table:
        runs = _runs(table)
        order = _order(found, score_runs(loaded, runs, judge=judge, mixed=mixed, draws=0, on_fault=faults))
    data = fit_to_dict(found, order) if as_json else None
    present(fit_finding(found, order), page, tables=("fitted", "draws"), data=data, quiet=quiet)
    if output is not None:
        _write(found, output)
        if not (quiet or as_json):
            print_line(f"weights of {len(found.weights)} categories: {shown(str(output))}")
    faults.end()


def sensitivity(
    runs: options.JudgedRuns,
    suite: options.SuiteOption,
    draws: Annotated[int, typer.Option("--draws", min=0, help="How often to draw random weights; 0 for none.")] = 1000,
    concentration: Annotated[
        int,
        typer.Option(
            "--concentration",
            min=2,
            help="How near random weights are to the suite's: a weight w varies by about the square root of "
            "w (100 - w) / N.",
            metavar="N",
        ),
    ] = 100,
    judge: options.JudgeOption = None,
    mixed: options.Mixed = False,
    seed: options.Seed = 0,
    output: options.Page = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """How much do averages and places depend on the weights, and on what missing answers count?

    Compares the usual table with equal weights, with random weights around the suite's, with a zero for each missing
    answer, and with the mean of all answers instead of the mean of areas. Needs no marks of people.

    Examples

      pfgen-fast checklists sensitivity RUNS --suite SUITE

      pfgen-fast checklists sensitivity RUNS --suite SUITE --concentration 30 -o sensitivity
    """
    from ..checklists.scoring.scoring import score_runs
    from ..checklists.suite import ChecklistSuite
    from ..checklists.weights.sensitivity import sensitivity as measure
    from ..checklists.weights.sensitivity_finding import sensitivity_finding, sensitivity_to_dict

    check_page(output)
    loaded = ChecklistSuite.load(suite)
    faults = Faults()
    scores = score_runs(loaded, _runs(runs), judge=judge, mixed=mixed, draws=0, on_fault=faults)
    found = measure(scores, draws=draws, concentration=concentration, seed=seed)
    data = sensitivity_to_dict(found) if as_json else None
    present(sensitivity_finding(found), output, tables=("variations", "draws"), data=data, quiet=quiet)
    faults.end()


def _runs(paths: list[Path] | None) -> list[Run]:
    from ..checklists.runs import open_runs

    return open_runs(paths) if paths else []


def _order(found: Fit, scores: Scores) -> Stability | None:
    from ..checklists.weights.table_stability import fitted_stability
    from ..checklists.weights.verdict_sums import verdict_sums

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
