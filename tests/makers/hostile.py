"""Names that attack the programs that show them, and the views of these programs on the result."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable

from markdown_it import MarkdownIt
from markdown_it.token import Token

INJECTED = "injected"
"""The text that attacks try to put into a heading, a title or a separate line."""

# No slash and no NUL, so that each can be the name of a folder.
NAMES = (
    f"a\n\n# {INJECTED}\n\n| b |\n| - |\n",
    f"a\r# {INJECTED}",
    "javascript:alert(1)",
    "data:text,x",
    "&lt;b&gt; &#60;i&#62; &amp;amp; &#x202e;",
    f"<img src=x onerror=alert(1)><script>document.title='{INJECTED}'",
    "[a](javascript:alert(1)) ![b](http:c) [d]: x [^e]",
    "a](x) [b",
    "a | b \\| c",
    "`a` ``` ~~~ \\",
    "*a* **b** _c_ __d__ ~~e~~",
    f"\x1b[31mred\x1b]0;{INJECTED}\x07\x1b[2J",
    f"\x9b31m\x85{INJECTED}\x7f\x00".replace("\x00", "\x08"),
    "a\u202egpj.exe\u2066\u200f\u061c\u200b\xad\ufeff\ufffe\U000e0001",
    "a\u2028b\u2029c",
    "[bold]x[/bold] [/] :bomb: \\[",
    "=1+1",
    " =1+1",
    "\t=1+1",
    "\n=1+1",
    "@SUM(1)",
    "-1+1",
    "+1+1",
    "＝1+1",
    "\u3000=1+1",
    "- a",
    "1. a",
    "# a",
    "    a",
    "===",
    "%0A%20%s {x} {{y}} {% z %}",
    "\"'><b x='",
    "<!-- leaderboard -->",
    "<!-- /leaderboard -->",
    "www.example.org @someone #1 a@example.org",
    "$x$ $$y$$ \\(z\\)",
    "a\udcffb",
    "x" * 200,
    "..a?b#c",
)

_KINDS = ("Cc", "Cs", "Zl", "Zp")
_DIRECTIONS = ("LRE", "LRO", "RLE", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


def acting(text: str) -> set[str]:
    """The characters of a text that control a terminal or the direction of text, or break a line, U+000A aside."""
    return {
        character
        for character in text.replace("\n", "")
        if unicodedata.category(character) in _KINDS or unicodedata.bidirectional(character) in _DIRECTIONS
    }


_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def markdown_tokens(text: str) -> list[Token]:
    """The tokens of a text in GitHub's Markdown, with those within lines beside those of blocks."""
    return [part for token in _MARKDOWN.parse(text) for part in (token, *(token.children or ()))]


def markdown_words(tokens: Iterable[Token]) -> str:
    """The visible text of tokens."""
    return "".join(token.content for token in tokens if token.type in ("text", "text_special"))


_EVALUATED = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")


def formulas(text: str) -> list[str]:
    """The cells of a CSV file that a spreadsheet would evaluate, except for numbers."""
    cells = [cell for row in csv.reader(io.StringIO(text, newline=""), strict=True) for cell in row]
    return [cell for cell in cells if _EVALUATED.match(cell) and not is_number(cell)]


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
