"""The page of an annotator: one file without network access, which shows a sheet and exports the decisions.

The page shows answers and the guideline as Markdown, and other texts as they are. What the export repeats (IDs, hashes,
names) is embedded as JSON in ASCII, so it is exact.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from functools import lru_cache

from markdown_it import MarkdownIt

from ..lab.annotations.annotation_rows import SHOWN, Sheet, export_lines, row_of
from .pages import markup, page_json, page_text, source

_SCRIPTS = (
    *("annotation/words.js", "annotation/items.js", "annotation/storage.js", "annotation/item_view.js"),
    *("annotation/dialogs.js", "annotation/exchange.js", "annotation/main.js"),
)

# Without HTML, links and pictures, so that a text cannot act or load something.
_LEFT_OUT = ("autolink", "code", "html_block", "html_inline", "image", "link", "reference")
_MARKDOWN = MarkdownIt("js-default", {"html": False, "breaks": True}).disable(_LEFT_OUT)

_ANSWERS = ("reference", "response", "first", "second")
_PLAIN = ("instruction", "description", "before", "after")
_MOST_CODE_POINTS = 100_000  # of Markdown, which takes 5 microseconds for each
_BLOCK = re.compile(r"(?s).{1,10000}\Z|.{0,9999}\n|.{1,10000}")
"""A browser lays out a megabyte in one block in seconds."""


def sheet_page(sheet: Sheet) -> Iterator[str]:
    """Yields the page of a sheet in pieces."""
    shown = {
        "annotator": sheet.annotator,
        "suite": sheet.suite,
        "language": sheet.language,
        "content_language": sheet.content_language,
        "guideline": markdown_html(sheet.guideline, 3),
        "levels": sheet.levels,
        "sheet": sheet.sha256,
        "header": json.dumps(json.loads(export_lines(sheet.header, ()).splitlines()[0])),
        "items": [
            {
                **{name: item[name] for name in item if name in SHOWN and name not in (*_ANSWERS, *_PLAIN)},
                "texts": {
                    name: markdown_html(item[name]) if name in _ANSWERS else plain_html(item[name])
                    for name in (*_PLAIN[:2], *_ANSWERS, *_PLAIN[2:])
                    if item.get(name) is not None
                },
                "excerpt": " ".join((item.get("instruction") or item.get("description") or "")[:300].split()),
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


@lru_cache(maxsize=4096)  # annotators share answers
def markdown_html(text: str, heading: int = 4) -> str:
    """A text in Markdown as HTML, whose headings have one level. A very long text stays as it is."""
    if len(text) > _MOST_CODE_POINTS:
        return plain_html(text)
    # Text has no "<" any more, so the tags are those of Markdown.
    shown = re.sub(r' style="[^"]*">', ">", _MARKDOWN.render(text))
    return re.sub(r"<h([1-6])>(.*?)</h\1>", rf'<h{heading} class="level-\1">\2</h{heading}>', shown, flags=re.DOTALL)


def plain_html(text: str) -> str:
    """A text as HTML, in blocks that end at line breaks if there are any."""
    name = "block huge" if len(text) > _MOST_CODE_POINTS else "block"
    return "".join(f'<div class="{name}">{html.escape(block)}</div>' for block in _BLOCK.findall(text))


def words() -> dict[str, dict[str, str]]:
    """The texts of the page by language."""
    texts: dict[str, dict[str, str]] = json.loads(source("annotation/words.json"))
    return {language: {word: texts[word][language] for word in texts} for language in texts["name"]}
