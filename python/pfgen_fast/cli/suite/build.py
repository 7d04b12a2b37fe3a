"""`pfgen-fast suite`: building a suite, its index, and suggestions of keyword rules."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.table import Column, Table
from ...base.untrusted_text import counted
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
    size_text,
    warn,
)
from ..parser import Argument, Option
from ..suite_line import print_origin, suite_or_here

if TYPE_CHECKING:
    from ...build.answer_fit import Fit
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
        print_line(f"{n_states:,} states, {size_text(n_bytes)} ({seconds:.2f} s)")
        nowhere = "index: not kept, because no file can be written in the cache directory"
        print_line(fitted("index: ", where) if where else nowhere)
        print_origin(loaded)


class SuiteBuild:
    """Builds a suite from raw answers, or from a table of answers of many models.

    From a config: normalises and filters the answers, and selects the reference answers. Every stage stores in the work
    directory the answers it kept, the answers it removed, and the reasons. Stages that are done are not repeated: the
    command may be stopped at any moment, and running it again continues.

    From a table with columns of questions, answers and models: all answers are references, but those of the families
    to leave out.

    The unit and the lengths that are not given are decided from the answers, and printed with the reason.

    Examples

      pfgen-fast suite build my-suite.toml
      pfgen-fast suite build my-suite.toml --stage filter
      pfgen-fast suite build my-suite.toml --unit words --target 200 --limit 300
      pfgen-fast suite build answers.jsonl -o my-suite --leave-out llama
    """

    source: Path = Argument(
        ...,
        "TOML file with questions, raw answers and the settings of each stage, or a table of answers.",
        metavar="CONFIG.toml|TABLE",
    )
    output: Path | None = Option(None, "Write the suite of a table to this directory.", "-o", metavar="DIR")
    leave_out: list[str] | None = Option(
        None, "Leave out the answers of this family, or of this model if it has no family. May be repeated."
    )
    family: str = Option("family", "Read families from this column of the table.", metavar="COLUMN")
    unit: str | None = Option(
        None,
        "Unit of n-grams and lengths: character, words, whitespace or a tokenizer's .json file. Default: by script.",
    )
    target: int | None = Option(None, "Do not discount answers up to this length, in units. Default: by length.", min=1)
    limit: int | None = Option(None, "Ignore the text past this length. Default: one and a half times --target.", min=2)
    stage: str | None = Option(None, "Run only this stage: raw, normalise, filter, frequency, length or select.")
    until_stable: bool = Option(False, "Repeat the frequency filter until it removes nothing.")
    threads: options.Threads = None
    force: bool = Option(False, "Run finished stages again; for a table, replace any suite in DIR.", "-f")
    no_report: bool = Option(False, "Do not write the report.")
    quiet: Quiet = False
    as_json: Json = False

    def __call__(self) -> None:
        if self.source.suffix != ".toml":
            self._build_from_table()
            return
        if self.output or self.leave_out or self.family != "family":
            fail("-o, --leave-out and --family are for a table of answers; a config names its directory and its files")
        self._build_from_config()

    def _build_from_table(self) -> None:
        from ...build.answer_fit import lengths_of
        from ...build.build_config import read_unit
        from ...build.model_answers import ModelReferences, read_model_answers, write_references

        if self.output is None:
            fail(f"{shown(self.source)}: a table of answers; name the directory of the suite with -o")
        if self.stage or self.until_stable or self.no_report:
            fail("--stage, --until-stable and --no-report are for a config; a table is built in one step")
        references = ModelReferences.of(
            read_model_answers(self.source, family=self.family),
            units=() if self.unit is None else (read_unit(self.unit),),
            lengths=lengths_of(self.target, self.limit),
        )
        suite = references.suite(without=self.leave_out or ())
        write_references(suite, self.output, force=self.force)
        notes = references.notes
        if not self.leave_out:
            own = "a model whose answers are among the references scores too high with this suite; see --leave-out"
            notes = (*notes, own)
        self._tell(references.decisions, notes, self.output)
        questions = _questions_json(references.fits)
        if self.as_json:
            print_json({"suite": str(self.output), "notes": notes, "questions": questions})
        elif not self.quiet:
            sizes = [len(texts) for question in suite for texts in question.answers.values()]
            print_line(f"{counted(len(suite), 'question')}, {min(sizes):,} to {max(sizes):,} references each")
            print_line(f"suite: {shown(self.output)}")

    def _tell(self, decisions: Sequence[str], notes: Sequence[str], suite: Path | None) -> None:
        """Prints what was decided, and the warnings about a suite."""
        from ...build.suite_check import hold_out, suite_warnings
        from ...suite.suite import Suite

        if not self.quiet:
            note(*decisions)
        note(*notes)
        if suite and not self.quiet:
            loaded = Suite.load(suite.absolute())
            caution(*suite_warnings(loaded, hold_out(loaded, threads=self.threads)))

    def _build_from_config(self) -> None:
        from ...build.pipeline import records
        from ...build.stages import NAMES

        try:
            with counting("stages", quiet=self.quiet or self.as_json) as count:
                built, report = self.build(count)
        except KeyboardInterrupt:
            fail("stopped; finished stages are kept; run the same command again to continue", Exit.STOPPED)
        suite = built.config.suite if built.is_written else None
        self._tell(built.decisions, built.notes, suite)
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
                    "questions": _questions_json(built.fits),
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
        from ...build.build_config import read_config
        from ...build.pipeline import build_suite
        from ...build.stages import NAMES
        from ...report.building import write_building_report

        config = read_config(
            self.source, unit=self.unit, target=self.target, limit=self.limit, until_stable=self.until_stable
        )
        built = build_suite(config, stage=self.stage, threads=self.threads, force=self.force, on_step=count)
        if self.no_report or not built.is_written:
            return built, None
        n_stages = len(built.branches) * len(NAMES)
        return built, write_building_report(
            built, threads=self.threads, on_branch=lambda branch: count(n_stages, n_stages, f"report: {branch.name}")
        )


def _questions_json(fits: Mapping[str, Fit]) -> list[dict[str, Any]]:
    """The unit and the lengths of each question, and what decided them."""
    return [
        {
            "question_id": question_id,
            "unit": fit.unit,
            **asdict(fit.lengths),
            "median_length": fit.median,
            "script": fit.script,
        }
        for question_id, fit in fits.items()
    ]


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
