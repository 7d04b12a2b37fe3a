"""Folders of checklist suites, written file by file without the package, so that any file may be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SETTINGS = {
    "format": 1,
    "name": "tiny",
    "language": "en",
    "levels": [0, 0.25, 0.5, 0.75, 1],
    "rescale": {"centre": 75, "factor": 4},
    "areas": ["letters", "stories"],
    "words": "regex",
    "missing": "skip",
}
TASKS = (
    {"id": "thanks-1", "area": "letters", "category": "thanks", "instruction": "Thank an aunt for a kite."},
    {"id": "fable-1", "area": "stories", "category": "fable", "instruction": "Write a fable about a heron."},
    {
        "id": "fable-1",
        "length": "2k",
        "wanted_words": 2000,
        "area": "stories",
        "category": "fable",
        "instruction": "Write a fable about a heron, no shorter than 2000 words.",
    },
)
CHECKLISTS = {
    "letters": {"thanks": ["Is it warm?", "Is it short?"]},
    "stories": {"fable": ["Is there a moral?", "Does an animal speak?", "Is it flawless?"]},
}
WEIGHTS = {"letters": {"thanks": [60, 40]}, "stories": {"fable": [20, 30, 50]}}

Files = dict[str, Any]


def write_suite_files(folder: Path, files: Files | None = None, **settings: Any) -> Path:
    """Writes a suite; `files` adds or replaces files by name (text, bytes or JSON), or leaves a file out (None)."""
    folder.mkdir(parents=True, exist_ok=True)
    usual: Files = {
        "suite.json": {**SETTINGS, **settings},
        "tasks.jsonl": "".join(f"{json.dumps(task)}\n" for task in TASKS),
        "checklists.json": CHECKLISTS,
        "weights.json": WEIGHTS,
    }
    for name, content in {**usual, **(files or {})}.items():
        if content is None:
            continue
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder


def with_task(**changes: Any) -> str:
    """The tasks, the last of which is changed."""
    return "".join(f"{json.dumps(task)}\n" for task in (*TASKS[:-1], {**TASKS[-1], **changes}))
