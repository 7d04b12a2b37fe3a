"""`pfgen-fast suite`: building a suite, its index, and suggestions of keyword rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.table import Column, Table
from ...base.untrusted_text import counted
from .. import app, options
from ..parser import Argument, Option
from ..suite_line import print_origin, suite_or_here

if TYPE_CHECKING:
    from ...build.answer_fit import Fit


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
    as_json: app.Json = False

    def __call__(self) -> None:
        from ...base.native import default_threads
        from ...scoring.index import save_index
        from ...suite.compiled import cached_path

        suite = suite_or_here(self.suite)
        path = self.output or cached_path(suite.metadata_hash, self.profile)
        if path is None:
            app.fail("no file can be written in the cache directory; name a file (-o)")
        compiled = save_index(suite, self.profile, self.threads or default_threads(), path)
        n_states, n_bytes = sum(part.n_states for part in compiled), sum(part.n_bytes for part in compiled)
        if self.as_json:
            app.print_json({"path": str(path), "n_states": n_states, "n_bytes": n_bytes})
            return
        app.print_line(app.fitted("index: ", path, f" ({n_states:,} states, {app.size_text(n_bytes)})"))
        print_origin(suite)


class SuiteBuild:
    """Builds a suite from raw answers, or from a table of answers of many models.

    From a config: normalises and filters the answers, and selects the reference answers. Every stage stores in the work
    directory the answers it kept, the answers it removed, and the reasons. Stages that are done are not repeated: the
    command may be stopped at any moment, and running it again continues.

    From a table with columns of questions, answers and models: all answers are references, but those of the families
    to leave out. The unit and the lengths that are not given are decided from the answers, and printed with the reason.

    Examples

      pfgen-fast suite build my-suite.toml
      pfgen-fast suite build my-suite.toml --unit words --target 200 --limit 300
      pfgen-fast suite build answers.jsonl -o my-suite --leave-out llama
    """

    source: Path = Argument(
        ...,
        "TOML file with questions, raw answers and the settings of each stage, or a table of answers.",
        metavar="CONFIG.toml|TABLE",
    )
    output: Path | None = Option(None, "Write the suite of a table to this directory.", "-o", **options.FOLDER)
    leave_out: list[str] | None = Option(
        None, "Leave out the answers of this family, or of this model if it has no family. May be repeated."
    )
    family: str | None = Option(None, "Read families from this column of the table. Default: family.", metavar="COLUMN")
    unit: str | None = Option(
        None,
        "Unit of n-grams and lengths: character, words, whitespace or a tokenizer's .json file. Default: by script.",
    )
    target: int | None = Option(None, "Do not discount answers up to this length, in units. Default: by length.", min=1)
    limit: int | None = Option(None, "Ignore the text past this length. Default: one and a half times --target.", min=2)
    threads: options.Threads = None
    force: bool = Option(False, "Run finished stages again; for a table, replace any suite in FOLDER.", "-f")
    quiet: app.Quiet = False
    as_json: app.Json = False

    def __call__(self) -> None:
        if self.source.suffix != ".toml":
            self._build_from_table()
        elif self.output or self.leave_out or self.family:
            app.fail("-o, --leave-out and --family are for a table of answers; a config names its directory and files")
        else:
            self._build_from_config()

    def _build_from_table(self) -> None:
        from ...build.answer_fit import lengths_of
        from ...build.build_config import read_unit
        from ...build.model_answers import ModelReferences, read_model_answers, write_references

        if self.output is None:
            app.fail(f"{app.shown(self.source)}: a table of answers; name the directory of the suite with -o")
        references = ModelReferences.of(
            read_model_answers(self.source, family=self.family or "family"),
            units=() if self.unit is None else (read_unit(self.unit),),
            lengths=lengths_of(self.target, self.limit),
        )
        suite = references.suite(without=self.leave_out or ())
        write_references(suite, self.output, force=self.force)
        notes = list(references.notes)
        if not self.leave_out:
            notes.append(
                "a model whose answers are among the references scores too high with this suite; see --leave-out"
            )
        self._tell(references.decisions, notes, self.output)
        if self.as_json:
            app.print_json({"suite": str(self.output), "notes": notes, "questions": _questions_json(references.fits)})
        elif not self.quiet:
            sizes = [len(texts) for question in suite for texts in question.answers.values()]
            app.print_line(f"{counted(len(suite), 'question')}, {min(sizes):,} to {max(sizes):,} references each")
            app.print_line(f"suite: {app.shown(self.output)}")

    def _tell(self, decisions: Sequence[str], notes: Sequence[str], suite: Path | None) -> None:
        """Prints what was decided, and the warnings about a suite."""
        from ...build.suite_check import hold_out, suite_warnings
        from ...suite.suite import Suite

        if self.quiet:
            return
        app.note(*decisions, *notes)
        if suite:
            loaded = Suite.load(suite.absolute())
            app.caution(*suite_warnings(loaded, hold_out(loaded, threads=self.threads)))

    def _build_from_config(self) -> None:
        from ...build.build_config import read_config
        from ...build.pipeline import build_suite, records
        from ...build.stages import NAMES
        from ...report.building import write_building_report

        with app.counting("stages", quiet=self.quiet or self.as_json) as count:
            config = read_config(self.source, unit=self.unit, target=self.target, limit=self.limit)
            built = build_suite(config, threads=self.threads, force=self.force, on_step=count)
            report = write_building_report(built, threads=self.threads) if built.is_written else None
        suite = built.config.suite if built.is_written else None
        self._tell(built.decisions, built.notes, suite)
        app.warn(*built.problems)
        sets = Table(
            [Column("question_id", "question"), Column("set"), *map(Column, NAMES)],
            [
                (branch.asked.question_id, branch.set_name, *map(numbers.get, NAMES))
                for branch in built.branches
                for numbers in [{stage: record["left"]["n"] for stage, record in records(branch)}]
            ],
        )
        if self.as_json:
            app.print_json(
                {
                    "suite": suite and str(suite),
                    "report": report and str(report),
                    "n_stages_run": built.n_run,
                    "problems": built.problems,
                    "notes": built.notes,
                    "questions": _questions_json(built.fits),
                    "sets": sets.to_dicts(),
                }
            )
        elif not self.quiet:
            app.print_table(sets)
            if suite:
                app.print_line(f"suite: {app.shown(suite)}")
                app.print_line(f"report: {app.shown(report)}")
        app.exit_if_partial(built.problems)


def _questions_json(fits: Mapping[str, Fit]) -> list[dict[str, Any]]:
    """The unit and the lengths of each question, and what decided them."""
    return [
        {
            "question_id": name,
            "unit": fit.unit,
            **asdict(fit.lengths),
            "median_length": fit.median,
            "script": fit.script,
        }
        for name, fit in fits.items()
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
    as_json: app.Json = False

    def __call__(self) -> None:
        from ...build.selection import suggest_keywords
        from ...suite.suite import Suite

        table = Table.of_records(
            [
                (Column("rule", view="files"), lambda row: row.rule),
                (Column("share", "of references", form="{:.1%}".format), lambda row: row.share),
                (Column("elsewhere", "of others", form="{:.2%}".format), lambda row: row.share_elsewhere),
                (Column("log_odds", "log-odds", digits=1), lambda row: row.log_odds),
                (Column("ngram", "n-gram", view="readers"), lambda row: row.ngram),
            ],
            suggest_keywords(Suite.load(self.suite), self.question, n=self.number),
        )
        if self.as_json:
            app.print_json(table.to_dicts())
        else:
            app.print_table(table)
