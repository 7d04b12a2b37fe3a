"""Tables of results: the figures of many runs in one file, without their answers, as JSON lines.

Each line is a result.json with the name of its run as `run`; the members that rankings do not need may be missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import TrialsError
from ..files.reading import numbered_lines, reading
from ..files.untrusted_json import checked, member, parse_json, text
from .leaderboard import Entry, Leaderboard, entry_of, find_results, rank
from .result import parse_scores

PUBLISHED = "published"
"""The name of the table of the published results, which comes with the package."""

_TABLE = Path(__file__).parents[1] / "data" / "published" / "pfgen-bench.jsonl.xz"


def published() -> list[Entry]:
    """The published results, by name: those of pfgen-bench's repository on 9 July 2025."""
    return read_table(_TABLE)


def leaderboard(*runs: str | Path, with_published: bool = False) -> Leaderboard:
    """Ranks scored runs by score.

    Args:
        runs: Directories of runs, or directories with many runs.
        with_published: Whether the published results are ranked with them.

    Raises:
        TrialsError: A directory has no result, or a result cannot be read.

    Example:
        >>> leaderboard(with_published=True)[0].model
        'claude-opus-4-20250514'
    """
    return rank(find_results(runs), others=published() if with_published else ())


def read_entries(source: str | Path) -> list[Entry]:
    """The results of a source: the word `published`, a table of results, or a directory with runs."""
    if source == PUBLISHED:
        return published()
    path = Path(source)
    return read_table(path) if path.is_file() and path.name != "result.json" else rank(find_results([path]))


def read_table(path: Path) -> list[Entry]:
    """The results of a table."""
    with reading(path) as file:
        found = [
            _entry(parse_json(line, f"{path}, line {number}"), f"{path}, line {number}")
            for number, line in numbered_lines(file, str(path))
            if line.strip()
        ]
    if not found:
        raise TrialsError(f"{path}: expected lines of JSON, each a result.json with the run's name as 'run'")
    return found


def _entry(value: Any, where: str) -> Entry:
    name = checked(value, lambda found: member(found, "run", text), f"{where}: not a result")
    return entry_of(*parse_scores(value, where), name, where)
