"""`pfgen-fast leaderboard`: recorded results as a ranked table."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..base.errors import TrialsError
from ..base.table import told_apart, width_of
from ..base.untrusted_text import few_names, utf8
from ..runs.items.by_subject import few_items, subject_lines, subject_table
from . import options
from .app import Json, Quiet, counted, exit_if_partial, fail, note, shown, stderr, stdout, warn
from .layout import aligned, columns
from .parser import Argument, Option
from .score_table_options import OF_TABLES, ScoreTableOptions, refuse
from .suite_line import about_interval, given_suite

if TYPE_CHECKING:
    from ..base.mean_interval import MeanInterval
    from ..runs.items.ranking import ModelRanking
    from ..runs.leaderboard import Entry


_N_FIXED = 4
_GAP = 2
_WIDTH_OF_MARK = 3
_LONGEST_NAME = 40
"""Longer names are cut if otherwise other columns did not fit."""


def print_subjects(
    by_model: Sequence[Mapping[str, MeanInterval]], names: Sequence[str], *, items: str = "items", name: str = "model"
) -> None:
    """Prints the scores by subject of models with these names, and sentences about subjects with few items."""
    print_lines([""])
    if len(by_model) == 1:
        head, *lines = aligned([["subject", items, "score", "±95 %"], *subject_lines(by_model[0])], to_left=[0])
        print_lines([head], "bold")
        print_lines(map(shown, lines))
    else:
        heads, rows = subject_table(by_model)
        print_ranked(list(map(shown, heads)), rows, names, [""] * len(names), n_fixed=0, name=name)
    print_lines(few_items(by_model[0], items), "dim")


def print_ranked(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    names: Sequence[str],
    marks: Sequence[str],
    *,
    n_fixed: int = _N_FIXED,
    name: str = "model",
) -> None:
    """Prints a table whose names follow its first columns; the columns after the names are shown if they fit."""
    rows = [heads, *rows]
    widths = [max(map(width_of, column)) + _GAP for column in zip(*rows, strict=True)]
    width = columns()
    room = None if width is None else width - sum(widths[:n_fixed]) - (_WIDTH_OF_MARK if any(marks) else 0)
    longest = min(max(map(width_of, names)), _LONGEST_NAME)
    n_shown = n_fixed
    while n_shown < len(heads) and (room is None or room - widths[n_shown] >= longest):
        room = None if room is None else room - widths[n_shown]
        n_shown += 1
    cells = [
        [*row[:n_fixed], f"{mark} {text}" if mark else text, *row[n_fixed:n_shown]]
        for mark, text, row in zip(["", *marks], [name, *told_apart(names, room)], rows, strict=True)
    ]
    head, *lines = aligned(cells, to_left=[n_fixed])
    print_lines([head], "bold")
    print_lines(lines)
    if n_fixed == 0 and n_shown < len(heads):
        few = few_names(heads[n_shown:], n_code_points=300)
        print_lines([f"columns that do not fit (--format csv has them): {few}"], "dim")


def print_lines(lines: Iterable[str], style: str | None = None) -> None:
    """Prints lines in a style."""
    for line in lines:
        stdout().print(line, style=style)


_PARTS = {"fluency": "fluency", "truthfulness": "truthful", "helpfulness": "helpful"}
"""The parts of a score, and their heads on a terminal, as in `score`."""

_HEADS = ["rank", "score", "±95 %", "rank range", "length"]
"""The columns of the table on a terminal."""

_ABOUT_COLUMNS = (
    f"{about_interval('{over}')}; rank range: the ranks that chance allows, at 95 % "
    "({test} against all other {what}, corrected by Holm)"
)
_NO_SIGNATURE = "signature: unknown, because result.json records none"
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

      pfgen-fast leaderboard result/our --published

      pfgen-fast leaderboard scores.csv --metric accuracy --by-subject
    """

    paths: list[str] | None = Argument(
        None,
        help="Runs: directories with a result.json, or directories with many runs. Or tables of scores by item and "
        "model.",
        metavar="[PATH...]",
    )
    metric: str | None = Option(None, help="Tables: rank by this metric. Default: the first one.", metavar="NAME")
    by_subject: bool = Option(
        False,
        help="Add the scores by subject: the category of questions, or the subject column of a table. On a terminal "
        "and in Markdown this is a second table.",
    )
    suite: options.SuiteOption = None
    tables: ScoreTableOptions
    published: bool = Option(False, help="Add the 522 published results of pfgen-bench; needs no other run.")
    format: Literal["markdown", "json", "csv"] | None = Option(
        None,
        "-f",
        help="Choose the format; json and csv have full precision and 95 % intervals. Default: a table on a terminal, "
        "markdown otherwise.",
        show_default=False,
    )
    update_file: Path | None = Option(
        None, "--update", help="Replace the table between this file's leaderboard comments."
    )
    output: options.OutputFile = None
    quiet: Quiet = False
    as_json: Json = False

    def __call__(self) -> None:
        from ..runs.result_tables import are_score_tables

        if not self.paths and not self.published:
            fail("no runs: name directories with results, or take the published results (--published)")
        format = "json" if self.as_json else self.format
        if self.update_file and (format not in (None, "markdown") or self.output):
            fail("--update writes Markdown into the named file: leave out --format and --output")
        if are_score_tables(self.paths or ()):
            self.rank_models(format)
        else:
            self.rank_runs(format)

    @property
    def is_printed(self) -> bool:
        """Whether the table of a terminal is printed, unless a format is chosen."""
        return not (self.output or self.update_file) and sys.stdout.isatty()

    def rank_models(self, format: str | None) -> None:
        """Ranks the models of tables."""
        from ..runs.items.ranking import rank_models

        refuse(self, ("published", "suite"), "runs")
        ranking = rank_models(self.tables.read(self.paths or (), quiet=self.quiet), self.metric)
        if self.by_subject and not ranking.subjects:
            fail("--by-subject: the tables have no subjects; name their column (--subject-column)")
        if self.is_printed and format is None:
            print_models(ranking, by_subject=self.by_subject)
        else:
            note(*(() if self.quiet else ranking.notes))
            table = getattr(ranking, f"to_{format or 'markdown'}")(with_subjects=self.by_subject)
            self.write(table, counted(len(ranking), "model"))

    def rank_runs(self, format: str | None) -> None:
        """Ranks runs."""
        from ..runs import leaderboard as library
        from ..runs.result_tables import published

        refuse(self, OF_TABLES, "tables")
        problems: list[TrialsError] = []
        entries = library.rank(
            library.find_results(self.paths or ()),
            on_problem=problems.append,
            others=published() if self.published else (),
        )
        warn(*map(str, problems))
        mixed = library.mixed_suites(entry.result for entry in entries)
        if mixed and not self.quiet:
            note(mixed)
        if entries and self.by_subject:
            entries = library.with_subjects(entries, given_suite(self.suite))
        if entries and self.is_printed and format is None:
            _print_runs(entries)
        elif entries:
            place = self.update_file or self.output
            options = {"root": place.resolve().parent} if place and format in (None, "markdown") else {}
            table = getattr(library, f"to_{format or 'markdown'}")(entries, **options)
            self.write(table, counted(len(entries), "run"))
        exit_if_partial(problems)

    def write(self, table: str, what: str) -> None:
        """Writes the table into the file to update, to the output, or else to stdout."""
        from ..base.file_writing import write_whole
        from ..base.marked_table import update

        if self.update_file:
            path = self.update_file
            gone = update(path.resolve(), table)
            if gone:
                few = few_names(gone, n_code_points=300)
                note(f"{path}: the new table lacks {counted(len(gone), 'row')} of the former one: {few}")
            if not self.quiet:
                stderr().print(f"{what}: {shown(path)}")
        elif self.output:
            write_whole(self.output, utf8(table))
        else:
            stdout().out(utf8(table).decode(), end="", highlight=False)


