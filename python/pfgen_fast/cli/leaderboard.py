"""`pfgen-fast leaderboard`: recorded results as a ranked table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..errors import TrialsError
from ..files.untrusted_text import utf8
from . import options
from .app import Exit, Json, Quiet, counted, fail, note, shown, stderr, stdout, warn

if TYPE_CHECKING:
    from ..runs.leaderboard import Entry


_PARTS = {"fluency": "fluency", "truthfulness": "truthful", "helpfulness": "helpful"}
"""The parts of a score, and their heads on a terminal, which are those of `score`."""

_SHORTEST_NAME = 16


Format = Literal["markdown", "json", "csv", "html"]


def leaderboard(
    paths: options.Paths,
    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            "-f",
            help="Choose the format; json and csv have full precision and 95 % intervals. Default: a table on a "
            "terminal, markdown otherwise.",
            show_default=False,
        ),
    ] = None,
    update_file: Annotated[
        Path | None, typer.Option("--update", help="Replace the table between this file's leaderboard comments.")
    ] = None,
    output: options.OutputFile = None,
    float_sum: options.FloatSumOption = "compensated",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Ranks runs by score, like the published table.

    Reads the result.json files that 'pfgen-fast score' wrote. The folder result of a checkout of pfgen-bench stands
    for the whole published table, whose yardsticks lie below data. Results that cannot be ranked are listed and left
    out; the exit code is then 3.

    Examples

      pfgen-fast leaderboard result

      pfgen-fast leaderboard result --update README.md

      pfgen-fast leaderboard result --format csv -o leaderboard.csv
    """
    from ..files.writing import write_whole
    from ..runs.leaderboard import find_results, mixed_suites, rank, to_csv, to_html, to_json, to_markdown, update

    if as_json:
        format = "json"
    if update_file and (format not in (None, "markdown") or output):
        fail("--update writes Markdown into its own file: leave --format and --output away")
    problems: list[TrialsError] = []
    entries = rank(find_results(paths), float_sum=float_sum, on_problem=problems.append)
    for problem in problems:
        warn(str(problem))
    mixed = mixed_suites(entry.result for entry in entries)
    if mixed and not quiet:
        note(mixed)
    if entries and update_file:
        gone = update(update_file.resolve(), to_markdown(entries, update_file.resolve().parent))
        if gone:
            note(f"{update_file}: the new table lacks {counted(len(gone), 'row')} of the former one: {_few(gone)}")
        if not quiet:
            stderr().print(f"{counted(len(entries), 'run')}: {shown(str(update_file))}")
    elif entries and format is None and not output and sys.stdout.isatty():
        _print_table(entries)
    elif entries:
        to_text = {"markdown": to_markdown, "json": to_json, "csv": to_csv, "html": to_html}
        if format in (None, "markdown") and output:
            text = to_markdown(entries, output.resolve().parent)
        else:
            text = to_text[format or "markdown"](entries)
        table = utf8(text)
        if output:
            write_whole(output, table)
        else:
            stdout().out(table.decode(), end="", highlight=False)
    if problems:
        raise SystemExit(Exit.PARTIAL)


def _few(links: Sequence[str]) -> str:
    return ", ".join(links[:3]) + (", ..." if len(links) > 3 else "")


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
        stdout().print(f"\n{suite}\nsignature: unknown, for result.json records none", style="dim")
