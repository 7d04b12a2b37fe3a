"""Shared by the subcommands: the application, its exit codes, and the output of results, notes and errors.

On a terminal, lines fit: long texts are shortened or folded. Redirected output does not depend on a width.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO, TypeVar

from ..base.errors import PfgenError
from ..base.table import Table
from ..base.text_width import LEAST, beginning, shortened, width_of
from ..base.untrusted_text import few_names, json_text, terminal_text
from . import commands
from .parser import Option

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress, ProgressColumn

    from ..lab.finding import Finding

T = TypeVar("T")
_ANSI = {"bold": "1", "dim": "2", "reverse": "7", "strike": "9", "red": "31", "green": "32", "yellow": "33"}
_SHARE_OF_NAMES = 0.4
"""The most of a narrow terminal for the columns that name the rows of a table."""
_OF_FULL_DISKS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Exit(enum.IntEnum):
    """Exit codes; 0 is success."""

    NO = 1  # the answer is no: a gate, `score --verify` or `suite check` failed
    USAGE = 2
    PARTIAL = 3  # some inputs failed, the others are done
    STOPPED = 130  # by Ctrl-C; the code that shells use
    UNREAD = 141  # the reader of the output ended, as `head` does; the code that shells use


Quiet = Annotated[bool, Option(..., "Print errors only.", "--quiet", "-q", group="")]
Verbose = Annotated[bool, Option(..., "Also print the signature, which has all settings.", "--verbose", "-v", group="")]
Json = Annotated[bool, Option(..., "Print JSON to stdout.", "--json", group="")]


def main() -> None:
    """Runs the command line; user errors end in one line on stderr, never in a traceback."""
    # NumPy would start one thread per core, which takes as long as the rest of its import; no command needs them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "0")
    if not (epoch.isdecimal() and len(epoch) < 12):  # NumPy cannot be imported with it
        if epoch:
            fail(f"SOURCE_DATE_EPOCH: expected seconds since 1970, not {epoch!r}")
        del os.environ["SOURCE_DATE_EPOCH"]
    warnings.formatwarning = lambda message, *rest: f"warning: {shown(message)}\n"  # without its line of code
    try:
        try:
            commands.run(sys.argv[1:])
        finally:
            sys.stdout.flush()  # at exit, Python would print the error and end with another code
    except PfgenError as error:
        fail(str(error))
    except UnicodeEncodeError as error:
        if error.encoding == "utf-8":
            raise
        fail(f"stdout: {error.encoding} cannot encode all characters; set PYTHONIOENCODING=utf-8")
    except BrokenPipeError:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # takes the rest of the buffer
        raise SystemExit(Exit.UNREAD) from None
    except OSError as error:
        if error.errno not in _OF_FULL_DISKS or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # takes the rest of the buffer
        fail(f"stdout: cannot be written: {error.strerror}")
    raise SystemExit(0)


def fail(message: str, code: Exit = Exit.USAGE) -> NoReturn:
    """Ends the command with an error message."""
    warn(message)
    raise SystemExit(code)


def exit_if_partial(is_partial: object) -> None:
    """Ends the command with exit code 3 if results are incomplete."""
    if is_partial:
        raise SystemExit(Exit.PARTIAL)


def warn(*messages: str) -> None:
    """Prints errors, those of one reason in one line (`PLACE: REASON`); after 100 lines, only their number."""
    places: dict[str, list[str]] = {}
    for message in dict.fromkeys(messages):
        *place, reason = message.split(": ", 1)
        places.setdefault(reason, []).extend(place)
    lines = [f"{few_names(names, 3, 1000)}: {reason}" if names else reason for reason, names in places.items()]
    n_more = len(lines) - 100
    _tell("error:", "red", *lines[:100], *([f"and {n_more:,} more"] if n_more > 0 else []))


def caution(*messages: str) -> None:
    """Prints warnings, each as one line: what was left out, or weakens a result."""
    _tell("warning:", "yellow", *messages)


def note(*messages: str) -> None:
    """Prints remarks that are not errors, each as one line."""
    _tell("note:", "yellow", *messages)


def _tell(label: str, style: str, *messages: str) -> None:
    for message in messages:
        print_line((label, style), f" {shown(message)}", to=sys.stderr)


def shown(value: object) -> str:
    """Makes untrusted text or a path safe for a line of the terminal, or of a log of GitHub Actions or Azure."""
    # In such logs, a line that begins with `::` is a command, and `##[` and `##vso[` begin one anywhere in a line.
    text = _without_commands(terminal_text(str(value)))
    return text.replace(":", "\\u003a", 1) if text.lstrip().startswith("::") else text


def _without_commands(text: str) -> str:
    return re.sub(r"##(?=(vso)?\[)", r"\\u0023#", text)


def print_line(*parts: str | tuple[str, str], to: TextIO | None = None) -> None:
    """Prints a line of texts, and of pairs of a text and its style, such as `("ok", "green")`; by default to stdout.

    On a terminal, a line is above the progress bar if there is a bar, and breaks between words. Rich is imported for a
    bar only, because its import takes as long as some runs take to score.
    """
    stream = to or sys.stdout
    is_terminal = stream.isatty()
    has_colours = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"  # no-color.org
    if _bars and is_terminal:
        from rich.text import Text

        _bars[-1].print(Text.assemble(*parts))
        return
    texts = [part if isinstance(part, str) else part[0] for part in parts]
    breaks = _breaks("".join(texts), shutil.get_terminal_size().columns) if is_terminal else set()
    place, line = 0, ""
    for part, text in zip(parts, texts, strict=True):
        laid = "".join("\n" if number in breaks else character for number, character in enumerate(text, place))
        codes = [] if isinstance(part, str) else [_ANSI[style] for style in part[1].split()]
        line += f"\x1b[{';'.join(codes)}m{laid}\x1b[0m" if codes and has_colours else laid
        place += len(text)
    print(line, file=stream, flush=True)  # a reader of a pipe sees it at once, as the address of a server


def _breaks(text: str, width: int) -> set[int]:
    """The places of the blanks at which lines break, so that they fit a width."""
    breaks: set[int] = set()
    begin, blank = 0, -1
    for match in re.finditer(r"\s|$", text):
        place = match.start()
        if blank > begin and width_of(text[begin:place]) > width:
            breaks.add(blank)
            begin = blank + 1
        if match[0] == "\n":
            begin = place + 1
        blank = place
    return breaks


_bars: list[Console] = []
"""The console of the progress bar, while one is shown."""


def _progress(*columns: ProgressColumn, below: Callable[[], str] | None) -> Progress:
    from rich.console import Console
    from rich.progress import Progress
    from rich.text import Text

    class ProgressAbove(Progress):
        def get_renderables(self) -> Iterator[RenderableType]:
            yield from super().get_renderables()
            if below is not None and any(task.visible for task in self.tasks):
                yield Text(below(), style="dim")

    # Names may contain markup: rich can escape a tag, but not a tag that is split over two names.
    console = Console(stderr=True, markup=False, emoji=False, highlight=False)
    return ProgressAbove(*columns, console=console, transient=True)


def print_json(value: Any) -> None:
    """Prints a value as JSON."""
    sys.stdout.write(_without_commands(json_text(value, indent=2)) + "\n")


def track(items: Iterable[T], total: int, what: str, *, quiet: bool = False) -> Iterator[T]:
    """Shows the progress through the items on stderr."""
    with counting(what, quiet=quiet) as count:
        for done, item in enumerate(items, start=1):
            yield item
            count(done, total)


def has_bars() -> bool:
    """Whether progress shows as a bar."""
    return sys.stderr.isatty()


@contextlib.contextmanager
def counting(
    what: str, *, quiet: bool = False, with_speed: bool = False, below: Callable[[], str] | None = None
) -> Iterator[Callable[..., None]]:
    """Yields a function that takes the progress, the total and an optional label; a bar appears after a second.

    The bar is on stderr, above the line that `below` returns. Without a terminal, there is no bar.
    """
    if quiet or not has_bars():
        yield lambda done, total, now=what: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    bar = BarColumn(bar_width=20)
    columns = [TextColumn("{task.description}", markup=False), bar, MofNCompleteColumn(), TimeRemainingColumn()]
    if with_speed:
        columns.append(TextColumn("{task.fields[speed]}", markup=False))
    begin = time.monotonic()
    with _progress(*columns, below=below) as progress:
        task = progress.add_task(shown(what), total=None, visible=False, speed="")
        last = begin
        _bars.append(progress.console)

        def count(done: int, total: int | None, now: str = what) -> None:
            nonlocal last
            if time.monotonic() - last < 0.05 and done != total:
                return  # a bar would delay quick commands
            last = time.monotonic()
            speed = f"{progress.tasks[0].speed or 0:,.1f} {shown(what)}/s" if with_speed else ""
            visible = time.monotonic() - begin > 1
            progress.update(task, description=shown(now), completed=done, total=total, visible=visible, speed=speed)

        try:
            yield count
        finally:
            _bars.clear()


def columns() -> int | None:
    """The width of the terminal for results; None if results are redirected, because they are not shortened then."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def rest(taken: int) -> int | None:
    """The width of the terminal minus the taken columns; None if results are redirected."""
    width = columns()
    return None if width is None else width - taken


