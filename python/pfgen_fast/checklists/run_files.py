"""Finds, reads and writes the folders of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import ChecklistError
from ..files.compression import compressing
from ..files.foreign_json import any_object, checked, count, member, read_json, text
from ..files.journal import json_line
from ..files.json_writing import json_bytes
from ..files.writing import write_whole, writing_whole
from .judgement_files import write_judgements
from .judgements import AnswerKey, Judgement
from .line_files import data_file, numbered_objects, stem
from .runs import CONFIG_FILE, REPLIES_FILE, Answer, Run
from .suite import ChecklistSuite


def find_runs(paths: Iterable[Path]) -> list[Run]:
    """The runs that paths name: a folder, a folder of such folders, or a file of judgements."""
    found: dict[str, Run] = {}
    for path in paths:
        runs = [_run_of_file(path)] if path.is_file() else _runs_in(path)
        if not runs:
            raise ChecklistError(
                f"{path}: holds no run; expected a folder with answers.jsonl or judgements.jsonl, which may be "
                "compressed, or a folder of such folders"
            )
        for run in runs:
            if run.key in found:
                raise ChecklistError(f"{run.folder}: another run of the name {run.key} came before")
            found[run.key] = run
    return list(found.values())


def _runs_in(folder: Path) -> list[Run]:
    if not folder.is_dir():
        return []
    one = _run(folder)
    if one is not None:
        return [one]
    inner = (_run(path) for path in sorted(folder.iterdir()) if path.is_dir())
    return [run for run in inner if run is not None]


def _run(folder: Path) -> Run | None:
    answers, judgements = data_file(folder, "answers"), data_file(folder, "judgements", ".parquet")
    if answers is None and judgements is None and not (folder / REPLIES_FILE).exists():
        return None
    path = folder / CONFIG_FILE
    config: dict[str, Any] = {}
    if path.exists():
        config = checked(read_json(path, error=ChecklistError), any_object, str(path), error=ChecklistError)
    return Run(folder.resolve().name, folder, answers, judgements, config)


def _run_of_file(path: Path) -> Run:
    return Run(stem(path), path.parent, None, path)


def read_answers(path: Path, suite: ChecklistSuite) -> dict[AnswerKey, Answer]:
    """The answers of a file, by task and trial."""
    found: dict[AnswerKey, Answer] = {}
    for where, value in numbered_objects(path):
        answer = checked(value, _answer, where, error=ChecklistError)
        suite.task(answer.id, answer.length, where)
        if answer.key in found:
            raise ChecklistError(f"{where}: another answer to {answer.id} came before; expected one")
        found[answer.key] = answer
    return found


def _answer(value: Any) -> Answer:
    def optional_text(entry: Any) -> str | None:
        return None if entry is None else text(entry)

    return Answer(
        id=member(value, "id", text),
        response=member(value, "response", text),
        length=member(value, "length", optional_text, None),
        trial=member(value, "trial", count, 1),
        finish_reason=member(value, "finish_reason", optional_text, None),
    )


def write_run(
    folder: Path, answers: Iterable[Answer], judgements: Iterable[Judgement], config: Mapping[str, Any]
) -> None:
    """Writes the files of a run, each atomically; answers and judgements only if there are any."""
    folder.mkdir(parents=True, exist_ok=True)
    listed, judged = list(answers), list(judgements)
    if listed:
        write_answers(folder / "answers.jsonl.xz", listed)
    if judged:
        write_judgements(folder / "judgements.jsonl.xz", judged)
    write_whole(folder / CONFIG_FILE, json_bytes(dict(config)))


def write_answers(path: Path, answers: Iterable[Answer]) -> None:
    """Writes a file of answers atomically."""
    with writing_whole(path) as file, compressing(file, path) as packed:
        for answer in answers:
            packed.write(json_line(_entry(answer)))


def _entry(answer: Answer) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": answer.id, "length": answer.length}
    if answer.trial != 1:
        entry["trial"] = answer.trial
    if answer.finish_reason is not None:
        entry["finish_reason"] = answer.finish_reason
    return {**entry, "response": answer.response}
