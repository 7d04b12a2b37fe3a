"""Checks as annotations of GitHub Actions, and as a job summary in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import PfgenError
from ..files.cells import markdown_row
from ..files.untrusted_text import markdown_text, terminal_text, utf8
from .checks import Check, counts_of

_MOST_ROWS = 500
"""GitHub accepts summaries of 1 MiB."""
_ESCAPED = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def workflow_commands(checks: Sequence[Check]) -> list[str]:
    """A workflow command for each check, failed ones first: GitHub shows the first ten of each kind."""
    return [_annotation(check) for check in _failed_first(checks)]


def _failed_first(checks: Sequence[Check]) -> list[Check]:
    return sorted(checks, key=lambda check: (check.passes, check.outcome == "passed"))


def _annotation(check: Check) -> str:
    kind = "error" if not check.passes else "notice" if check.outcome == "passed" else "warning"
    title = terminal_text(f"{check.outcome}: {check.name}").translate(_ESCAPED)
    return f"::{kind} title={title}::{terminal_text(check.sentence).replace('%', '%25')}"


def summary(checks: Sequence[Check], title: str) -> str:
    """The job summary: a table with a row for each check, failed ones first."""
    ordered = _failed_first(checks)
    lines = [f"### {markdown_text(title)}\n\n{counts_of(checks)}\n\n"]
    lines += [markdown_row(("Outcome", "Check", "What was found")), markdown_row(["---"] * 3)]
    for check in ordered[:_MOST_ROWS]:
        cells = (
            check.outcome if check.passes else f"**{check.outcome}**",
            *map(markdown_text, (check.name, check.sentence)),
        )
        lines.append(markdown_row(cells))
    if len(ordered) > _MOST_ROWS:
        lines.append(f"\n{len(ordered) - _MOST_ROWS:,} more checks are left out.\n")
    return "".join(lines) + "\n"


def append_summary(path: Path, checks: Sequence[Check], title: str) -> None:
    """Appends the job summary to a file."""
    try:
        with path.open("ab") as file:
            file.write(utf8(summary(checks, title)))
    except OSError as error:
        raise PfgenError(f"{path}: cannot be written: {error.strerror or error}") from None