def _print_runs(entries: Sequence[Entry]) -> None:
    """Prints rank, score, interval, ties and name of each run, and the other figures that fit the terminal."""
    from ..runs.leaderboard import ties_of

    runs_of_model = Counter(entry.model for entry in entries)
    names = [shown(entry.model if runs_of_model[entry.model] == 1 else entry.name) for entry in entries]
    marks = [entry.mark for entry in entries]
    about = [
        _ABOUT_COLUMNS.format(over="questions", what="runs", test="paired t-tests over questions"),
        "; ".join(f"{mark} {meaning}" for mark, meaning in _MARKS.items() if mark in marks),
    ]
    hashes = {entry.result.metadata_hash for entry in entries}
    if len(hashes) == 1:
        about[:0] = [f"all of the suite with metadata hash {shown(hashes.pop())}", _NO_SIGNATURE]
    rows = [_figures(entry, ties) for entry, ties in zip(entries, ties_of(entries), strict=True)]
    print_ranked([*_HEADS, *_PARTS.values()], rows, names, marks)
    if entries[0].subjects is not None:
        print_subjects([entry.subjects or {} for entry in entries], names, items="questions")
    print_lines(["", *about], "dim")


def print_models(ranking: ModelRanking, *, by_subject: bool) -> None:
    """Prints the leaderboard of the models of a table."""
    names = [shown(model.model) for model in ranking.models]
    heads = ["rank", shown(ranking.metric), *_HEADS[2:4], "items", *map(shown, ranking.models[0].metrics)]
    print_ranked(heads, [model.figures() for model in ranking.models], names, [""] * len(names))
    if by_subject:
        print_subjects([model.subjects for model in ranking.models], names)
    about = _ABOUT_COLUMNS.format(over=counted(ranking.n_compared, "common item"), what="models", test=ranking.test)
    if ranking.is_binary:
        about = about.replace("±: half of the", "±95 %: Wilson's")
    print_lines(["", about, *map(shown, ranking.notes)], "dim")


def _figures(entry: Entry, ties: tuple[int, int] | None) -> list[str]:
    """The cells of a run below `_HEADS`."""
    from ..runs.items.ranking import shown_ranks

    half_width = entry.interval().half_width
    return [
        "–" if entry.rank is None else str(entry.rank),
        f"{entry.result.score:.4f}",
        "–" if half_width is None else f"±{half_width:.4f}",
        shown_ranks(ties),
        f"{entry.result.length:.1f}",
        *(f"{entry.part(metric):.3f}" for metric in _PARTS),
    ]
