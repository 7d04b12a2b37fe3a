"""`pfgen-fast suite get`, `add` and `pack`: published suites, and suites of others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.errors import SuiteError
from ...base.untrusted_text import counted
from ..app import Quiet, counting, note, print_line, shown, size_text
from ..parser import Argument, Option

if TYPE_CHECKING:
    from ...suite.fetching import FetchedSuite

_HELLOBENCH = (
    "not fetched, because no checksums of its files are recorded: clone https://github.com/Quehry/HelloBench at "
    "d403282, and run pfgen-fast checklists import"
)


def print_source(origin: dict[str, Any]) -> None:
    """Prints where a fetched suite is from, and its licence."""
    if origin:
        source, commit = shown(origin.get("repository")), shown(origin.get("commit"))
        print_line(f"from {source}, revision {commit} (every file checked)")
        print_line(f"licence: {shown(origin.get('licence'))}")


def _print_installed(got: FetchedSuite, verb: str, name: str | Path) -> None:
    done = f"{counted(got.n_fetched, 'file')} {verb}" if got.n_fetched else "already there"
    print_line((shown(got.suite.name), "bold"), f": {done}: {shown(got.folder)}")
    print_source(got.suite.origin if got.n_fetched else {})
    print_line(f"use it: --suite {shown(name)}")


class SuiteGet:
    """Fetches a published suite into the user's data directory, where --suite NAME finds it.

    Every file is checked by its recorded size and SHA-256. If the command is stopped, run it again to continue.
    Suites are kept in $PFGEN_FAST_HOME, by default in pfgen-fast in the user's data directory. The environment names
    proxies (HTTPS_PROXY).

    Examples

      pfgen-fast suite get pfgen-bench
      pfgen-fast suite get pfgen-bench --from checkouts/pfgen-bench
    """

    name: str = Argument(..., "Name of the suite: pfgen-bench.")
    source: str | None = Option(
        None,
        "Take the files from a checkout, a fetched suite, or the base address of a mirror.",
        "--from",
        metavar="DIR|URL",
    )
    output: Path | None = Option(None, "Write to this new directory instead.", "-o", metavar="DIR")
    quiet: Quiet = False

    def __call__(self) -> None:
        from ...suite.fetching import get_suite

        if self.name == "hellobench":
            raise SuiteError(f"hellobench: {_HELLOBENCH}")
        with counting("files", quiet=self.quiet) as count:
            got = get_suite(self.name, source=self.source, output=self.output, on_file=count)
        if got.missing:
            note(f"the source lacks files that no score depends on: {', '.join(got.missing)}")
        if not self.quiet:
            _print_installed(got, "fetched", got.suite.name if self.output is None else self.output)


class SuiteAdd:
    """Adds a suite of others to the user's data directory, where --suite NAME finds it.

    Every file is checked by the size and the SHA-256 in the archive, and the suite as suite check does. A file name
    or an address may end in #sha256=..., which suite pack prints; the archive is then the packed one. Addresses need
    https.

    Examples

      pfgen-fast suite add my-suite.zip --name mine
      pfgen-fast suite add https://example.org/my-suite.zip
    """

    source: str = Argument(
        ..., "Directory of a suite, an archive of suite pack, or its address.", metavar="DIR|FILE|URL"
    )
    name: str | None = Option(None, "Choose the name of the suite. Default: the name in the archive.", metavar="NAME")
    quiet: Quiet = False

    def __call__(self) -> None:
        from ...lab.checklists.suite_files import packaged_suites
        from ...suite.packing import add_suite

        got = add_suite(self.source, name=self.name, taken=("hellobench", *packaged_suites()))
        if not self.quiet:
            _print_installed(got, "added", got.suite.name)


class SuitePack:
    """Packs a suite into an archive with a manifest of hashes, which others add with suite add.

    The licence of the suite is the line 'license:' at the top of its README.md, as in cards of data sets. The bytes of
    the archive depend only on the files of the suite.

    Example

      pfgen-fast suite pack my-suite -o my-suite.zip
    """

    suite: str = Argument(..., "Directory with Q*.json files, or the name of a suite.")
    output: Path = Option(..., "Write to this file, which ends in .zip or .tar.gz.", "-o")
    quiet: Quiet = False

    def __call__(self) -> None:
        from ...suite.packing import pack_suite

        sha256 = pack_suite(self.suite, self.output)
        if not self.quiet:
            n_bytes = self.output.stat().st_size
            print_line((shown(self.output), "bold"), f": {size_text(n_bytes)}, SHA-256 {sha256}")
            print_line(f"upload it, and send this line: pfgen-fast suite add URL#sha256={sha256}")
