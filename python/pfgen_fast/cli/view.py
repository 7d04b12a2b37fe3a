"""`pfgen-fast view`: serves the report page on the loopback, and follows the results."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from typer import Option

from . import options
from .app import counted, print_line, shown, track, warn
from .suite_line import given_suite

if TYPE_CHECKING:
    from ..report.html import Track
    from ..report.live import LiveReport

T = TypeVar("T")


class _View:
    """Serves the report page on this machine, and shows results as they change.

    The page is that of 'report', with whole answers. It is served on 127.0.0.1 only, and an open page reloads
    when a result.json below the paths has been added, replaced or removed. Ctrl-C ends it.

    Examples

      pfgen-fast view result --open

      pfgen-fast view result/openai --port 8000
    """

    paths: options.Paths
    suite: options.SuiteOption = None
    port: int = Option(0, min=0, max=65535, help="Set the port on 127.0.0.1; 0 takes a free port.")
    open_browser: bool = Option(False, "--open", help="Open the page in the browser.")
    float_sum: options.FloatSumOption = "compensated"

    def __call__(self) -> None:
        from ..report.live import LiveReport, ReportServer
        from ..runs.checkout import suite_of_all
        from ..runs.leaderboard import find_results

        results = find_results(self.paths)
        of_runs = suite_of_all([path.parent for path in results], given_suite(self.suite))
        with (
            contextlib.suppress(KeyboardInterrupt),
            tempfile.TemporaryDirectory(prefix="pfgen-view-") as folder,
            ReportServer(Path(folder), self.port) as server,
        ):
            live = LiveReport(
                self.paths, of_runs, server.folder, lambda problem: warn(str(problem)), float_sum=self.float_sum
            )
            live.write_waiting()
            with server.running():
                print_line(f"{shown(server.address)} shows {counted(len(results), 'result')}; Ctrl-C ends it")
                if self.open_browser:
                    import webbrowser

                    webbrowser.open(server.address)
                live.write(self._tracked(live))
                while server.asked.wait():
                    server.asked.clear()
                    live.write_if_changed()

    def _tracked(self, live: LiveReport) -> Track[Any]:
        """Shows progress on the terminal, and on the page that waits for the report."""

        def tracked(items: Iterable[T], total: int, what: str) -> Iterator[T]:
            last = time.monotonic()
            for done, item in enumerate(track(items, total, what), start=1):
                if time.monotonic() > last + 1:
                    live.write_waiting(f"{done} of {total} {what}")
                    last = time.monotonic()
                yield item

        return tracked