def size_text(n_bytes: float) -> str:
    """A size of files, such as `0.4 kB` or `12.3 MB`."""
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:,.1f} kB"


def fitted(begin: str, name: object, end: str = "") -> str:
    """A line with a name that is shortened to fit the terminal."""
    return f"{begin}{shortened(shown(name), rest(width_of(begin) + width_of(end)))}{end}"


def cut(text: str, width: int | None) -> str:
    """Shortens a sentence to a width; the ellipsis is at its end."""
    if width is None or width_of(text) <= (width := max(width, LEAST)):
        return text
    return f"{beginning(text, width - 1)}…"


def broken(text: str, width: int | None) -> Iterator[str]:
    """The lines of a text in a width, broken at a blank in their second half if there is one."""
    while width is not None and width_of(text) > width:
        n = len(beginning(text, width))
        n = max(text.rfind(" ", n // 2, n + 1), 0) or n
        yield text[:n]
        text = text[n:].lstrip()
    yield text


def print_table(table: Table, *, faint: Sequence[bool] = (), skip: int = 0) -> str:
    """Prints a table, fitted to the terminal, with its head in bold and some rows faint; returns its text.

    `skip` is the number of rows that were printed before, below the head.
    """
    styles = ["bold", *("dim" if is_faint else "" for is_faint in faint)]
    lines = table.lines(columns())
    for number, line in enumerate(lines):
        if number < skip + (skip > 0):
            continue
        text = shown(cut(line, columns()))
        style = styles[number] if number < len(styles) else ""
        print_line((text, style) if style else text)
    optional = [column.head for column in table.for_readers().columns if column.is_optional]
    if not skip and (left_out := [head for head in optional if head not in lines[0]]):
        print_line((f"not shown in {columns()} columns: {', '.join(left_out)}", "dim"))
    return "\n".join(lines)


def print_tables(tables: Iterable[Table], *, all_columns: bool = False) -> None:
    """Prints tables with rows below their titles; a narrow terminal gets blocks of columns, or no optional columns."""
    for table in tables:
        if len(table):
            print_line((table.title, "bold"))
            is_block = not all_columns and any(column.is_optional for column in table.columns)
            for number, block in enumerate([table] if is_block else blocks_of(table, columns())):
                if number:
                    print_line("")
                print_table(block)
            print_line("")


def blocks_of(table: Table, width: int | None) -> list[Table]:
    """Blocks of columns that fit a width, each with the columns that name the rows: those up to the last name."""
    table = table.for_readers()
    to_left, cells = table.text_columns(), [table.heads(), *table.texts()]
    n_names = min(to_left, default=0) + 1
    while n_names in to_left:
        n_names += 1
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    if width is not None:
        widths[:n_names] = [min(n, max(LEAST, int(width * _SHARE_OF_NAMES / n_names))) for n in widths[:n_names]]
    names = list(range(n_names))
    blocks = [list(names)]
    for column in range(n_names, len(widths)):
        wanted = [*blocks[-1], column]
        if width is not None and sum(widths[place] + 2 for place in wanted) - 2 > width and blocks[-1] != names:
            wanted = [*names, column]
            blocks.append(wanted)
        blocks[-1] = wanted
    return [
        replace(
            table,
            columns=[table.columns[place] for place in block],
            rows=[[row[place] for place in block] for row in table.rows],
        )
        for block in blocks
    ]


def show_finding(
    finding: Finding, folder: Path | None, *, quiet: bool, is_said: Sequence[str] = (), tables: Sequence[Table] = ()
) -> None:
    """Writes the files of a finding to a folder, if there is one, and, unless quiet, prints its answer and its notes.

    Prints `tables` first, and without files all figures. Notes in `is_said` were printed before.
    """
    files: list[Path] = []
    if folder is not None:
        from ..report.findings import write_finding

        files = write_finding(finding, folder)
    if quiet:
        return
    print_tables(tables)
    for sentence in finding.first:
        print_line((shown(sentence), "bold"))
    note(*(sentence for sentence in finding.notes if sentence not in is_said))
    print_line(f"{shown(files[0])} and {len(files) - 1} other files" if files else shown(finding.paragraph))
