"""Layout of help: no word is broken, and an example that is too long for a line can still be copied."""

from __future__ import annotations

import re
from typing import Any

import typer

_HYPHEN, _UNBROKEN_HYPHEN = "-", "\u2011"
_EXAMPLE = re.compile(r"( *)(pfgen-fast .*(?:\n.+)*)")
_OPTION = re.compile(r" (?=-)")

_HelpFormatter: Any = typer.Context.formatter_class


class _Formatter(_HelpFormatter):  # type: ignore[misc]  # typer may contain a copy of click
    """Keeps words with hyphens whole, such as `--float-sum` and `n-gram`, at which lines would be broken."""

    def write_text(self, text: str) -> None:
        """Writes paragraphs; examples are continued on further lines as a shell reads them."""
        paragraphs = (self._folded(paragraph) for paragraph in text.split("\n\n"))
        super().write_text("\n\n".join(paragraphs).replace(_HYPHEN, _UNBROKEN_HYPHEN))

    def write_dl(self, rows: Any, *args: Any, **settings: Any) -> None:
        """Writes a list of options or commands."""
        rows = [(first, second.replace(_HYPHEN, _UNBROKEN_HYPHEN)) for first, second in rows]
        super().write_dl(rows, *args, **settings)

    def write(self, string: str) -> None:
        """Writes a part of the help."""
        super().write(string.replace(_UNBROKEN_HYPHEN, _HYPHEN))

    def _folded(self, paragraph: str) -> str:
        """Splits an example into lines; the mark \\b in its first line prevents further wrapping."""
        example = _EXAMPLE.fullmatch(paragraph)
        if example is None:
            return paragraph
        indent, command = example[1], " ".join(example[2].split())
        width = self.width - self.current_indent - len(indent) - len(" \\")
        parts: list[str] = []
        for option in _OPTION.split(command):
            parts += [option] if len(option) <= width else option.split()
        lines = [""]
        for part in parts:
            if lines[-1] and len(lines[-1]) + 1 + len(part) > width:
                lines.append(f"  {part}")
            else:
                lines[-1] += f" {part}" if lines[-1] else part
        return f"{indent}\b\n" + " \\\n".join(lines)


class Context(typer.Context):
    """The context of a command with this layout of help."""

    formatter_class = _Formatter
