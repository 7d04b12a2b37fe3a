"""`pfgen-fast suite`: building a suite, its index, and suggestions of keyword rules."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.table import Column, Table
from .. import options
from ..app import (
    Exit,
    Json,
    Quiet,
    caution,
    counting,
    exit_if_partial,
    fail,
    fitted,
    note,
    print_json,
    print_line,
    print_table,
    shown,
    warn,
)
from ..parser import Argument, Option
from ..suite_line import print_origin, suite_or_here

if TYPE_CHECKING:
    from ...build.pipeline import Built


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
    output: Path | None = Option(None, "Write to this file instead of the cache.", "-o")
    threads: options.Threads = None
    as_json: Json = False

    def __call__(self) -> None:
        from ...base.native import default_threads
        from ...scoring.index import index_of, save_index
        from ...suite.compiled import cached_path

        loaded, threads = suite_or_here(self.suite), self.threads or default_threads()
        begin = time.perf_counter()
        if self.output is None:
            path = cached_path(loaded.metadata_hash, self.profile)
            compiled = index_of(loaded, self.profile, threads)
        else:
            path = self.output
            compiled = save_index(loaded, self.profile, threads, path)
        seconds = time.perf_counter() - begin
        n_states, n_bytes = sum(part.n_states for part in compiled), sum(part.n_bytes for part in compiled)
        where = path if path is not None and path.exists() else None
        if self.as_json:
            print_json({"path": where and str(where), "n_states": n_states, "n_bytes": n_bytes, "seconds": seconds})
            return
        print_line(f"{n_states:,} states, {n_bytes / 1e6:,.1f} MB ({seconds:.2f} s)")
        nowhere = "index: not kept, because no file can be written in the cache directory"
        print_line(fitted("index: ", where) if where else nowhere)
        print_origin(loaded)


class SuiteBuild:
    """Builds a suite from raw answers: normalises and filters them, and selects the reference answers.

    Every stage stores in the work directory the answers it kept, the answers it removed, and the reasons. Stages that
    are done are not repeated: the command may be stopped at any moment, and running it again continues.

    Examples

      pfgen-fast suite build my-suite.toml
      pfgen-fast suite build my-suite.toml --stage filter
    """

    config: Path = Argument(
        ..., "TOML file with questions, raw answers and the settings of each stage.", metavar="CONFIG.toml"
    )
    stage: str | None = Option(None, "Run only this stage: raw, normalise, filter, frequency, length or select.")
    until_stable: bool = Option(False, "Repeat the frequency filter until it removes nothing.")
    threads: options.Threads = None
    force: bool = Option(False, "Run finished stages again.", "-f")
    no_report: bool = Option(False, "Do not write the report.")
    quiet: Quiet = False
    as_json: Json = False

    def __call__(self) -> None:
        from ...build.pipeline import records
        from ...build.stages import NAMES
        from ...suite.suite import Suite
        from ...suite.suite_reading import reference_warnings

        try:
            with counting("stages", quiet=self.quiet or self.as_json) as count:
                built, report = self.build(count)
        except KeyboardInterrupt:
            fail("stopped; finished stages are kept; run the same command again to continue", Exit.STOPPED)
        suite = built.config.suite if built.is_written else None
        note(*built.notes)
        if suite and not self.quiet:
            caution(*reference_warnings(Suite.load(suite)))
        warn(*built.problems)
        left = [{stage: record["left"]["n"] for stage, record in records(branch)} for branch in built.branches]
        if self.as_json:
            print_json(
                {
                    "suite": suite and str(suite),
                    "report": report and str(report),
                    "n_stages_run": built.n_run,
                    "problems": list(built.problems),
                    "notes": list(built.notes),
                    "sets": [
                        {"question_id": branch.asked.question_id, "set": branch.set_name, "left": numbers}
                        for branch, numbers in zip(built.branches, left, strict=True)
                    ],
                }
            )
        elif not self.quiet:
            names = [f"{branch.asked.question_id} {branch.set_name}" for branch in built.branches]
            rows = [(name, *map(numbers.get, NAMES)) for name, numbers in zip(names, left, strict=True)]
            print_table(Table([Column("set", "answers left"), *map(Column, NAMES)], rows))
            for what, path in (("suite", suite), ("report", report)):
                if path:
                    print_line(f"{what}: {shown(path)}")
        exit_if_partial(built.problems)

    def build(self, count: Callable[..., None]) -> tuple[Built, Path | None]:
        """Builds the suite and writes the report, if there is a suite to report on."""
        from ...build.build_config import read_config, repeating
        from ...build.pipeline import build_suite
        from ...build.stages import NAMES
        from ...report.building import write_building_report

        config = read_config(self.config)
        if self.until_stable:
            config = repeating(config)
        built = build_suite(config, stage=self.stage, threads=self.threads, force=self.force, on_step=count)
        if self.no_report or not built.is_written:
            return built, None
        n_stages = len(built.branches) * len(NAMES)
        return built, write_building_report(
            built, threads=self.threads, on_branch=lambda branch: count(n_stages, n_stages, f"report: {branch.name}")
        )


class SuiteKeywords:
    """Suggests keyword rules: n-grams in a question's reference answers that the answers to other questions lack.

    The suggestions are a draft; a human decides what an answer must contain. --json adds the rules for the question
    file.

    Example

      pfgen-fast suite keywords mini Q02
    """

    suite: str = Argument(..., "Directory with Q*.json files, or 'mini'.")
    question: str = Argument(..., "ID or text of a question.")
    number: int = Option(20, "Limit the number of suggestions.", "-n", min=1)
    min_share: float = Option(0.1, "Suggest n-grams in at least this share of the question's reference answers.")
    threads: options.Threads = None
    as_json: Json = False

    def __call__(self) -> None:
        from ...build.selection import suggest_keywords
        from ...suite.suite import Suite

        if not 0 < self.min_share <= 1:
            fail(f"--min-share: expected a number above 0 and up to 1, not {self.min_share:g}")
        suggestions = suggest_keywords(
            Suite.load(self.suite), self.question, n=self.number, min_share=self.min_share, threads=self.threads
        )
        table = Table.of_records(
            [
                (Column("rule", view="files"), lambda row: row.rule),
                (Column("share", "here", form=lambda share: f"{share:.1%}"), lambda row: row.share),
                (Column("elsewhere", form=lambda share: f"{share:.2%}"), lambda row: row.share_elsewhere),
                (Column("log_odds", "log-odds", digits=1), lambda row: row.log_odds),
                (Column("ngram", "n-gram", view="readers"), lambda row: row.ngram),
            ],
            suggestions,
        )
        if self.as_json:
            print_json(table.to_dicts())
            return
        print_table(table)
        print_line(("here, elsewhere: share of the reference answers that contain it", "dim"))
