"""`python tools/command_reference.py`: writes the help of all commands into docs/reference/commands.md."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from pfgen_fast.cli.commands import COMMANDS, GROUPS, help_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "commands.md"
BEGIN = "<!-- what tools/command_reference.py wrote -->\n"


def written() -> str:
    """The page: what stands above the mark, and the help of each command, 100 columns wide."""
    with mock.patch.dict(os.environ, COLUMNS="100"):
        return PAGE.read_text(encoding="utf-8").partition(BEGIN)[0] + BEGIN + "".join(_sections())


def _sections() -> Iterator[str]:
    for title, names in GROUPS.items():
        yield f"\n## {title}\n"
        for path in (path for name in names for path in COMMANDS if path.split()[0] == name):
            yield f"\n### {path}\n\n```text\n{help_of(path)}```\n"


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
