"""Escapes untrusted text, with one function for each destination.

* a terminal: `terminal_text`; a message, with a limited length: `in_one_line`
* Markdown: `markdown_text`, `markdown_link`, `markdown_block`, `markdown_table`
* HTML: `html_text`; the templates of `report` escape text themselves
* a CSV cell: `csv_value`; a table: `csv_text`
* JSON: `json_text`, which is lossless, and `harmless_json`
* the address of a file in a link: `link_target`
* the names of directories: `folder_names`

All functions escape control and format characters. So their results cannot move a cursor or change the direction of
text, and can always be encoded in UTF-8.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

_FORBIDDEN = re.compile('[<>:"|?*]' if os.name == "nt" else "(?!)")
"""Characters that file names of this system cannot contain. On Windows, a colon begins the name of a hidden stream."""

_COMPARED_CODE_POINTS, _MOST_COMPARED = 200, 2000
"""Limits for comparing names, because the time grows with the square of their lengths."""

_MOST_NAMES = 40
"""Maximum number of names in a message; an untrusted file may have any number of names."""

ESCAPED = "x"
"""The tint of an escaped code point."""

# Controls, direction marks and other invisible format characters, line separators, noncharacters that break XML,
# lone surrogates, tags. Joiners (U+200C, U+200D) and variation selectors are kept, because scripts and emoji need them.
_ACTING = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f"
    "\\ufeff\\ufff9-\\ufffb\\ufffe\\uffff\\ud800-\\udfff\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a"
    "\\U000e0000-\\U000e007f]"
)

# Characters that can start markup in the Markdown of GitHub. An underscore within a word or a single colon cannot.
_MARKUP = re.compile(
    r"""
    [\\`*\[\]<>&|~$@\#]
    | (?<![^\W_])_
    | :(?=//|[\w+-]+:)       # addresses, names of emoji
    | (?<=www)\.
    | ^[-+=](?=[-+=\s]|$)    # lists and headings
    | ^[0-9](?=[0-9]*[.)](?:\s|$))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CONTROL_IN_JSON = re.compile(r"(?<!\\)((?:\\\\)*)(\\(?:[bfr]|u00[01].))")
_FENCES = re.compile(r"`+|~+")

# Texts that spreadsheets evaluate: https://owasp.org/www-community/attacks/CSV_Injection. Some programs ignore leading
# white space, and some also accept the full-width characters. A plain number is safe.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?", re.IGNORECASE)

_N_NAMED = 3


def harmless(text: str) -> str:
    """Replaces control and format characters by escapes such as `\\u202e`; keeps line breaks (U+000A) and tabs."""
    return _ACTING.sub(lambda match: _escape(match[0]), text)


def terminal_text(text: str) -> str:
    """A text for a line of a terminal."""
    return harmless(text).replace("\n", "\\n").replace("\t", "\\t")


def in_one_line(text: object, n_code_points: int = 80) -> str:
    """Converts any value to an escaped text of limited length without line breaks, for messages and names."""
    value = text if isinstance(text, str) else str(text)
    return terminal_text(value if len(value) <= n_code_points else value[: n_code_points - 1] + "…")


def nearest_names(name: str, known: Iterable[str], *, n: int = 1, cutoff: float = 0.6) -> list[str]:
    """The known names that are most similar to a name. For long names, only the beginnings are compared."""
    by_beginning: dict[str, str] = {}
    for other in islice(known, _MOST_COMPARED):
        by_beginning.setdefault(other[:_COMPARED_CODE_POINTS], other)
    from difflib import get_close_matches

    return [by_beginning[begin] for begin in get_close_matches(name[:_COMPARED_CODE_POINTS], by_beginning, n, cutoff)]


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str = "", cutoff: float = 0.6) -> str:
    """The end of an error message: the known name that is most similar to a name; `otherwise` if there is none."""
    nearest = nearest_names(name, known, cutoff=cutoff)
    return f"; did you mean '{in_one_line(nearest[0], 60)}'?" if nearest else otherwise


def unknown_name(what: str, name: object, known: Iterable[str], *, nearest: Iterable[str] | None = None) -> str:
    """An error message for an unknown name; `nearest` are the known names to offer, instead of those spelt alike."""
    shown = in_one_line(name)
    names = list(known)
    near = list(nearest_names(shown, names, n=_MOST_NAMES) if nearest is None else nearest)
    ordered = list(dict.fromkeys((*near, *names)))
    listed = ", ".join(in_one_line(name, 60) for name in ordered[:_MOST_NAMES])
    more = f" and {len(ordered) - _MOST_NAMES} more" if len(ordered) > _MOST_NAMES else ""
    hint = f"; did you mean '{in_one_line(near[0], 60)}'?" if near else ""
    return f"unknown {what} '{shown}'; expected one of {listed or 'none'}{more}{hint}"


def markdown_text(text: str) -> str:
    """A text for a line, a heading or a cell of Markdown; characters that could start markup become entities."""
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", terminal_text(text).strip())


