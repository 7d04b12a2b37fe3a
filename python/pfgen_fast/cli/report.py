"""`pfgen-fast report`: a page to explore runs, or a README.md in each run's folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from typer import Option

from ..errors import TrialsError
from ..files.untrusted_text import link_target
from . import options
from .app import Quiet, counted, exit_if_partial, fail, note, shown, stdout, track, warn
from .command_class import option_group
from .score_table_options import ScoreTableOptions
from .suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from ..report import ReportRun
    from ..suite.suite import Suite


@option_group
class _Report:
    """Creates a page of runs or of a table of scores: leaderboard, plots, and answers to every question.

    The page is a single file of at most 20 MB and needs no network. To fit this size, long answers are cut. A directory
    holds whole answers, opens from disk as well, and replaces only an earlier report. The command reads the
    result.json files that 'pfgen-fast score' wrote. Runs that differ in a few parameters, such as those of a sweep, are
    plotted over each parameter. Results that cannot be reported are listed and left out; the exit code is then 3.

    Tables of scores become a page in one file, with models in place of runs and items in place of questions. It has no
    answers.

    Examples

      pfgen-fast report result -o report.html

      pfgen-fast report result -o report

      pfgen-fast report result/openai --markdown

      pfgen-fast report scores.csv -o scores.html
    """

    paths: options.Paths
    suite: options.SuiteOption = None
    output: Path | None = Option(
        None,
        "-o",
        help="Write a page such as report.html, or a directory with a page and its data.",
        metavar="FILE.html|FOLDER",
    )
    markdown: bool = Option(False, help="Write a README.md next to each result instead, like the published ones.")
    metric: str | None = Option(None, help="Tables: rank by this metric. Default: the first one.", metavar="NAME")
    tables: ScoreTableOptions
    float_sum: options.FloatSumOption = "compensated"
    quiet: Quiet = False

    def __call__(self) -> None:
        from ..report import write_readme, write_report, write_report_folder
        from ..report.sweeps import with_intervals
        from ..runs.checkout import suite_of_all
        from ..runs.leaderboard import find_results, mixed_suites
        from ..runs.result_tables import are_score_tables

        output = self.output
        if (output is None) != self.markdown:
            fail("expected --output FILE.html (or a directory) for a page, or --markdown for README.md files")
        if output is not None:
            check_page(output)
        if are_score_tables(self.paths):
            self.report_table(output)
            return
        self.tables.refuse_with_runs(self.metric)
        results = find_results(self.paths)
        suite = suite_of_all([path.parent for path in results], given_suite(self.suite))
        runs: list[tuple[Path, ReportRun]] = []
        for path in track(results, len(results), "results", quiet=self.quiet):
            try:
                runs.append((path, self.run_of(path, suite)))
            except TrialsError as error:
                warn(str(error))
        exit_if_partial(not runs)
        mixed = mixed_suites(run.result for _, run in runs)
        if mixed and not self.quiet:
            note(mixed)
        if output is None:
            for path, run in track(runs, len(runs), "runs", quiet=self.quiet):
                write_readme(run, suite, path.with_name("README.md"))
        else:
            write = write_report if _is_page(output) else write_report_folder
            write(with_intervals(runs, suite), suite, output, track=partial(track, quiet=self.quiet))
        if not self.quiet:
            written = "a README.md next to each" if output is None else f"{output} ({_size(output) / 1e6:.1f} MB)"
            stdout().print(f"{counted(len(runs), 'run')}: {shown(written)}")
            print_origin(suite)
        exit_if_partial(len(runs) < len(results))

    def report_table(self, output: Path | None) -> None:
        """Writes the page of tables of scores."""
        from ..report.score_page import write_score_report

        if output is None or self.suite or not _is_page(output):
            fail("a table of scores becomes a page in one file: give --output FILE.html, without --markdown or --suite")
        scores = self.tables.read(self.paths, quiet=self.quiet)
        name = ", ".join(Path(path).name for path in self.paths)
        write_score_report(scores, output, metric=self.metric, name=name)
        if not self.quiet:
            stdout().print(f"{counted(len(scores.models), 'model')}: {shown(output)} ({_size(output) / 1e6:.1f} MB)")

    def run_of(self, path: Path, suite: Suite) -> ReportRun:
        """The run of a result, checked."""
        from ..files.reading import file_sha1
        from ..generation.raw_replies import sentence_of
        from ..report import ReportRun
        from ..report.safe_runs import check_questions
        from ..runs.checkout import run_name
        from ..runs.result import read_result

        name, replies, sha1 = run_name(path.parent), sentence_of(path.parent), file_sha1(path)
        link = None
        if self.output is not None:
            page = self.output.resolve()
            link = link_target(path.parent, page.parent if _is_page(self.output) else page)
        result = read_result(path)
        run = ReportRun(
            name, link, result, float_sum=self.float_sum, replies=replies, folder=path.parent, result_hash=sha1
        )
        check_questions(run, suite)
        return run


def _is_page(output: Path) -> bool:
    """Whether the output is a single file."""
    return output.suffix.lower() in (".html", ".htm") and not output.is_dir()


def check_page(output: Path) -> None:
    """Ends the command if a report of this name cannot be written."""
    from ..files.writing import check_folder

    if _is_other_file(output):
        page = output.with_suffix(".html").name
        fail(f"{output}: expected a page, such as {page}, or a directory, not a file of the kind {output.suffix}")
    check_folder(output.parent if _is_page(output) else output)


def _is_other_file(output: Path) -> bool:
    """Whether the name is the name of another kind of file, such as a picture."""
    from mimetypes import MimeTypes  # without the types of the system, which differ

    is_file = MimeTypes().guess_type(output.name)[0] is not None or output.suffix.lower() == ".md"
    return is_file and not (_is_page(output) or output.is_dir())


def _size(output: Path) -> int:
    data = output.glob("data/*-*.js") if output.is_dir() else []
    return sum(path.stat().st_size for path in (output / "index.html" if output.is_dir() else output, *data))
