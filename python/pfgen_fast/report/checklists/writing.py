"""Writes the report of checklists: a page, and the table beside it as Markdown, CSV and JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ...checklists.line_files import OnFault
from ...checklists.runs import Run
from ...checklists.scoring.scores import Scores
from ...checklists.scoring.table_data import to_csv, to_dict
from ...checklists.scoring.text_tables import to_markdown
from ...files.untrusted_text import json_text, utf8
from ...files.writing import write_whole
from ..page_files import PAGE
from .evidence import evidence_of
from .page import Page

NAME = "table"
"""The beginning of the names of the files beside a page in a folder."""


def write_checklists(
    scores: Scores,
    runs: Sequence[Run],
    output: Path,
    *,
    judge: str | None = None,
    on_fault: OnFault | None = None,
    on_model: Callable[[str], None] | None = None,
) -> list[Path]:
    """Writes a page with the scores, and with every answer beside its verdicts; the table beside it in three forms.

    A name that ends in .html is a page in one file of at most 30 MB, which leaves out requests and then the ends of
    long texts if it must, and says so. Any other name is a folder, whose page holds everything.
    """
    name = output.stem if is_one_file(output) else NAME
    beside = {
        f"{name}.md": to_markdown(scores, with_categories=True, with_lengths=True),
        f"{name}.csv": to_csv(scores),
        f"{name}.json": json_text(to_dict(scores, with_questions=True), indent=1) + "\n",
    }
    page = Page(scores, evidence_of(scores, runs, judge=judge, on_fault=on_fault, on_model=on_model), beside)
    folder = output.parent if is_one_file(output) else output
    if is_one_file(output):
        page.write_file(output)
    else:
        page.write_folder(output)
    for file, content in beside.items():
        write_whole(folder / file, utf8(content))
    return [output if is_one_file(output) else output / PAGE, *(folder / file for file in beside)]


def is_one_file(output: Path) -> bool:
    """Whether the output is a page in one file: a name that ends in .html, unless it is a folder."""
    return output.suffix.lower() in (".html", ".htm") and not output.is_dir()
