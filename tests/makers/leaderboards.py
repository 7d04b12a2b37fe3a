"""Tables of results."""

from __future__ import annotations

import json
from pathlib import Path

from pfgen_fast.runs.leaderboard import find_results


def results_as_lines(folder: Path) -> list[str]:
    """The results below a folder as lines of a table, named `run 0`, `run 1`, ..."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in find_results([folder])]
    return [json.dumps({**result, "run": f"run {number}"}) + "\n" for number, result in enumerate(results)]
