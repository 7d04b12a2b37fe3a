"""Replaces the leaderboard in a Markdown file, between two comments that mark its place."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import TrialsError
from .file_reading import read_stored
from .file_writing import write_whole
from .untrusted_text import utf8

BEGIN, END = "<!-- leaderboard -->", "<!-- /leaderboard -->"

_LINK = re.compile(r"\]\(([^()\s]*)\)")
_CODE = re.compile(
    r"^(?:[ ]{0,3}>)*[ ]{0,3}(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*"
    r"(?:\n(?s:.*?)^[ \t>]*(?P=fence)[`~]*[ \t]*\r?$|(?s:.*))"
    r"|(?P<ticks>`+)[^\n]*?(?P=ticks)",
    re.MULTILINE,
)
"""Fenced blocks (an unclosed block extends to the end of the text) and inline code."""


def update(path: Path, table: str) -> list[str]:
    """Replaces the text between the two leaderboard comments of a Markdown file; comments in code are ignored."""
    try:
        text = read_stored(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise TrialsError(f"{path}: not UTF-8 (byte {error.start})") from None
    without_code = _CODE.sub(lambda code: " " * len(code[0]), text)
    begin, end = without_code.find(BEGIN), without_code.find(END)
    if not 0 <= begin < end or (without_code.count(BEGIN), without_code.count(END)) != (1, 1):
        raise TrialsError(f"{path}: expected one '{BEGIN}' followed by one '{END}', which mark the place of the table")
    former = text[begin + len(BEGIN) : end]
    line_end = "\r\n" if former.startswith("\r\n") else "\n"
    lines = f"{BEGIN}\n{table}\n".replace("\n", line_end)
    write_whole(path, utf8(f"{text[:begin]}{lines}{text[end:]}"))
    there = set(_LINK.findall(table))
    return [link for link in _LINK.findall(former) if link not in there]
