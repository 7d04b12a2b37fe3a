"""`pfgen-fast leaderboard`: recorded results as a ranked table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from typer import Argument, Option

from ..errors import TrialsError
from ..files.untrusted_text import utf8
from . import options
from .app import Json, Quiet, counted, exit_if_partial, fail, note, shown, stderr, stdout, warn
from .command_class import command

if TYPE_CHECKING:
    from ..runs.leaderboard import Entry


_PARTS = {"fluency": "fluency", "truthfulness": "truthful", "helpfulness": "helpful"}
"""The parts of a score, and their heads on a terminal, as in `score`."""

_SHORTEST_NAME = 16


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
        elif entries and format is None and not self.output and sys.stdout.isatty():
            _print_table(entries)
        elif entries:
            self.write(format or "markdown", entries)
        exit_if_partial(problems)

    def update(self, path: Path, entries: Sequence[Entry]) -> None:
        """Replaces the table in a file; names the rows that the new table lacks."""
        from ..runs.leaderboard import to_markdown, update

        gone = update(path.resolve(), to_markdown(entries, path.resolve().parent))
        if gone:
            few = ", ".join([*gone[:3], *(["..."] if len(gone) > 3 else [])])
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


def _print_table(entries: Sequence[Entry]) -> None:
    """Prints the means of the published table; names are cut where the terminal is narrow."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    widths = {"rank": 4, "score": 6, "model": 0, "length": 6, **dict.fromkeys(_PARTS.values(), 8)}
    rest = stdout().width - sum(widths.values()) - 2 * (len(widths) - 1)
    for head, width in widths.items():
        if head == "model":
            table.add_column(head, max_width=max(rest, _SHORTEST_NAME), no_wrap=True, overflow="ellipsis")
        else:
            table.add_column(head, justify="right", min_width=width, no_wrap=True)
    for entry in entries:
        name = f"{entry.mark} {shown(entry.model)}"
        figures = f"{entry.result.score:.4f}", f"{entry.result.length:.1f}", *(f"{entry.part(of):.3f}" for of in _PARTS)
        rank = "–" if entry.rank is None else str(entry.rank)
        table.add_row(*map(Text, (rank, figures[0], name, *figures[1:])))
    stdout().print(table, soft_wrap=False)
    hashes = {entry.result.metadata_hash for entry in entries}
    if len(hashes) == 1:
        suite = f"all of the suite with metadata hash {shown(hashes.pop())}"
        stdout().print(f"\n{suite}\nsignature: unknown, because result.json records none", style="dim")


leaderboard = command(_Leaderboard)
