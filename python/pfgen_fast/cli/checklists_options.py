"""Options of several subcommands of `pfgen-fast checklists`, and the output of subcommands with a finding."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..base.table import padded, shortened, width_of
from .app import Json, Quiet, exit_if_partial, print_json, print_line, shown, stdout, warn
from .findings import say_finding, show_finding
from .layout import columns
from .options import RandomSeed
from .parser import Argument, Option, option_group

if TYPE_CHECKING:
    from ..base.table import Table
    from ..lab.checklists.checklist_runs import Run
    from ..lab.checklists.checklist_suite import ChecklistSuite
    from ..lab.checklists.checklist_tables import TextTable
    from ..lab.checklists.scores import Scores
    from ..lab.experiments.finding import Finding


MARK = "*"
"""Marks a figure with a footnote."""

_GAP = 2
_NARROWEST_HEAD = 9
_SHARE_OF_NAMES = 0.4


def print_tables(tables: Iterable[TextTable]) -> None:
    """Prints tables that have rows below their titles; a narrow terminal gets several blocks of columns."""
    for table in tables:
        if table.rows:
            print_line((table.title, "bold"))
            for line in lines_of(table, columns()):
                print_line(line)
            print_line("")


def lines_of(table: TextTable, width: int | None) -> list[str]:
    """The lines of a table, within a width if each of its columns is narrower; None means any width."""
    shown = _with_fitting_texts(table, width)
    names = list(range(table.n_names))
    split = [list(names)]
    taken = sum(_width(shown, column) + _GAP for column in names)
    used = taken
    for column in range(table.n_names, len(table.heads)):
        needed = _width(shown, column) + _GAP
        if width is not None and used + needed - _GAP > width and len(split[-1]) > len(names):
            split.append(list(names))
            used = taken
        split[-1].append(column)
        used += needed
    blocks = [_block(shown, block, table.n_names) for block in split]
    return [line for number, block in enumerate(blocks) for line in ([""] if number else []) + block]


_Columns = Sequence[tuple[Sequence[str], Sequence[str]]]
"""The lines of the head and the cells of each column."""


def _with_fitting_texts(table: TextTable, width: int | None) -> _Columns:
    cells = [[row[column] for row in table.rows] for column in range(len(table.heads))]
    if width is not None:
        for column in range(table.n_names):
            most = int(width * _SHARE_OF_NAMES / table.n_names)
            cells[column] = [shortened(cell, most) for cell in cells[column]]
    heads = [
        _folded(head, max([_NARROWEST_HEAD, *map(width_of, texts)]))
        for head, texts in zip(table.heads, cells, strict=True)
    ]
    return list(map(_with_room_for_marks, heads, cells))


def _with_room_for_marks(head: list[str], cells: list[str]) -> tuple[list[str], list[str]]:
    """The head and the cells; if any cell has a mark, all other lines get a blank, so that digits are aligned."""
    if not any(cell.endswith(MARK) for cell in cells):
        return head, cells
    return [f"{line} " for line in head], [cell if cell.endswith(MARK) else f"{cell} " for cell in cells]


def _folded(head: str, width: int) -> list[str]:
    """A head in lines of about this width, broken after a blank or an underscore."""
    lines = [""]
    for part in re.findall(r"[^ _]+[ _]*|[ _]+", head):
        if lines[-1] and width_of((lines[-1] + part).rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.rstrip(" ") for line in lines]


def _width(shown: _Columns, column: int) -> int:
    head, cells = shown[column]
    return max(map(width_of, (*head, *cells)))


def _block(shown: _Columns, block: Sequence[int], n_names: int) -> list[str]:
    height = max(len(shown[column][0]) for column in block)
    heads = [[""] * (height - len(shown[column][0])) + list(shown[column][0]) for column in block]
    texts = [[*head, *shown[column][1]] for head, column in zip(heads, block, strict=True)]
    aligned = [
        [padded(text, _width(shown, column), to_left=place < n_names) for text in lines]
        for place, (column, lines) in enumerate(zip(block, texts, strict=True))
    ]
    return [(" " * _GAP).join(line).rstrip() for line in zip(*aligned, strict=True)]


_MOST_ROWS = 30

MethodChoice = Literal["checklist", "llm-eval", "llm-eval-c"]
ScaleChoice = Literal["unit", "ui"]
MarksScale = Annotated[
    ScaleChoice | None,
    Option(
        "--scale",
        help="Read verdicts of tables from 0 to 1 (unit), or from 0 to 4, as annotation tools write them (ui). Exports "
        "of annotators need no scale.",
        show_default=False,
    ),
]
SuiteOption = Annotated[
    str,
    Option(
        "--suite",
        "-s",
        help="Use this checklist suite: a directory, or a packaged suite such as essays-en or essays-ja.",
        metavar="SUITE",
    ),
]
JudgedRuns = Annotated[
    list[Path],
    Argument(
        help="Runs: directories, directories with many runs, or files of judgements.",
        metavar="RUN...",
        show_default=False,
    ),
]
RunsWithAnswers = Annotated[
    list[Path], Argument(help="Runs with answers.jsonl, or directories with many such runs.", metavar="RUN...")
]
Draws = Annotated[
    int, Option(min=0, help="Set the number of bootstrap draws for intervals; 0 computes no intervals.", metavar="N")
]


class Faults:
    """Lines that cannot be read; a line is reported when it is found, and only once."""

    def __init__(self) -> None:
        self._named: set[str] = set()

    def __call__(self, fault: str) -> None:
        """Reports a line that was not reported before."""
        if fault not in self._named:
            self._named.add(fault)
            warn(fault)

    def __bool__(self) -> bool:
        return bool(self._named)


@option_group
class JudgedOptions:
    """The options of commands that read judgements."""

    suite: SuiteOption
    judge: str | None = Option(None, help="Choose one of several judges by its name or version.", metavar="NAME")
    mixed: bool = Option(False, help="Combine replies of several versions of the judge, and to several prompts.")
    quiet: Quiet = False

    @cached_property
    def loaded(self) -> ChecklistSuite:
        """The suite."""
        from ..lab.checklists.checklist_suite import ChecklistSuite

        return ChecklistSuite.load(self.suite)

    @cached_property
    def faults(self) -> Faults:
        """The lines that cannot be read."""
        return Faults()

    @property
    def of_judge(self) -> dict[str, Any]:
        """The arguments of functions that read judgements."""
        return {"judge": self.judge, "mixed": self.mixed, "on_fault": self.faults}


@option_group
class ScoreOptions(JudgedOptions):
    """The options of commands that show scores."""

    missing: Literal["skip", "zero", "bounds"] | None = Option(
        None,
        help="Leave out (and mark) answers without a judgement, or count them as zero. With bounds, they are left out, "
        "and each model has its worst and best possible score and place. Default: the rule of the suite.",
        show_default=False,
    )
    method: MethodChoice = Option("checklist", help="Choose the method by which the judge was asked.")
    weights: Literal["suite", "equal"] = Option(
        "suite", help="Use the suite's weights, or equal weights (known as AVG-C)."
    )

    def score(self, runs: Sequence[Run]) -> Scores:
        """Scores runs."""
        from ..lab.checklists.checklist_scoring import score_runs

        return score_runs(
            self.loaded, runs, missing=self.missing, method=self.method, weights=self.weights, **self.of_judge
        )


@option_group
class FindingOptions(JudgedOptions):
    """The options of commands that end with a finding; its output is checked before anything is computed."""

    output: Path | None = Option(
        None, "-o", help="Write a page, tables and pictures to this directory. Default: print text only.", metavar="DIR"
    )
    as_json: Json = False

    def __post_init__(self) -> None:
        if self.output is not None:
            from ..base.file_writing import check_folder
            from ..report.drawing import library

            check_folder(self.output)
            library("matplotlib")  # before any work

    def present(self, finding: Finding, *, tables: Sequence[str] = ()) -> None:
        """Writes a page of the finding if a directory is given, and prints it as text, or its data as JSON."""
        is_silent = self.quiet or self.as_json
        if self.output is not None:
            show_finding(finding, self.output, quiet=is_silent)
        elif not is_silent:
            say_finding(finding)
        if self.as_json:
            print_json(finding.to_dict())
        elif not self.quiet:
            _print_tables(finding, tables, has_page=self.output is not None)

    def finish(self, finding: Finding, *, tables: Sequence[str] = ()) -> None:
        """Presents the finding; exits with 3 if lines could not be read."""
        self.present(finding, tables=tables)
        exit_if_partial(self.faults)


@option_group
class DrawnFindingOptions(FindingOptions):
    """The options of commands that end with a finding that has bootstrap intervals."""

    draws: Draws = 1000
    seed: RandomSeed = 0


def _print_tables(finding: Finding, names: Sequence[str], *, has_page: bool) -> None:
    """Prints the named tables, or the beginning of the first one."""
    tables = finding.shown_tables
    if names:
        print_tables(_readable(table, len(table.rows)) for table in tables if table.name in names)
        return
    for table in tables[:1]:
        print_tables([_readable(table, _MOST_ROWS)])
        if len(table.rows) > _MOST_ROWS:
            print_line((f"and {len(table.rows) - _MOST_ROWS:,} more rows", "dim"))
    if len(tables) > 1 and not has_page:
        titles = "; ".join(table.title for table in tables[1:])
        stdout().print(f"more with --output DIR or --json: {shown(titles)}", style="dim")


def _readable(table: Table, n_rows: int) -> TextTable:
    """The first rows of a table; its leading columns of text are the names of the rows."""
    from ..lab.checklists.checklist_tables import TextTable

    heads, to_left = table.heads(), table.text_columns()
    n_names = len(list(itertools.takewhile(to_left.__contains__, range(len(heads)))))
    return TextTable(table.title, tuple(heads), tuple(map(tuple, table.texts()[:n_rows])), max(1, n_names))
