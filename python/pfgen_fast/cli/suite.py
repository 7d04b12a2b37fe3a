"""`pfgen-fast suite`: suites on this machine, the contents of a suite, its faults, its index; published suites."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import SuiteError
from ..base.table import shortened
from . import options
from .app import Exit, Json, Quiet, caution, counted, counting, fail, note, print_json, print_line, shown, stdout, warn
from .layout import columns, cut, rest
from .parser import Argument, Option
from .suite_line import print_origin, source_or_here, suite_or_here

if TYPE_CHECKING:
    from ..suite.questions import Question

_HELLOBENCH = (
    "not fetched, because no checksums of its files are recorded: clone https://github.com/Quehry/HelloBench at "
    "d403282, and run pfgen-fast checklists import"
)


class SuiteInfo:
    """Describes a suite: questions, reference sets, keyword rules; without a name, lists the suites on this machine.

    The list also names published suites that can be fetched, and the suite of the working directory. To remove a
    fetched suite, delete its directory, which both forms print.

    Examples

      pfgen-fast suite info

      pfgen-fast suite info mini
    """

    suite: str | None = Argument(
        None, help="Directory with Q*.json files, 'mini' or 'pfgen-bench'. Default: all suites.", metavar="[SUITE]"
    )
    as_json: Json = False

    def __call__(self) -> None:
        from ..lab.checklists.suite_files import packaged_suites
        from ..suite.published import origin_of
        from ..suite.suite import Suite

        if self.suite is None:
            _list_suites(as_json=self.as_json)
            return
        if self.suite in packaged_suites() and not Path(self.suite).is_dir():
            fail(f"{self.suite}: a suite of checklists; type: pfgen-fast checklists info {self.suite}")
        loaded = Suite.load(self.suite)
        rows = [_describe(question) for question in loaded]
        origin = None if loaded.folder is None else origin_of(loaded.folder)
        if self.as_json:
            folder = loaded.folder and str(loaded.folder)
            named = {"name": loaded.name, "folder": folder, "metadata_hash": loaded.metadata_hash}
            print_json({**named, "origin": origin, "questions": rows})
            return
        stdout().print(shortened(shown(loaded.name), columns()), style="bold")
        stdout().print(f"{counted(len(loaded), 'question')}, metadata hash {loaded.metadata_hash}")
        stdout().print(f"directory: {shortened(shown(loaded.folder), rest(len('directory: ')))}")
        for line in _origin_lines(origin) if origin else ():
            stdout().print(line)
        for row in rows:
            sets = ", ".join(f"{name} {n} × {length:.0f}" for name, (n, length) in row["sets"].items())
            begin = f"{shown(row['question_id']):5} {counted(row['n_rules'], 'rule'):9}"
            stdout().print(cut(f"{begin} {shown(sets):32} {shown(row['question'])}", columns()))
        stdout().print("sets: name, answers × mean code points", style="dim")


def _list_suites(*, as_json: bool) -> None:
    """Lists the suite of the working directory, and the fetched, published and packaged suites."""
    rows = list(_rows())
    if as_json:
        print_json(rows)
        return
    for row in rows:
        size = f"{row['n_bytes'] / 1e6:,.1f} MB" if row["folder"] else ""
        begin = f"{row['name']:12} {row['kind']:11}{size:>8}  {row['state']}"
        is_outside = row["state"] != "packaged" and row["folder"]
        print_line(begin, f": {shortened(shown(row['folder']), rest(len(begin) + 2))}" if is_outside else "")


def _rows() -> Iterator[dict[str, Any]]:
    from ..lab.checklists.suite_files import PACKAGED as CHECKLISTS
    from ..lab.checklists.suite_files import packaged_suites
    from ..runs.checkout import suite_folder_here
    from ..suite.published import fetched_folder, published_names
    from ..suite.suite_reading import PACKAGED, packaged_names

    with contextlib.suppress(SuiteError):
        yield _row("(here)", "questions", "suite of the working directory", suite_folder_here())
    for name in published_names():
        folder = fetched_folder(name)
        yield _row(name, "questions", "fetched" if folder else f"not fetched: pfgen-fast suite get {name}", folder)
    for name in packaged_names():
        yield _row(name, "questions", "packaged", PACKAGED / name)
    for name in packaged_suites():
        yield _row(name, "checklists", "packaged", CHECKLISTS / name)
    yield _row("hellobench", "checklists", "clone Quehry/HelloBench from GitHub, then import it")


def _row(name: str, kind: str, state: str, folder: Path | None = None) -> dict[str, Any]:
    n_bytes = None if folder is None else sum(path.stat().st_size for path in folder.iterdir())
    return {"name": name, "kind": kind, "state": state, "folder": folder and str(folder), "n_bytes": n_bytes}


def _describe(question: Question) -> dict[str, Any]:
    sets = {name: (len(answers), sum(map(len, answers)) / len(answers)) for name, answers in question.answers.items()}
    return {
        "question_id": question.question_id,
        "question": question.question,
        "category": question.category,
        "n_rules": len(question.keywords),
        "unit": "character" if question.tokenizer is None else question.tokenizer.source["tokenizer"],
        "sets": sets,
    }


class SuiteCheck:
    """Lists all faults of a suite; the exit code is 1 if there are any.

    Also warns of sets with fewer than 100 reference answers, and of answers in an alphabet that are compared by
    characters, and tries each pattern on a few made texts and warns of patterns that take long, such as (a+)+$.

    Example

      pfgen-fast suite check my-suite
    """

    suite: options.SuiteArgument = None
    as_json: Json = False

    def __call__(self) -> None:
        from ..suite.suite import Suite
        from ..suite.suite_reading import find_faults, reference_warnings, slow_patterns

        source = source_or_here(self.suite)
        faults = find_faults(source)
        loaded = None if faults else Suite.load(source)
        n_warnings = 0
        for warning in chain(slow_patterns(loaded or ()), reference_warnings(loaded or ())):
            caution(warning)
            n_warnings += 1
        if self.as_json:
            print_json(faults)
        else:
            warn(*faults)
            counts = [counted(n, noun) for n, noun in ((len(faults), "error"), (n_warnings, "warning")) if n]
            n_questions = f" in {counted(len(loaded), 'question')}" if loaded is not None else ""
            total = f": {' and '.join(counts) or 'no findings'}{n_questions}"
            stdout().print(shortened(shown(source), rest(len(total))) + total)
        if faults:
            raise SystemExit(Exit.NO)


class SuiteCompile:
    """Compiles a suite: writes the index of its references to a file that commands and scorers map into memory.

    Every command does this when it first needs a suite, and keeps the file in the cache directory ($PFGEN_FAST_CACHE,
    or pfgen-fast in the user's cache directory). Files there may be deleted at any time. A directory that others may
    write to is not used.

    Examples

      pfgen-fast suite compile mini

      pfgen-fast suite compile my-suite -o my-suite.pfgen
    """

    suite: options.SuiteArgument = None
    profile: options.ProfileOption = "leaderboard"
    output: Path | None = Option(None, "-o", help="Write to this file instead of the cache.")
    threads: options.Threads = None
    as_json: Json = False

    def __call__(self) -> None:
        from ..base.native import default_threads
        from ..scoring.index import index_of, save_index
        from ..suite.compiled import cached_path

        loaded = suite_or_here(self.suite)
        threads, path = self.threads or default_threads(), self.output
        begin = time.perf_counter()
        if path is None:
            path = cached_path(loaded.metadata_hash, self.profile)
            compiled = index_of(loaded, self.profile, threads)
        else:
            compiled = save_index(loaded, self.profile, threads, path)
        n_states, n_bytes = sum(part.n_states for part in compiled), sum(part.n_bytes for part in compiled)
        seconds = time.perf_counter() - begin
        where = path if path is not None and path.exists() else None
        if self.as_json:
            print_json({"path": where and str(where), "n_states": n_states, "n_bytes": n_bytes, "seconds": seconds})
            return
        stdout().print(f"{n_states:,} states, {n_bytes / 1e6:,.1f} MB ({seconds:.2f} s)")
        if where:
            stdout().print(f"index: {shortened(shown(where), rest(len('index: ')))}")
        else:
            stdout().print("index: not kept, because no file can be written in the cache directory")
        print_origin(loaded)


class SuiteGet:
    """Fetches a published suite into the user's data directory, where --suite NAME finds it.

    Every file is checked by its recorded size and SHA-256. If the command is stopped, run it again to continue.
    Suites are kept in $PFGEN_FAST_HOME, by default in pfgen-fast in the user's data directory. The environment names
    proxies (HTTPS_PROXY).

    Examples

      pfgen-fast suite get pfgen-bench

      pfgen-fast suite get pfgen-bench --from checkouts/pfgen-bench
    """

    name: str = Argument(help="Name of the suite: pfgen-bench.")
    source: str | None = Option(
        None,
        "--from",
        help="Take the files from a checkout, a fetched suite, or the base address of a mirror.",
        metavar="DIR|URL",
    )
    output: Path | None = Option(None, "-o", help="Write to this new directory instead.", metavar="DIR")
    quiet: Quiet = False

    def __call__(self) -> None:
        from ..suite.fetching import get_suite

        if self.name == "hellobench":
            raise SuiteError(f"hellobench: {_HELLOBENCH}")
        with counting("files", quiet=self.quiet) as count:
            got = get_suite(self.name, source=self.source, output=self.output, on_file=count)
        if got.missing:
            note(f"the source lacks files that no score depends on: {', '.join(got.missing)}")
        if self.quiet:
            return
        fetched = f"{counted(got.n_fetched, 'file')} fetched" if got.n_fetched else "already there"
        print_line((shown(got.suite.name), "bold"), f": {fetched}: {shown(got.folder)}")
        if got.n_fetched:
            for line in _origin_lines(got.suite.origin):
                print_line(line)
        print_line(f"use it: --suite {shown(got.suite.name if self.output is None else self.output)}")


def _origin_lines(origin: dict[str, Any]) -> list[str]:
    """Where a fetched suite is from, and its licence, for the terminal."""
    return [
        f"from {shown(origin.get('repository'))}, revision {shown(origin.get('commit'))} (every file checked)",
        f"licence: {shown(origin.get('licence'))}",
    ]
