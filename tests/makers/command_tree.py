"""Every command of the program, by its names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from pfgen_fast.cli.app import app


def _below(command: Any, context: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[Any, Any]]]:
    context = command.make_context(" ".join(("pfgen-fast", *path)), ["--help"], parent=context, resilient_parsing=True)
    yield " ".join(path), (command, context)
    for name in getattr(command, "commands", ()):
        yield from _below(command.get_command(context, name), context, (*path, name))


COMMANDS = dict(_below(typer.main.get_command(app)))
"""The commands and groups, each with its context; the program itself has no name."""
LEAVES = [name for name, (command, _) in COMMANDS.items() if not hasattr(command, "commands")]
"""The names of the commands without commands of their own."""
