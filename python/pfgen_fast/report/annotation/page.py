"""The page of an annotator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...annotations.sheets import Sheet
from ..page_files import write_page
from ..templating import page_json


def sheet_page(sheet: Sheet, *, is_served: bool = False) -> Iterator[str]:
    """Yields the page in pieces."""
    yield f"<!doctype html>{page_json(sheet.to_dict())}"


def write_sheet(sheet: Sheet, path: Path) -> None:
    """Writes the page."""
    write_page(path, sheet_page(sheet))
