"""A suite, two runs with answers and judgements, and people's marks, as files that a test may spoil."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from makers.suite_folders import write_suite_files

N_TASKS = 4
MODELS = ("heron", "stork")
TASKS = tuple(
    {"id": f"{category}-{number}", "area": area, "category": category, "instruction": f"Write {category} {number}."}
    for area, category in (("letters", "thanks"), ("stories", "fable"))
    for number in range(N_TASKS)
)
N_QUESTIONS = {"letters": 2, "stories": 3}

Row = dict[str, Any]

JUDGE = "judge-2024-08-06"
COMMANDS: dict[str, list[str]] = {
    "info": ["suite"],
    "generate": ["--suite", "suite", "--model", "m", "-o", "made", "--dry-run"],
    "judge": ["runs", "-s", "suite", "-m", JUDGE, "--dry-run"],
    "table": ["runs", "-s", "suite", "--draws", "9"],
    "report": ["runs", "-s", "suite", "-o", "page.html", "--draws", "9"],
    "metrics": ["runs", "-s", "suite", "-o", "metrics.csv"],
    "errors": ["runs", "-s", "suite"],
    "fit": ["marks.jsonl", "-s", "suite", "--scale", "unit", "-o", "weights.json"],
    "agreement": ["marks.jsonl", "runs", "-s", "suite", "--draws", "9", "--scale", "unit"],
    "correlate": ["runs", "-s", "suite", "--draws", "9", "--marks", "marks.jsonl", "--scale", "unit"],
}
"""What is typed after `checklists` in the folder of `write_judged`."""


def response_of(model: str, id: str) -> str:
    return f"{model} wrote a text for {id}. It has two sentences."


def write_judged(folder: Path) -> Path:
    """Writes `suite`, `runs/heron`, `runs/stork` and `marks.jsonl`."""
    write_suite_files(folder / "suite", {"tasks.jsonl": lines(TASKS)})
    marks: list[Row] = []
    for shift, model in enumerate(MODELS):
        run = folder / "runs" / model
        run.mkdir(parents=True)
        (run / "config.json").write_text(json.dumps({"model": model}))
        rows = [_judgement(model, task, number + shift) for number, task in enumerate(TASKS)]
        (run / "judgements.jsonl").write_text(lines(rows))
        (run / "answers.jsonl").write_text(
            lines({"id": task["id"], "response": response_of(model, str(task["id"]))} for task in TASKS)
        )
        for number, row in enumerate(rows):
            own = {name: row[name] for name in ("id", "response_sha256")}
            marks.append({**own, "annotator": "a", "verdicts": row["scores"], "overall": 1 + number})
    (folder / "marks.jsonl").write_text(lines(marks))
    return folder


def _judgement(model: str, task: Row, number: int) -> Row:
    verdicts = [((3 * number + 2 * question) % 5) / 4 for question in range(N_QUESTIONS[task["area"]])]
    digest = hashlib.sha256(response_of(model, task["id"]).encode()).hexdigest()
    return {
        "id": task["id"],
        "response_sha256": digest,
        "scores": verdicts,
        "judge": "judge-1",
        "reasons": ["so"] * len(verdicts),
    }


def lines(rows: Any) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def change_row(path: Path, number: int, **changes: Any) -> None:
    """Changes keys of one row."""
    change_rows(path, lambda rows: [{**row, **changes} if row is rows[number] else row for row in rows])


def change_rows(path: Path, change: Callable[[list[Row]], list[Row]]) -> None:
    """Changes the rows of a file."""
    path.write_text(
        lines(change([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])), encoding="utf-8"
    )


def change_line(path: Path, number: int, line: bytes) -> None:
    """Puts bytes in place of a line."""
    content = path.read_bytes().splitlines(keepends=True)
    content[number] = line + b"\n"
    path.write_bytes(b"".join(content))


def change_json(path: Path, **changes: Any) -> None:
    """Changes keys of an object."""
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")
