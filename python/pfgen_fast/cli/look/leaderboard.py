"""`pfgen-fast leaderboard`: recorded results as a ranked table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...base.errors import TrialsError
from ...base.untrusted_text import counted, utf8
from ...runs.items.by_subject import few_items
from .. import options
from ..app import Json, Quiet, exit_if_partial, fail, note, print_line, print_table, shown, warn
from ..parser import Argument, Option, refuse_others
from ..suite_line import ABOUT_RANGES, about_interval, given_suite

if TYPE_CHECKING:
    from ...base.table import Table
    from ...runs.items.by_subject import Subjects
    from ...runs.items.ranking import ModelRanking

_MARKS = {
    "👑": "human answers (no rank)",
    "🎯": "reference answers (no rank)",
    "🟢": "mode completion",
    "💬": "another mode than completion",
}


class Leaderboard:
    """Ranks runs by score, like the published table, or models of a table of scores.

    Reads the result.json files that 'pfgen-fast score' wrote. The directory result of a checkout of pfgen-bench stands
    for the whole published table, with its yardsticks below data. Results that cannot be ranked are listed and left
    out; the exit code is then 3.

    Tables have the scores of models on items, from any evaluation. The models are ranked by their mean over the items
    that all of them have.

    Examples

      pfgen-fast leaderboard result
      pfgen-fast leaderboard result --update README.md
      pfgen-fast leaderboard result --format csv -o leaderboard.csv
      pfgen-fast leaderboard result/our --published --yardsticks
      pfgen-fast leaderboard scores.csv --metric accuracy --by-subject
    """

    paths: list[str] | None = Argument(
        None,
        "Runs: directories with a result.json, or directories with many runs. Or tables of scores by item and model.",
        metavar="[PATH...]",
    )
    by_subject: bool = Option(
        False, "Add the scores by subject: the category of questions, or the subject column of a table."
    )
    published: bool = Option(
        False, "Runs: add the 522 published results of pfgen-bench; needs no other run.", for_input="runs"
    )
    yardsticks: bool = Option(
        False, "Runs: add the published human answers and reference answers of pfgen-bench.", for_input="runs"
    )
    suite: options.SuiteOfRuns = None
    metric: options.MetricOfTable = None
    format: Literal["text", "markdown", "published", "csv"] | None = Option(
        None,
        "Choose the format: aligned text, a Markdown table, the layout of the published table (runs only; Markdown), "
        "or CSV with full precision, as --json. Default: text, and of --output by its ending: markdown, .csv or .json.",
        "-f",
    )
    update_file: Path | None = Option(
        None,
        "Replace the table between this file's leaderboard comments. Default of --format: published for runs, markdown "
        "for tables.",
        "--update",
    )
    output: options.OutputFile = None
    quiet: Quiet = False
    as_json: Json = False
    tables: options.ItemScoreOptions

    def __call__(self) -> None:
        from ...runs.result_tables import are_score_tables

        if not (self.paths or self.published or self.yardsticks):
            fail("no runs: name directories with results, or take the published results (--published)")
        if self.update_file and (self.as_json or self.format in ("text", "csv") or self.output):
            fail("--update writes Markdown into the named file: leave out --output, --json and other formats")
        if self.output and self.format == "text":
            fail("--format text is for the terminal: give --output another format")
        if are_score_tables(self.paths or ()):
            if self.format == "published":
                fail("--format published: this layout is for runs; expected markdown, text or csv")
            self._rank_models(self._form("markdown"))
        else:
            self._rank_runs(self._form("published"))

    def _form(self, of_updates: str) -> str:
        if self.as_json or self.format:
            return "json" if self.as_json else str(self.format)
        ends = {".csv": "csv", ".json": "json"}
        return of_updates if self.update_file else ends.get(self.output.suffix, "markdown") if self.output else "text"

    def _rank_models(self, form: str) -> None:
        from ...runs.items.ranking import rank_models

        refuse_others(self, "tables")
        ranking = rank_models(self.tables.read(self.paths or (), self.metric, quiet=self.quiet), self.metric)
        if self.by_subject and not ranking.subjects:
            fail("--by-subject: the tables have no subjects; name their column (--subject-column)")
        if form == "text":
            print_ranking(ranking, "common item", with_subjects=self.by_subject)
        else:
            note(*(() if self.quiet else ranking.notes))
            text = getattr(ranking, f"to_{form}")(with_subjects=self.by_subject)
            self._write(text, counted(len(ranking), "model"))

    def _rank_runs(self, form: str) -> None:
        from ...runs import leaderboard as library
        from ...runs.result_tables import published

        refuse_others(self, "runs")
        problems: list[TrialsError] = []
        entries = library.rank(
            library.find_results(self.paths or ()),
            on_problem=problems.append,
            others=published(models=self.published, yardsticks=self.yardsticks),
        )
        warn(*map(str, problems))
        mixed = library.mixed_suites(entry.result for entry in entries)
        if mixed and not self.quiet:
            note(f"{mixed}; only runs of the first one have ranks")
        if entries and self.by_subject:
            entries = library.with_subjects(entries, given_suite(self.suite))
        if entries and form == "text":
            print_table(entries.table)
            if entries[0].subjects is not None:
                print_subjects(entries.subject_table, entries[0].subjects, "questions")
            marks = {entry.mark for entry in entries}
            meanings = "; ".join(f"{mark} {meaning}" for mark, meaning in _MARKS.items() if mark in marks)
            about = f"{about_interval('questions')}; {ABOUT_RANGES.format('paired t-tests over questions', 'runs')}"
            print_line((f"\n{about}\n{meanings}".rstrip(), "dim"))
        elif entries:
            place = self.update_file or self.output
            if form == "published":
                text = library.to_published(entries, place and place.resolve().parent)
            else:
                text = getattr(entries, f"to_{form}")()
            self._write(text, counted(len(entries), "run"))
        exit_if_partial(problems)

    def _write(self, text: str, what: str) -> None:
        """Writes the table into the file to update, to the output, or else to stdout."""
        from ...base.file_writing import write_whole
        from ...runs.leaderboard import update_markdown

        if self.update_file:
            update_markdown(self.update_file.resolve(), text)
            if not self.quiet:
                print_line(f"{what}: {shown(self.update_file)}", to=sys.stderr)
        elif self.output:
            write_whole(self.output, utf8(text))
        else:
            sys.stdout.write(utf8(text).decode())


def print_ranking(ranking: ModelRanking, item: str, *, with_subjects: bool = False) -> None:
    """Prints the models of a table, best first, and what their figures mean."""
    print_table(ranking.table)
    if with_subjects:
        print_subjects(ranking.subject_table, ranking.models[0].subjects, "items")
    over = counted(ranking.n_compared, item)
    interval = about_interval(over, is_share=ranking.is_binary)
    ranges = f"; {ABOUT_RANGES.format(ranking.test, 'models')}" if any(model.ranks for model in ranking.models) else ""
    for sentence in (interval + ranges, *ranking.notes):
        print_line((shown(sentence), "dim"))


def print_subjects(table: Table, means: Subjects, items: str) -> None:
    """Prints scores by subject, and sentences about subjects with few items."""
    print_line()
    print_table(table)
    for sentence in few_items(means, items):
        print_line((shown(sentence), "dim"))
