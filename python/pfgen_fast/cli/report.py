"""`pfgen-fast report`: a page to explore runs, or a README.md in each run's folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import TrialsError
from ..files.untrusted_text import link_target
from . import options
from .app import Exit, Quiet, counted, fail, note, shown, stdout, track, warn
from .suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from ..report import ReportRun


def report(
    paths: options.Paths,
    suite: options.SuiteOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write a page such as report.html, or a directory with a page and its data.",
            metavar="FILE.html|FOLDER",
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Write a README.md beside each result instead, like the published ones.")
    ] = False,
    float_sum: options.FloatSumOption = "compensated",
    quiet: Quiet = False,
) -> None:
    """Creates a page of runs: leaderboard, plots, and sample answers to every question.

    The page is a single file of at most 30 MB and needs no network. If many runs would exceed that, long answers are
    cut; a folder holds everything, opens from disk too, and replaces nothing but an earlier report. Reads the
    result.json files that 'pfgen-fast score' wrote. Runs that differ in a few parameters, such as those of a sweep, are
    plotted over each parameter. Results that cannot be reported are listed and left out; the exit code is then 3.

    Examples

      pfgen-fast report result -o report.html

      pfgen-fast report result -o report

      pfgen-fast report result/openai --markdown
    """
    from ..files.reading import file_sha1
    from ..generation.raw_replies import sentence_of
    from ..report import ReportRun, write_readme, write_report, write_report_folder
    from ..report.safe_runs import check_run
    from ..report.sweeps import with_intervals
    from ..runs.checkout import run_name, suite_of_all
    from ..runs.leaderboard import find_results, mixed_suites
    from ..runs.result import read_result

    if (output is None) != markdown:
        fail("give --output FILE.html (or a folder) for a page, or --markdown for a README.md beside each result")
    if output is not None and _is_other_file(output):
        fail(
            f"{output}: expected a page, such as {output.with_suffix('.html').name}, or a folder, "
            f"not a file of the kind {output.suffix}"
        )
    runs: list[tuple[Path, ReportRun]] = []
    results = find_results(paths)
    of_runs = suite_of_all([path.parent for path in results], given_suite(suite))
    for path in track(results, len(results), "results", quiet=quiet):
        try:
            run = ReportRun(
                run_name(path.parent),
                _link(path, output),
                read_result(path),
                float_sum=float_sum,
                replies=sentence_of(path.parent),
                result_hash=file_sha1(path),
            )
            check_run(run, of_runs)
        except TrialsError as error:
            warn(str(error))
        else:
            runs.append((path, run))
    if not runs:
        raise SystemExit(Exit.PARTIAL)
    mixed = mixed_suites(run.result for _, run in runs)
    if mixed and not quiet:
        note(mixed)
    if output is None:
        for path, run in track(runs, len(runs), "runs", quiet=quiet):
            write_readme(run, of_runs, path.with_name("README.md"))
    else:
        write = write_report if _is_page(output) else write_report_folder
        write(with_intervals(runs, of_runs), of_runs, output)
    if not quiet:
        written = "a README.md beside each" if output is None else f"{output} ({_size(output) / 1e6:.1f} MB)"
        stdout().print(f"{counted(len(runs), 'run')}: {shown(written)}")
        print_origin(of_runs)
    if len(runs) < len(results):
        raise SystemExit(Exit.PARTIAL)


def _link(result: Path, output: Path | None) -> str | None:
    if output is None:
        return None
    page = output.resolve()
    return link_target(result.parent, page.parent if _is_page(output) else page)


def _is_page(output: Path) -> bool:
    """Whether the output is one file: a name with .html, unless it is a folder."""
    return output.suffix.lower() in (".html", ".htm") and not output.is_dir()


def _is_other_file(output: Path) -> bool:
    """Whether the name is that of a file of another kind, such as a picture, and no folder has it."""
    from mimetypes import MimeTypes  # without those of the system, so that it is the same everywhere

    is_file = MimeTypes().guess_type(output.name)[0] is not None or output.suffix.lower() == ".md"
    return is_file and not (_is_page(output) or output.is_dir())


def _size(output: Path) -> int:
    """The size of the report."""
    data = output.glob("data/answers-*.js") if output.is_dir() else []
    return sum(path.stat().st_size for path in (output / "index.html" if output.is_dir() else output, *data))
