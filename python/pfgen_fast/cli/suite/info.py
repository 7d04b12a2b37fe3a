"""`pfgen-fast suite`: contents and faults of a suite; suites on this machine and those of others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.table import Column, Table
from ...base.untrusted_text import counted
from .. import app, options
from ..parser import Argument, Option

if TYPE_CHECKING:
    from ...suite.questions import Question


class SuiteInfo:
    """Describes a suite: questions, reference sets, keyword rules; without a name, lists the suites on this machine.

    The list also names published suites that can be fetched. To remove a fetched or added suite, delete its directory,
    which both forms print.

    Examples

      pfgen-fast suite info
      pfgen-fast suite info mini
    """

    suite: str | None = Argument(
        None, "Directory with Q*.json files, 'mini' or 'pfgen-bench'. Default: all suites.", metavar="[SUITE]"
    )
    as_json: app.Json = False

    def __call__(self) -> None:
        from ...build.answer_fit import unit_name
        from ...lab.checklists.suite_files import packaged_suites
        from ...suite.published import origin_of
        from ...suite.suite import Suite

        if self.suite is None:
            table = _suites()
            if self.as_json:
                app.print_json(table.to_dicts())
            else:
                app.print_table(table)
            return
        if self.suite in packaged_suites() and not Path(self.suite).is_dir():
            app.fail(f"{self.suite}: a suite of checklists; type: pfgen-fast checklists info {self.suite}")
        loaded = Suite.load(self.suite)
        origin = None if loaded.folder is None else origin_of(loaded.folder)
        table = Table.of_records(
            [
                (Column("question_id", "id"), lambda question: question.question_id),
                (Column("n_rules", "rules"), lambda question: len(question.keywords)),
                (Column("sets", "answers × mean code points", form=_sets_text, is_text=True), _sets),
                (Column("unit"), lambda question: unit_name(question.tokenizer)),
                (Column("target"), lambda question: question.lengths.target),
                (Column("limit"), lambda question: question.lengths.limit),
                (Column("category", view="files"), lambda question: question.category),
                (Column("question"), lambda question: question.question),
            ],
            loaded,
        )
        if self.as_json:
            folder = loaded.folder and str(loaded.folder)
            about = {"name": loaded.name, "folder": folder, "metadata_hash": loaded.metadata_hash, "origin": origin}
            app.print_json({**about, "questions": table.to_dicts()})
            return
        app.print_line((app.fitted("", loaded.name), "bold"))
        app.print_line(f"{counted(len(loaded), 'question')}, metadata hash {loaded.metadata_hash}")
        app.print_line(app.fitted("directory: ", loaded.folder))
        _print_origin(origin or {})
        app.print_table(table)


def _sets(question: Question) -> dict[str, tuple[int, float]]:
    """The number of answers of each set, and their mean length."""
    return {name: (len(texts), sum(map(len, texts)) / len(texts)) for name, texts in question.answers.items()}


def _sets_text(sets: dict[str, tuple[int, float]]) -> str:
    return app.shown(", ".join(f"{name} {n} × {length:.0f}" for name, (n, length) in sets.items()))


def _print_origin(origin: dict[str, Any]) -> None:
    """Prints where a fetched suite is from, and its licence."""
    if origin:
        source, commit = app.shown(origin.get("repository")), app.shown(origin.get("commit"))
        app.print_line(f"from {source}, revision {commit} (every file checked)")
        app.print_line(f"licence: {app.shown(origin.get('licence'))}")


def _suites() -> Table:
    from ...lab.checklists.suite_files import packaged_suites
    from ...suite.published import fetched_names, published_names, suites_folder
    from ...suite.suite_reading import packaged_names

    there, rows = fetched_names(), []
    for name in dict.fromkeys((*published_names(), *there)):
        is_there = name in there
        state = "added" if is_there else f"published: pfgen-fast suite add {name}"
        rows.append((name, "questions", state, str(suites_folder() / name) if is_there else None))
    rows += [(name, "questions", "packaged", None) for name in packaged_names()]
    rows += [(name, "checklists", "packaged", None) for name in packaged_suites()]
    return Table([*map(Column, ("name", "kind", "state")), Column("folder", "directory", form=app.shown)], rows)


class SuiteCheck:
    """Lists all faults of a suite, and warns where its scores would mislead; the exit code is 1 if there are faults.

    Takes out every tenth reference answer, in memory, and shows how the others score them: whole, without their last
    third, in place of an answer to another question, and two joined. Warns of lengths and units that do not fit the
    references, keyword rules that most references fail, near-duplicates, sets with fewer than 100 references, and
    patterns that take long on made texts, such as (a+)+$.

    Example

      pfgen-fast suite check my-suite
    """

    suite: options.SuiteArgument = None
    threads: options.Threads = None
    as_json: app.Json = False

    def __call__(self) -> None:
        from ...build.suite_check import held_out_table, hold_out, suite_warnings
        from ...runs.checkout import suite_folder_here
        from ...suite.suite import Suite
        from ...suite.suite_reading import find_faults, slow_patterns

        source = self.suite or suite_folder_here()
        faults, warnings, table = find_faults(source), [], held_out_table([])
        if not faults:
            suite = Suite.load(source)
            warnings = list(slow_patterns(suite))
            held = [] if warnings else hold_out(suite, threads=self.threads)
            warnings += suite_warnings(suite, held)
            table = held_out_table(held)
        app.caution(*warnings)
        if self.as_json:
            app.print_json({"faults": faults, "warnings": warnings, "held_out": table.to_dicts()})
        else:
            app.warn(*faults)
            if len(table):
                app.print_table(table)
            counts = f"{counted(len(faults), 'error')}, {counted(len(warnings), 'warning')}"
            app.print_line(app.fitted("", source, f": {counts}"))
        if faults:
            raise SystemExit(app.Exit.NO)


class SuiteAdd:
    """Adds a published suite, or a suite of others, to the user's data directory, where --suite NAME finds it.

    Every file is checked: those of a published suite by their recorded size and SHA-256, others by those in the archive
    and as suite check does. A file name or an address may end in #sha256=..., which suite pack prints; the archive is
    then the packed one. Addresses need https; the environment names proxies (HTTPS_PROXY). If the command is stopped,
    run it again to continue. Suites are kept in $PFGEN_FAST_HOME, by default in pfgen-fast in the user's data
    directory.

    Examples

      pfgen-fast suite add pfgen-bench
      pfgen-fast suite add pfgen-bench --from checkouts/pfgen-bench
      pfgen-fast suite add my-suite.zip --name mine
      pfgen-fast suite add https://example.org/my-suite.zip
    """

    source: str = Argument(
        ...,
        "Published suite (pfgen-bench), directory of a suite, archive of suite pack, or its address.",
        metavar="NAME|DIR|FILE|URL",
    )
    mirror: str | None = Option(
        None,
        "Take a published suite from a checkout, a fetched suite, or the base address of a mirror.",
        "--from",
        metavar="DIR|URL",
    )
    name: str | None = Option(None, "Choose the name of the suite. Default: the name in the archive.", metavar="NAME")
    quiet: app.Quiet = False

    def __call__(self) -> None:
        from ...lab.checklists.suite_files import packaged_suites
        from ...suite.fetching import get_suite
        from ...suite.packing import add_suite
        from ...suite.published import published_names

        if self.name is None and (self.mirror or self.source in published_names()):
            with app.counting("files", quiet=self.quiet) as count:
                got = get_suite(self.source, source=self.mirror, on_file=count)
        elif self.mirror:
            app.fail("--name: a published suite keeps its name")
        else:
            got = add_suite(self.source, name=self.name, taken=("hellobench", *packaged_suites()))
        if got.missing:
            app.note(f"the source lacks files that no score depends on: {', '.join(got.missing)}")
        if not self.quiet:
            done = f"{counted(got.n_fetched, 'file')} added" if got.n_fetched else "already there"
            app.print_line((app.shown(got.suite.name), "bold"), f": {done}: {app.shown(got.folder)}")
            _print_origin(got.suite.origin)
            app.print_line(f"use it: --suite {app.shown(got.suite.name)}")


class SuitePack:
    """Packs a suite into an archive with a manifest of hashes, which others add with suite add.

    The licence of the suite is the line 'license:' at the top of its README.md, as in cards of data sets. The bytes of
    the archive depend only on the files of the suite.

    Example

      pfgen-fast suite pack my-suite -o my-suite.zip
    """

    suite: str = Argument(..., "Directory with Q*.json files, or the name of a suite.")
    output: Path = Option(..., "Write to this file, which ends in .zip or .tar.gz.", "-o")
    quiet: app.Quiet = False

    def __call__(self) -> None:
        from ...suite.packing import pack_suite

        sha256 = pack_suite(self.suite, self.output)
        if not self.quiet:
            n_bytes = self.output.stat().st_size
            app.print_line((app.shown(self.output), "bold"), f": {app.size_text(n_bytes)}, SHA-256 {sha256}")
            app.print_line(f"upload it, and send this line: pfgen-fast suite add URL#sha256={sha256}")
