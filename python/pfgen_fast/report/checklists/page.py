"""The page of checklists: the table, and every answer beside its verdicts, in a file or in a folder.

Untrusted text enters it as in the report of runs: through the template, which escapes it, and as JSON that scripts put
into text nodes. A file is bounded: if all answers of many models exceed that, the page says what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ... import __version__
from ...checklists.scoring.scores import Scores
from ...errors import ChecklistError
from ...files.untrusted_text import harmless
from ...files.writing import writing_whole
from ..answers import packed
from ..page_folders import PageKind, write_page_folder
from ..templating import library, own_code, page_json, source, template
from .evidence import ModelEvidence
from .overview import overview_of, shown_tasks
from .rows import N_TINTS, category_rows, gap_rows, length_rows, mark_rows, marks_in_order, model_rows, span_of
from .task_lines import Extent, task_line

MAX_BYTES = 30_000_000
"""The maximum size of a page in one file."""

KIND = PageKind("pfgen-fast checklists report", "tasks")

_SCRIPTS = (
    *("page.js", "sorting.js", "unpacking.js"),
    *("checklists/state.js", "address.js", "checklists/tasks.js", "checklists/answers.js", "dialog.js"),
    *("checklists/task_view.js", "checklists/questions.js", "checklists/main.js"),
)
_PART_BYTES = 500_000
_N_TRIED = 40  # tasks whose lines tell how long all of them will be

# What costs most and is least often read goes first.
_EXTENTS = (
    Extent(),
    Extent(has_requests=False),
    *(Extent(n, None, has_requests=False) for n in (32_000, 16_000, 8_000, 4_000, 2_000, 1_000, 500, 0)),
    *(Extent(0, n, has_requests=False) for n in (200, 100, 50, 0)),
)


class Page:
    """A page before it is known how much of the texts fits into it."""

    def __init__(self, scores: Scores, models: Sequence[ModelEvidence], downloads: Mapping[str, str]) -> None:
        if not models:
            raise ChecklistError("a report needs at least one run")
        self._scores, self._models = scores, models
        self._tasks = shown_tasks(scores, models)
        self._marks = marks_in_order(mark for model in models for mark in model.marks)
        self._overview = overview_of(scores, models, self._marks)
        self._downloads = packed(dict(downloads))

    def write_file(self, path: Path) -> None:
        """Writes the page in one file of at most `MAX_BYTES`."""
        room = MAX_BYTES - sum(len(piece.encode()) for piece in self._pieces(Extent(), [])) - 100 * len(self._tasks)
        extent, lines = self._lines_that_fit(room)
        with writing_whole(path) as file:
            for piece in self._pieces(extent, list(_parts(lines))):
                file.write(piece.encode())

    def write_folder(self, folder: Path) -> None:
        """Writes the page into a folder, with files of data beside it; nothing is left out."""
        sizes: list[int] = []

        def data() -> Iterator[list[str]]:
            for part in _parts(self._lines(self._tasks, Extent())):
                sizes.append(len(part))
                yield part

        write_page_folder(
            folder, KIND, data(), lambda files: "".join(self._pieces(Extent(), [[""] * n for n in sizes], files))
        )

    def _pieces(self, extent: Extent, parts: Sequence[Sequence[str]], files: Sequence[str] = ()) -> Iterator[str]:
        """The text of the page."""
        markup, scores, suite = library("markupsafe").Markup, self._scores, self._scores.suite
        overview = {
            **self._overview,
            "files": files,
            "parts": [len(part) for part in parts],
            "extent": {"answer": extent.answer, "reason": extent.reason, "has_requests": extent.has_requests},
        }
        low, high = span_of([model.average for model in scores.models])
        pieces: Iterator[str] = template("checklists.html.jinja", figure=_figure, breakable=_breakable).generate(
            version=__version__,
            generator=KIND.generator,
            suite=suite,
            scores=scores,
            n_answers=sum(len(model.answers) for model in scores.models),
            rows=model_rows(scores),
            place=lambda value: f"{100 * (value - low) / (high - low):.1f}",
            categories=category_rows(scores),
            lengths=length_rows(scores),
            marks=self._marks,
            marked=mark_rows(self._models, self._marks) if self._marks else [],
            gaps=gap_rows(scores),
            means=self._overview["means"],
            n_tints=N_TINTS,
            extent=extent,
            max_megabytes=MAX_BYTES // 1_000_000,
            overview=markup(page_json(overview)),
            downloads=markup(self._downloads),
            parts=[] if files else [markup("\n".join(lines)) for lines in parts],
            **own_code(
                style=source("report.css") + source("checklists.css"),
                early_script=source("theme.js"),
                script="".join(map(source, _SCRIPTS)),
                loads_scripts=bool(files),
            ),
        )
        return pieces

    def _lines(self, tasks: Iterable[Any], extent: Extent) -> Iterator[str]:
        return (task_line(task, self._models, extent) for task in tasks)

    def _lines_that_fit(self, n_bytes: int) -> tuple[Extent, list[str]]:
        """The lines of all tasks, with as much of the texts as the space allows."""
        tried = self._tasks[:: max(1, len(self._tasks) // _N_TRIED)]
        for extent in _EXTENTS:
            guess = sum(map(len, self._lines(tried, extent))) * len(self._tasks) / max(1, len(tried))
            if guess > 1.1 * n_bytes:
                continue
            lines = list(_while_they_fit(self._lines(self._tasks, extent), n_bytes))
            if len(lines) == len(self._tasks):
                return extent, lines
        raise ChecklistError(
            f"{len(self._models)} runs are too many for one page of {MAX_BYTES // 1_000_000} MB; report fewer, or "
            "write a folder (without .html)"
        )


def _parts(lines: Iterable[str]) -> Iterator[list[str]]:
    """The lines in parts, so that neither are there many files nor is any of them long."""
    part: list[str] = []
    size = 0
    for line in lines:
        part.append(line)
        size += len(line)
        if size >= _PART_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _while_they_fit(lines: Iterable[str], n_bytes: int) -> Iterator[str]:
    for line in lines:
        n_bytes -= len(line) + 1
        if n_bytes < 0:
            return
        yield line


def _figure(value: float | None, n_digits: int) -> str:
    return "–" if value is None else f"{round(value, n_digits) + 0.0:,.{n_digits}f}"  # no negative zero


def _breakable(name: str) -> Any:
    """A name that may be broken behind its underscores."""
    return library("markupsafe").Markup("_<wbr>").join(harmless(name).split("_"))
