"""`pfgen-fast leaderboard`: recorded results as a ranked table."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from typer import Argument, Option

from ..errors import TrialsError
from ..files.untrusted_text import few_names, utf8
from . import options
from .app import Json, Quiet, counted, exit_if_partial, fail, note, shown, stderr, stdout, warn
from .layout import aligned, columns, told_apart, width_of
from .suite_line import about_interval

if TYPE_CHECKING:
    from ..runs.leaderboard import Entry


_PARTS = {"fluency": "fluency", "truthfulness": "truthful", "helpfulness": "helpful"}
"""The parts of a score, and their heads on a terminal, as in `score`."""

_HEADS = ["rank", "score", "±95 %", "tied with", "length", *_PARTS.values()]
"""The columns of the table on a terminal; the name of the model follows the first four, which are always shown."""
_N_FIXED = 4
_GAP = 2
_WIDTH_OF_MARK = 3
_LONGEST_NAME = 40
"""Longer names are cut if otherwise other columns did not fit."""

_ABOUT_COLUMNS = (
    f"{about_interval('questions')}; tied with: first and last rank of the runs that do not differ "
    "significantly (paired t-tests over questions, corrected for all pairs)"
)
_NO_SIGNATURE = "signature: unknown, because result.json records none"
_MARKS = {
    "👑": "human answers (no rank)",
    "🎯": "reference answers (no rank)",
    "🟢": "mode completion",
    "💬": "another mode than completion",
}
_ABOUT_SYSTEM = "system/...: human or reference answers, which have no rank"
_ASCII = {"±": "+/-", "–": "-", "…": "..."}


class _Leaderboard:
    """Ranks runs by score, like the published table.

    Reads the result.json files that 'pfgen-fast score' wrote. The directory result of a checkout of pfgen-bench stands
    for the whole published table, with its yardsticks below data. Results that cannot be ranked are listed and left
    out; the exit code is then 3.

    Examples

      pfgen-fast leaderboard result

      pfgen-fast leaderboard result --update README.md

      pfgen-fast leaderboard result --format csv -o leaderboard.csv

      pfgen-fast leaderboard result/our --published
    """

    paths: list[str] | None = Argument(
        None, help="Runs: directories with a result.json, or directories with many runs.", metavar="[PATH...]"
    )
    published: bool = Option(False, help="Add the 522 published results of pfgen-bench; needs no other run.")
    format: Literal["markdown", "json", "csv", "html"] | None = Option(
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
    plain: bool = Option(False, help="Print the table of a terminal in ASCII, without emoji.")
    float_sum: options.FloatSumOption = "compensated"
    quiet: Quiet = False
    as_json: Json = False

    def __call__(self) -> None:
        from ..runs.leaderboard import find_results, mixed_suites, rank
        from ..runs.result_tables import published

        if not self.paths and not self.published:
            fail("no runs: name directories with results, or take the published results (--published)")
        format = "json" if self.as_json else self.format
        if self.update_file and (format not in (None, "markdown") or self.output):
            fail("--update writes Markdown into the named file: leave out --format and --output")
        if self.plain and (format or self.output or self.update_file):
            fail("--plain prints the table of a terminal: leave out --format, --output and --update")
        problems: list[TrialsError] = []
        entries = rank(
            find_results(self.paths or ()),
            float_sum=self.float_sum,
            on_problem=problems.append,
            others=published() if self.published else (),
        )
        warn(*map(str, problems))
        mixed = mixed_suites(entry.result for entry in entries)
        if mixed and not self.quiet:
            note(mixed)
        if entries and self.update_file:
            self.update(self.update_file, entries)
        elif entries and (self.plain or (format is None and not self.output and sys.stdout.isatty())):
            _print_table(entries, plain=self.plain)
        elif entries:
            self.write(format or "markdown", entries)
        exit_if_partial(problems)

    def update(self, path: Path, entries: Sequence[Entry]) -> None:
        """Replaces the table in a file; names the rows that the new table lacks."""
        from ..runs.leaderboard import to_markdown, update

        gone = update(path.resolve(), to_markdown(entries, path.resolve().parent))
        if gone:
            few = few_names(gone, n_code_points=300)
            note(f"{path}: the new table lacks {counted(len(gone), 'row')} of the former one: {few}")
        if not self.quiet:
            stderr().print(f"{counted(len(entries), 'run')}: {shown(path)}")

    def write(self, format: str, entries: Sequence[Entry]) -> None:
        """Writes the table to the output, or else to stdout."""
        from ..files.writing import write_whole
        from ..runs import leaderboard as library

        if format == "markdown" and self.output:
            table = utf8(library.to_markdown(entries, self.output.resolve().parent))
        else:
            table = utf8(getattr(library, f"to_{format}")(entries))
        if self.output:
            write_whole(self.output, table)
        else:
            stdout().out(table.decode(), end="", highlight=False)


def _print_table(entries: Sequence[Entry], *, plain: bool) -> None:
    """Prints rank, score, interval, ties and name of each run, and the other figures that fit the terminal."""
    from ..runs.leaderboard import ties_of

    runs_of_model = Counter(entry.model for entry in entries)
    names = [shown(entry.model if runs_of_model[entry.model] == 1 else entry.name) for entry in entries]
    named = zip(entries, ties_of(entries), strict=True)
    rows = [_HEADS, *(_figures(entry, ties) for entry, ties in named)]
    widths = [max(map(width_of, column)) + _GAP for column in zip(*rows, strict=True)]
    width = columns()
    room = None if width is None else width - sum(widths[:_N_FIXED]) - _WIDTH_OF_MARK
    longest = min(max(map(width_of, names)), _LONGEST_NAME)
    n_shown = _N_FIXED
    while n_shown < len(_HEADS) and (room is None or room - widths[n_shown] >= longest):
        room = None if room is None else room - widths[n_shown]
        n_shown += 1
    marks = ["", *(entry.mark for entry in entries)]
    cells = [
        [*row[:_N_FIXED], name if plain or not mark else f"{mark} {name}", *row[_N_FIXED:n_shown]]
        for mark, name, row in zip(marks, ["model", *told_apart(names, room)], rows, strict=True)
    ]
    head, *lines = aligned(cells, to_left=[_N_FIXED])
    about = ["", _ABOUT_COLUMNS, _about_marks(marks, plain=plain)]
    hashes = {entry.result.metadata_hash for entry in entries}
    if len(hashes) == 1:
        about[1:1] = [f"all of the suite with metadata hash {shown(hashes.pop())}", _NO_SIGNATURE]
    for line, style in [(head, "bold"), *((line, None) for line in lines), *((line, "dim") for line in about)]:
        stdout().print(_in_ascii(line) if plain else line, style=style)


def _figures(entry: Entry, ties: tuple[int, int] | None) -> list[str]:
    """The cells of a run below `_HEADS`."""
    half_width = entry.interval().half_width
    return [
        "–" if entry.rank is None else str(entry.rank),
        f"{entry.result.score:.4f}",
        "–" if half_width is None else f"±{half_width:.4f}",
        "–" if ties is None else "none" if ties[0] == ties[1] else f"{ties[0]}–{ties[1]}",
        f"{entry.result.length:.1f}",
        *(f"{entry.part(metric):.3f}" for metric in _PARTS),
    ]


def _about_marks(marks: Sequence[str], *, plain: bool) -> str:
    if plain:
        return _ABOUT_SYSTEM if {"👑", "🎯"} & {*marks} else ""
    return "; ".join(f"{mark} {meaning}" for mark, meaning in _MARKS.items() if mark in marks)


def _in_ascii(text: str) -> str:
    for character, replacement in _ASCII.items():
        text = text.replace(character, replacement)
    return text.encode("ascii", "backslashreplace").decode()
