"""The page of an annotator: one file without network access, which shows a sheet and exports the decisions.

The page shows harmless texts. What the export repeats (IDs, hashes, names) is embedded as JSON in ASCII, so it is
exact.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ..lab.annotations.annotation_rows import SHOWN, Sheet, export_lines, row_of
from .pages import markup, page_json, page_text, source, write_page

_SCRIPTS = (
    *("annotation/words.js", "annotation/items.js", "annotation/storage.js", "annotation/item_view.js"),
    *("annotation/dialogs.js", "annotation/exchange.js", "annotation/main.js"),
)


def sheet_page(sheet: Sheet) -> Iterator[str]:
    """Yields the page of a sheet in pieces."""
    shown = {
        "annotator": sheet.annotator,
        "suite": sheet.suite,
        "language": sheet.language,
        "content_language": sheet.content_language,
        "guideline": sheet.guideline,
        "levels": sheet.levels,
        "sheet": sheet.sha256,
        "header": json.dumps(json.loads(export_lines(sheet.header, ()).splitlines()[0])),
        "items": [
            {
                **{name: item[name] for name in item if name in SHOWN},
                "kind": item["kind"],
                "row": json.dumps(row_of(item)),
                "names": json.dumps([metric["name"] for metric in item.get("metrics", ())]),
            }
            for item in sheet.items
        ],
    }
    return page_text(
        "annotation.html.jinja",
        section="",
        headline=f"{len(sheet.items):,} items for {sheet.annotator}",
        style="annotation.css",
        scripts=_SCRIPTS,
        language=sheet.language,
        title=f"{words()[sheet.language]['title']}: {sheet.suite}",
        annotator=sheet.annotator,
        words=markup(page_json(words())),
        sheet=markup(page_json(shown)),
    )


def write_sheet(sheet: Sheet, path: Path) -> None:
    """Writes the page of a sheet into one file."""
    write_page(path, sheet_page(sheet))


def words() -> dict[str, dict[str, str]]:
    """The texts of the page by language."""
    texts: dict[str, dict[str, str]] = json.loads(source("annotation/words.json"))
    return texts
