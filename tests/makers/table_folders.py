"""Directories of tables that are scored, and what is in their outputs."""

from __future__ import annotations

import json
from pathlib import Path

from makers.builds import files_below
from pfgen_fast.tables.folders.scoring import FileOutcome

ANSWERS = ("Ice floats.", "", "Water expands when it freezes.", "氷")


def write(folder: Path, name: str, n_rows: int = 3, answer: str | None = None) -> Path:
    """A table whose rows are like those of no other table."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": f"{name} {row}", "question": "Q07", "answer": answer if answer is not None else ANSWERS[row % 4]}
        for row in range(n_rows)
    ]
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def make_inputs(folder: Path) -> list[str]:
    for name in ("a.jsonl", "day=1/a.jsonl", "day=2/b.jsonl"):
        write(folder, name)
    return ["a.jsonl", "day=1/a.jsonl", "day=2/b.jsonl"]


def outputs(folder: Path) -> dict[str, bytes]:
    """What readers of the folder see."""
    return {name: content for name, content in files_below(folder).items() if not name.startswith(("_", "."))}


def ids(folder: Path) -> list[str]:
    return sorted(json.loads(line)["id"] for content in outputs(folder).values() for line in content.splitlines())


def statuses(outcomes: list[FileOutcome]) -> list[str]:
    return [outcome.status for outcome in outcomes]


def names_of(tasks: list) -> list[str]:
    return [task.name for task in tasks]
