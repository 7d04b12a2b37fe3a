"""`pfgen-fast report`: a page to explore runs, in a file or served; README.md files, or results for the Hub."""

from __future__ import annotations

import contextlib
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.errors import TrialsError
from ...base.untrusted_text import counted
from .. import options
from ..app import Quiet, exit_if_partial, fail, note, print_line, shown, track, warn
from ..parser import Option, option_group, refuse_others
from ..suite_line import given_suite, print_origin

if TYPE_CHECKING:
    from ...report import ReportRun
    from ...report.site import Site
    from ...suite.suite import Suite


@option_group
class Report:
    """Creates a page of runs or of a table of scores, or a site of all that directories hold.

    The page is a single file of at most 12 MB and needs no network. To fit this size, long answers are cut. A directory
    holds whole answers, and replaces only an earlier report. The command reads the result.json files that 'pfgen-fast
    score' wrote. Results that cannot be reported are listed and left out; the exit code is then 3.

    With --serve or --bundle, the paths become a site: runs, tables of scores, judged checklists with their suite, the
    progress of annotators, and finished pages of other commands, with a start page and one navigation. --serve shows it
    on this machine until Ctrl-C, and an open page reloads when something changes; --bundle writes files to publish.

    With --eval-results, the results of a model's runs become a file of .eval_results in its repository on the Hub.
    Tables of scores become a page without answers.

    Examples

      pfgen-fast report result -o report.html
      pfgen-fast report result -o report
      pfgen-fast report result --serve --open
      pfgen-fast report result discernment runs hello -o site --bundle
      pfgen-fast report result/openai --markdown
      pfgen-fast report scores.csv -o scores.html
      pfgen-fast report result/our/model/5e1e9f4 --eval-results model/.eval_results/pfgen.yaml --dataset our/benchmark
    """

    paths: options.Paths
    suite: options.SuiteOfRuns = None
    output: Path | None = Option(
        None, "Write a page, or a directory with a page and its data.", "-o", metavar="FILE.html|FOLDER"
    )
    markdown: bool = Option(False, "Write a README.md next to each result instead, like the published ones.")
    bundle: bool = Option(False, "With --output: write the site of all that the paths hold into this directory.")
    serve: bool = Option(False, "Serve this site on this machine instead, and show results as they change.")
    port: int = Option(0, "With --serve: set the port on 127.0.0.1; 0 takes a free port.", min=0, max=65535)
    title: str | None = Option(None, "With --bundle or --serve: set the title of the start page.", metavar="TEXT")
    open_browser: bool = Option(False, "With --serve: open the page in the browser.", "--open")
    eval_results: Path | None = Option(
        None, "Write the results of a model for the Hub instead, into its .eval_results.", metavar="FILE.yaml"
    )
    dataset: str | None = Option(
        None, "With --eval-results: name the benchmark's dataset on the Hub.", metavar="ORG/NAME[/TASK]"
    )
    metric: options.MetricOfTable = None
    tables: options.ItemScoreOptions
    can_try: bool = Option(
        False, "Let pages of runs score other answers, as --serve does with a cached index.", "--try", for_input="runs"
    )
    quiet: Quiet = False

    def __call__(self) -> None:
        from ...report.eval_results import write_eval_results
        from ...report.pages import PAGE, check_output, is_one_file
        from ...runs.checkout import suite_of_all
        from ...runs.leaderboard import find_results
        from ...runs.result_tables import are_score_tables
        from ...runs.trials import find_runs

        output = self.output
        if (output is not None) + self.markdown + self.serve + (self.eval_results is not None) != 1:
            fail("expected one of --output FILE.html (or a directory), --serve, --markdown and --eval-results")
        if (self.port or self.open_browser) and not self.serve:
            fail("--port and --open: expected --serve")
        if self.title is not None and not (self.bundle or self.serve):
            fail("--title: expected --bundle or --serve")
        if self.can_try and not (output or self.serve):
            fail("--try: expected a page (--output or --serve)")
        if self.bundle and (output is None or is_one_file(output)):
            fail("--bundle: expected --output with a directory")
        if (self.dataset is None) != (self.eval_results is None):
            fail("--eval-results FILE.yaml and --dataset ORG/NAME: expected both")
        if output is not None:
            check_output(output)
        if self.eval_results is not None:
            runs = find_runs(self.paths)
            write_eval_results(runs, self.eval_results, str(self.dataset), suite=given_suite(self.suite))
            self._print_written(counted(len(runs), "run"), self.eval_results)
        elif self.serve:
            self._serve()
        elif self.bundle:
            site = self._site(Path(str(output)))
            try:
                n_pages = site.write(partial(track, quiet=self.quiet))
            finally:
                warn(*site.problems)
            self._print_written(counted(n_pages, "page"), site.folder / PAGE)
            exit_if_partial(site.problems)
        elif are_score_tables(self.paths):
            self._report_tables()
        else:
            refuse_others(self, "runs")
            results = find_results(self.paths)
            self._report_runs(results, suite_of_all([path.parent for path in results], given_suite(self.suite)))

    def _report_runs(self, results: list[Path], suite: Suite) -> None:
        from ...report import read_run, write_readme, write_report
        from ...report.pages import is_one_file
        from ...report.run_page import with_intervals
        from ...runs.leaderboard import mixed_suites

        output = self.output
        is_page, page = output is not None and is_one_file(output), output and output.resolve()
        runs: list[tuple[Path, ReportRun]] = []
        for path in track(results, len(results), "results", quiet=self.quiet):
            try:
                runs.append((path, read_run(path, suite, page_folder=page.parent if page and is_page else page)))
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
            tracked = partial(track, quiet=self.quiet)
            write_report(with_intervals(runs, suite), suite, output, track=tracked, can_try=self.can_try)
        self._print_written(counted(len(runs), "run"), output or "a README.md next to each")
        if not self.quiet:
            print_origin(suite)
        exit_if_partial(len(runs) < len(results))

    def _report_tables(self) -> None:
        from ...report.pages import is_one_file
        from ...report.score_page import write_score_report

        refuse_others(self, "tables")
        if self.output is None or not is_one_file(self.output):
            fail("a table of scores becomes a page in one file: expected --output FILE.html")
        scores = self.tables.read(self.paths, self.metric, quiet=self.quiet)
        name = ", ".join(Path(path).name for path in self.paths)
        write_score_report(scores, self.output, metric=self.metric, name=name)
        self._print_written(counted(len(scores.models), "model"), self.output)

    def _print_written(self, what: str, place: object) -> None:
        if not self.quiet:
            print_line(f"{what}: {shown(place)}")

    def _site(self, folder: Path, *, is_live: bool = False) -> Site:
        from ...report.site import Site
        from ...runs.checkout import suite_of

        suite = given_suite(self.suite)
        return Site(
            self.paths,
            folder,
            on_problem=warn if is_live else lambda problem: None,  # those of a bundle are named together
            suite_of=lambda result: suite_of(result.parent, suite),
            read_scores=lambda paths: self.tables.read(paths, self.metric, quiet=self.quiet),
            metric=self.metric,
            title=self.title,
            is_live=is_live,
            can_try=self.can_try,
        )

    def _serve(self) -> None:
        """Serves the site on the loopback until Ctrl-C, and follows what it shows."""
        from ...report.site_server import SiteServer

        with (
            contextlib.suppress(KeyboardInterrupt),
            tempfile.TemporaryDirectory(prefix="pfgen-report-") as folder,
            SiteServer(Path(folder), self.port) as server,
        ):
            site = self._site(server.folder, is_live=True)
            what = site.write_waiting()
            with server.running():
                print_line(f"{shown(server.address)} shows {what}; Ctrl-C ends it")
                if self.open_browser:
                    import webbrowser

                    webbrowser.open(server.address)
                site.write(partial(track, quiet=self.quiet))
                while server.asked.wait():
                    server.asked.clear()
                    site.write_if_changed()