def markdown_link(text: str, target: str) -> str:
    """A Markdown link to a `link_target`."""
    return f"[{markdown_text(text)}]({target})"


def markdown_block(text: str) -> str:
    """A Markdown code block that shows a text unchanged, including its line breaks."""
    shown = harmless(text)
    fence = "`" * max(3, 1 + max(map(len, _FENCES.findall(shown)), default=0))
    return f"{fence}text\n{shown}\n{fence}"


def markdown_row(cells: Iterable[str]) -> str:
    """A line of a Markdown table; the cells are already Markdown."""
    return f"| {' | '.join(cells)} |\n"


def markdown_table(heads: Iterable[str], rows: Iterable[Iterable[str]], texts: Container[int] | None = None) -> str:
    """A table of texts as Markdown; the columns in `texts`, by default all, are aligned to the left."""
    names = list(map(markdown_text, heads))
    marks = ["---" if texts is None or column in texts else "---:" for column in range(len(names))]
    return "".join(map(markdown_row, (names, marks, *(map(markdown_text, row) for row in rows))))


def link_target(path: Path, root: Path) -> str:
    """The address of a file relative to a directory, percent-encoded, without a scheme."""
    try:
        relative = os.path.relpath(path, root)
    except ValueError:  # on another drive of Windows
        return path.absolute().as_uri()
    return quote(os.fsencode(Path(relative).as_posix()))


def folder_names(model: str) -> list[str]:
    """Converts the name or path of a model to safe names of nested directories."""
    names = _FORBIDDEN.sub("_", model).replace("\\", "/").split("/")
    return [name for name in names if name.strip(" .")]


def html_text(text: str) -> str:
    """A text for HTML, in an element or in a quoted attribute."""
    from html import escape

    return escape(terminal_text(text))


def csv_value(value: Any) -> Any:
    """A CSV cell: a text in one line, with a leading `'` if a spreadsheet would evaluate it; other values as JSON."""
    if isinstance(value, str):
        text = terminal_text(value)
        return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
    return value if value is None or isinstance(value, (int, float)) else json_text(value)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV, with each cell converted by `csv_value`."""
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(map(csv_value, row) for row in (columns, *rows))
    return text.getvalue()


def from_csv_value(cell: str) -> str:
    """A CSV cell without the `'` of `csv_value`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell, 1) else cell


def json_text(value: Any, *, indent: int | None = None) -> str:
    """JSON that decodes to exactly this value, with JSON escapes for control and format characters."""
    return _ACTING.sub(_json_escape, json.dumps(value, ensure_ascii=False, indent=indent))


def harmless_json(value: Any) -> str:
    """JSON in one line whose texts are those of `value` as `harmless` returns them."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=dict)
    text = _CONTROL_IN_JSON.sub(lambda match: match[1] + _ACTING.sub(_in_json, json.loads(f'"{match[2]}"')), text)
    return _ACTING.sub(_in_json, text)


def _in_json(match: re.Match[str]) -> str:
    return f"\\{_escape(match[0])}"


def utf8(text: str) -> bytes:
    """A text in UTF-8; lone surrogates become escapes, as in JSON and Python."""
    return text.encode("utf-8", "backslashreplace")


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def harmless_with_tints(text: str, tints: str) -> tuple[str, str]:
    """Escapes a text, and adapts its tints, which have one character for each code point."""
    if not _ACTING.search(text):
        return text, tints
    pieces = list(_pieces(text, tints))
    return "".join(piece for piece, _ in pieces), "".join(tint for _, tint in pieces)


def _pieces(text: str, tints: str) -> Iterator[tuple[str, str]]:
    begin = 0
    for match in _ACTING.finditer(text):
        yield text[begin : match.start()], tints[begin : match.start()]
        escape = _escape(match[0])
        yield escape, ESCAPED * len(escape)
        begin = match.end()
    yield text[begin:], tints[begin:]


def _escape(character: str) -> str:
    code_point = ord(character)
    return f"\\u{code_point:04x}" if code_point <= 0xFFFF else f"\\U{code_point:08x}"


def shown_value(value: object) -> str:
    """An invalid value, shortened for an error message."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def first_names(names: Sequence[str]) -> str:
    """The first three names, with "such as" before them if there are more."""
    return ("such as " if len(names) > _N_NAMED else "") + ", ".join(map(in_one_line, names[:_N_NAMED]))


def few_names(names: Sequence[str], most: int = _N_NAMED, n_code_points: int = 60) -> str:
    """The first names, and the number of other names."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(in_one_line(name, n_code_points) for name in names[:most]) + more


def counted(n: int, noun: str) -> str:
    """A number with its noun, such as `1 row`, `1,000 rows` and `2 replies`."""
    plural = noun if n == 1 else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {plural}"


def has_no_surrogates(text: str) -> bool:
    """Whether UTF-8 can encode a text, that is, whether it has no lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
