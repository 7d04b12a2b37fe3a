"""`pfgen-fast suite`: suites on this machine, the contents and faults of a suite."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.errors import SuiteError
from ...base.table import Column, Table
from ...base.untrusted_text import counted
from .. import app, options
from ..parser import Argument
from ..suite_line import source_or_here
from .sharing import print_source

if TYPE_CHECKING:
    from ...suite.questions import Question


class SuiteInfo:
    """Describes a suite: questions, reference sets, keyword rules; without a name, lists the suites on this machine.

    The list also names published suites that can be fetched, and the suite of the working directory. To remove a
    fetched or added suite, delete its directory, which both forms print.

    Examples

      pfgen-fast suite info
      pfgen-fast suite info mini
    """

    suite: str | None = Argument(
        None, "Directory with Q*.json files, 'mini' or 'pfgen-bench'. Default: all suites.", metavar="[SUITE]"
    )
    as_json: app.Json = False

    def __call__(self) -> None:
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
        questions = list(map(_describe, loaded))
        origin = None if loaded.folder is None else origin_of(loaded.folder)
        if self.as_json:
            folder = loaded.folder and str(loaded.folder)
            named = {"name": loaded.name, "folder": folder, "metadata_hash": loaded.metadata_hash}
            app.print_json({**named, "origin": origin, "questions": questions})
            return
        app.print_line((app.fitted("", loaded.name), "bold"))
        app.print_line(f"{counted(len(loaded), 'question')}, metadata hash {loaded.metadata_hash}")
        app.print_line(app.fitted("directory: ", loaded.folder))
        print_source(origin or {})
        lengths = dict.fromkeys(
            f"target {question.target_shown}, limit {question.lengths.limit:,}" for question in loaded
        )
        app.print_line(app.cut("; ".join(lengths), app.rest(0)))
        rows = [
            (
                question["question_id"],
                question["n_rules"],
                ", ".join(f"{name} {n} × {length:.0f}" for name, (n, length) in question["sets"].items()),
                question["question"],
            )
            for question in questions
        ]
        app.print_table(Table(list(map(Column, ("id", "rules", "sets", "question"))), rows))
        app.print_line(("sets: name, answers × mean code points", "dim"))


def _suites() -> Table:
    """The suite of the working directory, and the fetched, published and packaged suites."""
    from ...lab.checklists.suite_files import PACKAGED as CHECKLISTS
    from ...lab.checklists.suite_files import packaged_suites
    from ...runs.checkout import suite_folder_here
    from ...suite.published import fetched_folder, fetched_names, published_names, suites_folder
    from ...suite.suite_reading import PACKAGED, packaged_names

    suites: list[tuple[str, str, str, Path | None]] = []
    with contextlib.suppress(SuiteError):
        suites.append(("(here)", "questions", "suite of the working directory", suite_folder_here()))
    for name in dict.fromkeys((*published_names(), *fetched_names())):
        folder = fetched_folder(name)
        if name in published_names():
            state = "fetched" if folder else f"not fetched: pfgen-fast suite get {name}"
        else:
            state = "added" if folder else f"added, but the name means the directory {name} here"
            folder = suites_folder() / name
        suites.append((name, "questions", state, folder))
    suites += [(name, "questions", "packaged", PACKAGED / name) for name in packaged_names()]
    suites += [(name, "checklists", "packaged", CHECKLISTS / name) for name in packaged_suites()]
    suites.append(("hellobench", "checklists", "clone Quehry/HelloBench from GitHub, then import it", None))
    rows: list[list[Any]] = []
    for name, kind, state, folder in suites:
        n_bytes = None if folder is None else sum(path.stat().st_size for path in folder.iterdir())
        is_outside = folder is not None and state != "packaged"
        rows.append([name, kind, n_bytes, state, folder and str(folder), f"{state}: {folder}" if is_outside else state])
    size = Column("n_bytes", "size", form=app.size_text)
    where = Column("where", "state", form=app.shown, view="readers")
    files = [Column("state", view="files"), Column("folder", view="files")]
    return Table([Column("name"), Column("kind"), size, *files, where], rows)


def _describe(question: Question) -> dict[str, Any]:
    sets = {name: (len(answers), sum(map(len, answers)) / len(answers)) for name, answers in question.answers.items()}
    return {
        "question_id": question.question_id,
        "question": question.question,
        "category": question.category,
        "n_rules": len(question.keywords),
        "unit": "character" if question.tokenizer is None else question.tokenizer.source["tokenizer"],
        "target": question.lengths.target,
        "limit": question.lengths.limit,
        "sets": sets,
    }


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
        from ...suite.suite import Suite
        from ...suite.suite_reading import find_faults, slow_patterns

        source = source_or_here(self.suite)
        faults = find_faults(source)
        loaded = None if faults else Suite.load(source)
        slow = list(slow_patterns(loaded or ()))
        held = [] if loaded is None or slow else hold_out(loaded, threads=self.threads)
        warnings = slow if loaded is None else [*slow, *suite_warnings(loaded, held)]
        app.caution(*warnings)
        if self.as_json:
            table = held_out_table(held).to_dicts()
            app.print_json({"faults": faults, "warnings": warnings, "held_out": table})
        else:
            app.warn(*faults)
            if held:
                app.print_table(held_out_table(held))
                if loaded is not None and len(held) < len(loaded):
                    app.print_line((f"mean scores of {len(held):,} of {len(loaded):,} questions", "dim"))
            counts = [counted(n, noun) for n, noun in ((len(faults), "error"), (len(warnings), "warning")) if n]
            n_questions = "" if loaded is None else f" in {counted(len(loaded), 'question')}"
            app.print_line(app.fitted("", source, f": {' and '.join(counts) or 'no findings'}{n_questions}"))
        if faults:
            raise SystemExit(app.Exit.NO)
