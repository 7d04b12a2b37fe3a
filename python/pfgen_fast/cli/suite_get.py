"""`pfgen-fast suite get`, `list` and `remove`: published suites on this machine, and the packaged ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer import Argument, Option

from .app import Json, Quiet, counted, counting, note, print_json, print_line, shown
from .layout import rest, shortened

_HELLOBENCH = (
    "not fetched, because no checksums of its files are recorded: clone https://github.com/Quehry/HelloBench at "
    "d403282, and run pfgen-fast checklists import"
)


class _Get:
    """Fetches a published suite into the user's data directory, where --suite NAME finds it.

    Every file is checked by its recorded size and SHA-256. If the command is stopped, run it again to continue.
    Suites are kept in $PFGEN_FAST_HOME, by default in pfgen-fast in the user's data directory. The environment names
    proxies (HTTPS_PROXY).

    Examples

      pfgen-fast suite get pfgen-bench

      pfgen-fast suite get pfgen-bench --from pfgen-bench-main.zip
    """

    name: str = Argument(help="Name of the suite: pfgen-bench.")
    source: str | None = Option(
        None,
        "--from",
        help="Take the files from a checkout, a tar or zip file of a checkout, or the base address of a mirror.",
        metavar="DIR|ARCHIVE|URL",
    )
    revision: str | None = Option(
        None,
        help="Take another commit, tag or branch, whose files cannot be checked; its suite is named NAME@REVISION.",
    )
    output: Path | None = Option(None, "-o", help="Write to this new directory instead.", metavar="DIR")
    quiet: Quiet = False

    def __call__(self) -> None:
        from ..errors import SuiteError
        from ..suite.getting import get_suite

        if self.name == "hellobench":
            raise SuiteError(f"hellobench: {_HELLOBENCH}")
        with counting("files", quiet=self.quiet) as count:
            got = get_suite(self.name, source=self.source, revision=self.revision, output=self.output, on_file=count)
        if not got.suite.is_verified:
            note(f"no checksums are recorded for {got.suite.commit}, so the files were not checked")
        if got.missing:
            note(f"the source lacks files that no score depends on: {', '.join(got.missing)}")
        if self.quiet:
            return
        fetched = f"{counted(got.n_fetched, 'file')} fetched" if got.n_fetched else "already there"
        print_line((shown(got.suite.name), "bold"), f": {fetched}: {shown(got.folder)}")
        if got.n_fetched:
            for line in origin_lines(got.suite.origin):
                print_line(line)
        print_line(f"use it: --suite {shown(got.suite.name if self.output is None else self.output)}")


def origin_lines(origin: dict[str, Any]) -> list[str]:
    """Where a fetched suite is from, and its licence, for the terminal."""
    checked = "every file checked" if origin.get("verified") is True else "not checked: no checksums are recorded"
    return [
        f"from {shown(origin.get('repository'))}, revision {shown(origin.get('commit'))} ({checked})",
        f"licence: {shown(origin.get('licence'))}",
    ]


class _List:
    """Lists the packaged, fetched and published suites, with their sizes.

    Example

      pfgen-fast suite list
    """

    as_json: Json = False

    def __call__(self) -> None:
        rows = list(_rows())
        if self.as_json:
            print_json(rows)
            return
        for row in rows:
            size = f"{row['n_bytes'] / 1e6:,.1f} MB" if row["folder"] else ""
            begin = f"{row['name']:12} {row['kind']:11}{size:>8}  {row['state']}"
            is_fetched = row["state"] == "fetched"
            print_line(begin, f": {shortened(shown(row['folder']), rest(len(begin) + 2))}" if is_fetched else "")


def _rows() -> Iterator[dict[str, Any]]:
    from ..checklists.suite_files import PACKAGED as CHECKLISTS
    from ..checklists.suite_files import packaged_suites
    from ..suite.published import fetched_folder, fetched_names, published_names
    from ..suite.reading import PACKAGED, packaged_names

    for name in sorted({*published_names(), *fetched_names()}):
        folder = fetched_folder(name)
        yield _row(name, "questions", "fetched" if folder else f"not fetched: pfgen-fast suite get {name}", folder)
    for name in packaged_names():
        yield _row(name, "questions", "packaged", PACKAGED / name)
    for name in packaged_suites():
        yield _row(name, "checklists", "packaged", CHECKLISTS / name)
    yield _row("hellobench", "checklists", _HELLOBENCH)


def _row(name: str, kind: str, state: str, folder: Path | None = None) -> dict[str, Any]:
    n_bytes = None if folder is None else sum(path.stat().st_size for path in folder.iterdir())
    return {"name": name, "kind": kind, "state": state, "folder": folder and str(folder), "n_bytes": n_bytes}


class _Remove:
    """Removes a fetched suite, or the files that an interrupted `suite get` left.

    Example

      pfgen-fast suite remove pfgen-bench
    """

    name: str = Argument(help="Name of a fetched suite.")

    def __call__(self) -> None:
        from ..suite.getting import remove_suite

        print_line(f"removed: {shown(remove_suite(self.name))}")
