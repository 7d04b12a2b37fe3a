"""Writes the directory of a checklist suite; see `suite_files`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import ChecklistError
from ..files.json_writing import json_bytes
from ..files.reading import read_stored
from ..files.writing import check_folder, write_whole
from ..judging.template import Template
from .checklist_files import CHECKLISTS_FILE, WEIGHTS_FILE, by_area
from .line_files import write_objects
from .prompt_files import PROMPTS
from .suite import ChecklistSuite
from .suite_files import FORMAT, GUIDELINE_FILE, SETTINGS_FILE
from .tasks import Prompts


def write_suite(suite: ChecklistSuite, folder: Path) -> None:
    """Writes the files of a suite, each atomically, and replaces an earlier suite; suite.json is written last."""
    check_suite_folder(folder)
    guideline = suite.folder and suite.folder / GUIDELINE_FILE
    rules = read_stored(guideline) if guideline is not None and guideline.exists() else None
    (folder / SETTINGS_FILE).unlink(missing_ok=True)
    _write_prompts(suite.prompts, folder)
    _write_tasks(suite, folder)
    questions = {key: one.questions for key, one in suite.checklists.items()}
    weights = {key: one.weights for key, one in suite.checklists.items() if one.has_weights}
    if rules is not None:
        write_whole(folder / GUIDELINE_FILE, rules)
    write_whole(folder / CHECKLISTS_FILE, json_bytes(by_area(questions)))
    (folder / WEIGHTS_FILE).unlink(missing_ok=True)
    if weights:
        write_whole(folder / WEIGHTS_FILE, json_bytes(by_area(weights)))
    write_whole(folder / SETTINGS_FILE, json_bytes(_settings_of(suite)))


def check_suite_folder(folder: Path) -> None:
    """Raises PfgenError if a suite cannot be written to a directory, which may be missing."""
    check_folder(folder)
    if not folder.exists():
        return
    own = (SETTINGS_FILE, "tasks.jsonl", CHECKLISTS_FILE, WEIGHTS_FILE, "prompts")
    is_suite = (folder / SETTINGS_FILE).exists() or all(path.name in own for path in folder.iterdir())
    if not is_suite:
        raise ChecklistError(f"{folder}: is not the folder of a suite; expected a new folder, or a suite")


def _settings_of(suite: ChecklistSuite) -> dict[str, Any]:
    prompts = {name: f"prompts/{name}.txt" if getattr(suite.prompts, name) else None for name in PROMPTS}
    return {
        "format": FORMAT,
        "name": suite.name,
        "language": suite.language,
        "levels": list(suite.levels),
        "rescale": {"centre": suite.rescaling.centre, "factor": suite.rescaling.factor},
        "areas": list(suite.areas),
        "words": suite.words,
        "prompts": prompts,
        "missing": suite.missing,
        **({"notes": list(suite.notes)} if suite.notes else {}),
    }


def _write_prompts(prompts: Prompts, folder: Path) -> None:
    for name in PROMPTS:
        template: Template | None = getattr(prompts, name)
        path = folder / "prompts" / f"{name}.txt"
        if template is None:
            path.unlink(missing_ok=True)
        else:
            write_whole(path, template.text.encode())


def _write_tasks(suite: ChecklistSuite, folder: Path) -> None:
    for former in (*folder.glob("tasks.jsonl*"), *folder.glob("tasks.parquet")):
        former.unlink()
    path = folder / "tasks.jsonl"
    rows = (asdict(task).items() for task in suite.tasks)
    write_objects(path, ({name: one for name, one in row if one is not None or name == "instruction"} for row in rows))
