"""Writes the report of checklists: a page, and the table next to it as CSV.

Untrusted text enters the page as in the report of runs: through the template, which escapes it, and as JSON that
scripts put into text nodes. A page in one file is bounded: if all answers of many models exceed that, the page says
what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...base.errors import ChecklistError
from ...base.file_writing import write_whole
from ...base.untrusted_text import utf8
from ...lab.checklists.checklist_runs import Run
from ...lab.checklists.checklist_scoring import ChecklistScores, ScoredPart
from ...lab.checklists.checklist_tables import full_table
from ...lab.checklists.line_files import OnFault
from .. import pages
from ..answers import packed
from ..pages import PAGE, in_parts, is_one_file, markup, page_json, page_text, write_bounded_page, write_page_folder
from .checklists_overview import (
    N_TINTS,
    Extent,
    ModelEvidence,
    category_rows,
    evidence_of,
    gap_rows,
    length_rows,
    mark_rows,
    marks_in_order,
    overview_of,
    shown_tasks,
    span_of,
    task_line,
)

NAME = "table"
"""The beginning of the names of the files next to a page in a folder."""

_GENERATOR = "pfgen-fast checklists report"

_SCRIPTS = (
    "unpacking.js",
    *("checklists/state.js", "address.js", "checklists/tasks.js", "checklists/answers.js", "dialog.js"),
    *("checklists/task_view.js", "checklists/questions.js", "steps.js", "checklists/main.js"),
)

# The parts that are left out first need the most space and are read least.
_EXTENTS = (
    Extent(),
    *(Extent(n) for n in (32_000, 16_000, 8_000, 4_000, 2_000, 1_000, 500, 0)),
    *(Extent(0, n) for n in (200, 100, 50, 0)),
)


def write_checklists(
    scores: ChecklistScores,
    runs: Sequence[Run],
    output: Path,
    *,
    judge: str | None = None,
    on_fault: OnFault | None = None,
) -> tuple[Path, Path]:
    """Writes a page, in a bounded file (.html) or in a folder, and the table next to it; returns their paths."""
    is_file = is_one_file(output)
    table = output.with_suffix(".csv") if is_file else output / f"{NAME}.csv"
    content = full_table(scores).to_csv()
    models = evidence_of(scores, runs, judge=judge, on_fault=on_fault)
    page = _Page(scores, models, {table.name: content})
    if is_file:
        page.write_file(output)
    else:
        page.write_folder(output)
    write_whole(table, utf8(content))
    return output if is_file else output / PAGE, table


class _Page:
    """A page before it is known how much of the texts fits into it."""

    def __init__(self, scores: ChecklistScores, models: Sequence[ModelEvidence], downloads: Mapping[str, str]) -> None:
        if not models:
            raise ChecklistError("a report needs at least one run")
        self._scores, self._models = scores, models
        self._tasks = shown_tasks(scores, models)
        self._marks = marks_in_order(mark for model in models for mark in model.marks)
        self._overview = overview_of(scores, models, self._marks)
        self._downloads = packed(dict(downloads))

    def write_file(self, path: Path) -> None:
        """Writes the page in one file of at most `pages.MAX_BYTES`."""
        write_bounded_page(
            path,
            len(self._tasks),
            _EXTENTS,
            self._lines,
            lambda extent, lines: self._pieces(extent, list(in_parts(lines, len))),
            n_runs=len(self._models),
            error=ChecklistError,
        )

    def write_folder(self, folder: Path) -> None:
        """Writes the page into a folder, with files of data next to it; nothing is left out."""
        sizes: list[int] = []

        def data() -> Iterator[list[str]]:
            for part in in_parts(self._lines(Extent()), len):
                sizes.append(len(part))
                yield part

        write_page_folder(
            folder,
            _GENERATOR,
            {"tasks": data()},
            lambda files: self._pieces(Extent(), [[""] * n for n in sizes], files["tasks"]),
        )

    def _lines(self, extent: Extent, step: int = 1) -> Iterator[str]:
        return (task_line(task, self._models, extent) for task in self._tasks[::step])

    def _pieces(self, extent: Extent, parts: Sequence[Sequence[str]], files: Sequence[str] = ()) -> Iterator[str]:
        scores = self._scores
        overview = {
            **self._overview,
            "files": files,
            "parts": [len(part) for part in parts],
            "extent": extent._asdict(),
        }
        low, high = span_of([model.average for model in scores.models])
        return page_text(
            "checklists.html.jinja",
            style="checklists.css",
            scripts=_SCRIPTS,
            generator=_GENERATOR,
            headline=f"Checklists: {scores.suite.name}",
            loads_scripts=bool(files),
            suite=scores.suite,
            scores=scores,
            n_answers=sum(len(model.answers) for model in scores.models),
            rows=scores.models,
            no_part=ScoredPart(),
            place=lambda value: f"{100 * (value - low) / (high - low):.1f}",
            categories=category_rows(scores),
            lengths=length_rows(scores),
            marks=self._marks,
            marked=mark_rows(self._models, self._marks) if self._marks else [],
            gaps=gap_rows(scores),
            means=self._overview["means"],
            n_tints=N_TINTS,
            extent=extent,
            max_megabytes=pages.MAX_BYTES // 1_000_000,
            overview=markup(page_json(overview)),
            downloads=markup(self._downloads),
            parts=[] if files else [markup("\n".join(lines)) for lines in parts],
        )
