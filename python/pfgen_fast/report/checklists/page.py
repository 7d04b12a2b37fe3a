"""The page of checklists: the table, and every answer beside its verdicts, in a file or in a folder.

Untrusted text enters it as in the report of runs: through the template, which escapes it, and as JSON that scripts put
into text nodes. A file is bounded: if all answers of many models exceed that, the page says what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...checklists.scoring.scores import Scores
from ...errors import ChecklistError
from .. import page_files
from ..answers import packed
from ..page_files import in_parts, write_bounded_page, write_page_folder
from ..templating import markup, page_json, page_text
from .evidence import ModelEvidence
from .overview import overview_of, shown_tasks
from .rows import N_TINTS, category_rows, gap_rows, length_rows, mark_rows, marks_in_order, model_rows, span_of
from .task_lines import Extent, task_line

_GENERATOR = "pfgen-fast checklists report"

_SCRIPTS = (
    *("sorting.js", "unpacking.js"),
    *("checklists/state.js", "address.js", "checklists/tasks.js", "checklists/answers.js", "dialog.js"),
    *("checklists/task_view.js", "checklists/questions.js", "steps.js", "checklists/main.js"),
)

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
        """Writes the page in one file of at most `page_files.MAX_BYTES`."""
        write_bounded_page(
            path,
            len(self._tasks),
            _EXTENTS,
            self._lines,
            lambda extent, lines: self._pieces(extent, list(in_parts(lines, len))),
            ChecklistError(
                f"{len(self._models)} runs are too many for one page of {page_files.MAX_BYTES // 1_000_000} MB; "
                "report fewer, or write a folder (without .html)"
            ),
        )

    def write_folder(self, folder: Path) -> None:
        """Writes the page into a folder, with files of data beside it; nothing is left out."""
        sizes: list[int] = []

        def data() -> Iterator[list[str]]:
            for part in in_parts(self._lines(Extent()), len):
                sizes.append(len(part))
                yield part

        write_page_folder(
            folder, _GENERATOR, "tasks", data(), lambda files: self._pieces(Extent(), [[""] * n for n in sizes], files)
        )

    def _lines(self, extent: Extent, step: int = 1) -> Iterator[str]:
        return (task_line(task, self._models, extent) for task in self._tasks[::step])

    def _pieces(self, extent: Extent, parts: Sequence[Sequence[str]], files: Sequence[str] = ()) -> Iterator[str]:
        """The text of the page."""
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
            loads_scripts=bool(files),
            suite=scores.suite,
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
            max_megabytes=page_files.MAX_BYTES // 1_000_000,
            overview=markup(page_json(overview)),
            downloads=markup(self._downloads),
            parts=[] if files else [markup("\n".join(lines)) for lines in parts],
        )
