"""`pfgen-fast checklists fit` and `sensitivity`: weights from people's marks, and how much a table depends on them."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ChecklistError
from .app import Json, Quiet, note, print_json, print_line, shown, stdout, styled
from .checklists_printing import Faults, print_table
from .findings import show_finding

if TYPE_CHECKING:
    from ..checklists.runs import Run
    from ..checklists.scoring.scores import Scores
    from ..checklists.weights.fitting import Fit
    from ..checklists.weights.table_stability import Stability
    from ..experiments.finding import Finding


class ScaleChoice(str, enum.Enum):
    """The scale of people's verdicts."""

    unit = "unit"
    ui = "ui"


class CombineChoice(str, enum.Enum):
    """What several annotators of an answer make."""

    pool = "pool"
    mean = "mean"


SuiteOption = Annotated[
    str, typer.Option("--suite", "-s", help="The checklist suite: its folder, or a packaged one.", metavar="SUITE")
]
Page = Annotated[Path | None, typer.Option("--page", help="Folder for a page with tables and pictures.", metavar="DIR")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random seed; the same seed gives the same figures.")]
Judge = Annotated[
    str | None,
    typer.Option("--judge", help="The judge or its version, if the runs have judgements of several.", metavar="NAME"),
]
Mixed = Annotated[bool, typer.Option("--mixed", help="Let judgements of several versions of the judge count together.")]


def fit(
    marks: Annotated[
        Path,
        typer.Argument(
            help="Marks: JSON lines, CSV, TSV or Parquet with id, response_sha256, annotator, verdicts (one for each "
            "question, in one cell) and overall (0 to 10); perhaps length and category.",
            metavar="MARKS",
        ),
    ],
    suite: SuiteOption,
    scale: Annotated[
        ScaleChoice,
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
    judge: Judge = None,
    mixed: Mixed = False,
    seed: Seed = 0,
    page: Page = None,
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
    from ..checklists.suite_files import check_suite_folder
    from ..checklists.weights.fit_finding import fit_finding, fit_to_dict
    from ..checklists.weights.fitting import fit_suite
    from ..checklists.weights.marks import read_marks

    if table and not bootstrap:
        raise typer.BadParameter("--table needs --bootstrap N, whose draws tell how sure an order is")
    _check_page(page)
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
    finding = fit_finding(found, order)
    if as_json:
        print_json(fit_to_dict(found, order))
    _show(finding, ("fitted", "draws"), page, quiet=quiet or as_json)
    if output is not None:
        _write(found, output)
        if not (quiet or as_json):
            print_line(f"weights of {len(found.weights)} categories: {shown(str(output))}")
    faults.end()


def sensitivity(
    runs: Annotated[list[Path], typer.Argument(help="Runs with judgements, or folders of runs.", metavar="RUN...")],
    suite: SuiteOption,
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
    judge: Judge = None,
    mixed: Mixed = False,
    seed: Seed = 0,
    page: Page = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """How much do averages and places depend on the weights, and on what missing answers count?

    Compares the usual table with equal weights, with random weights around the suite's, with a zero for each missing
    answer, and with the mean of all answers instead of the mean of areas. Needs no marks of people.

    Examples

      pfgen-fast checklists sensitivity RUNS --suite SUITE

      pfgen-fast checklists sensitivity RUNS --suite SUITE --concentration 30 --page sensitivity
    """
    from ..checklists.scoring.scoring import score_runs
    from ..checklists.suite import ChecklistSuite
    from ..checklists.weights.sensitivity import sensitivity as measure
    from ..checklists.weights.sensitivity_finding import sensitivity_finding, sensitivity_to_dict

    _check_page(page)
    loaded = ChecklistSuite.load(suite)
    faults = Faults()
    scores = score_runs(loaded, _runs(runs), judge=judge, mixed=mixed, draws=0, on_fault=faults)
    found = measure(scores, draws=draws, concentration=concentration, seed=seed)
    if as_json:
        print_json(sensitivity_to_dict(found))
    _show(sensitivity_finding(found), ("variations", "draws"), page, quiet=quiet or as_json)
    faults.end()


def _runs(paths: list[Path] | None) -> list[Run]:
    from ..checklists.runs import open_runs

    return open_runs(paths) if paths else []


def _order(found: Fit, scores: Scores) -> Stability | None:
    from ..checklists.weights.table_stability import fitted_stability
    from ..checklists.weights.verdict_sums import verdict_sums

    return fitted_stability(found, verdict_sums(scores))


def _write(found: Fit, output: Path) -> None:
    from ..checklists.suite_files import write_suite
    from ..checklists.weights.fitting import write_weights

    if output.suffix == ".json":
        write_weights(found, output)
        return
    if not found.weights:
        raise ChecklistError(f"{output}: no category has weights that its marks define; see --allow-unidentified")
    write_suite(found.applied(), output)


def _check_page(page: Path | None) -> None:
    from ..files.writing import check_folder
    from ..report.findings import check_libraries

    if page is not None:
        check_folder(page)
        check_libraries()


def _show(finding: Finding, tables: tuple[str, ...], page: Path | None, *, quiet: bool) -> None:
    """Writes the page if one is wanted, and prints the finding with some of its tables."""
    from ..checklists.scoring.text_tables import TextTable

    if page is not None:
        show_finding(finding, page, report=None, quiet=quiet)
    elif not quiet:
        stdout().print(styled((shown(finding.answer), "bold")))
        for sentence in finding.notes:
            note(sentence)
        stdout().print(shown(finding.paragraph))
    if not quiet:
        for table in finding.shown_tables:
            if table.name in tables:
                rows = tuple(tuple(row) for row in table.texts())
                print_table(TextTable(table.title, table.columns, rows))
