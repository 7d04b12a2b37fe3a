"""Finds, reads and writes the folders of runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import ChecklistError, TrialsError
from ..files.compression import compressing
from ..files.journal import json_line
from ..files.json_writing import json_bytes
from ..files.untrusted_json import any_object, checked, member, read_json
from ..files.untrusted_text import in_one_line
from ..files.writing import write_whole, writing_whole
from ..runs.trials import expand
from .judgement_files import write_judgements
from .judgements import AnswerKey, Judgement
from .line_files import (
    OnFault,
    data_file,
    is_data_file,
    number_from_one,
    numbered_objects,
    stem,
    whole_text,
    whole_text_or_none,
)
from .runs import CONFIG_FILE, REPLIES_FILE, Answer, Run
from .suite import ChecklistSuite

ANSWERS_FILE = "answers.jsonl"
JUDGEMENTS_FILE = "judgements.jsonl"
_MAX_CONFIG_BYTES = 1 << 20


def find_runs(paths: Iterable[str | Path]) -> list[Run]:
    """The runs that paths name, each once, in the order of the paths and then of their names."""
    found: dict[str, Run] = {}
    for path in paths:
        try:
            runs = [run for match in expand(path) for run in _runs_at(match)]
        except TrialsError as error:
            raise ChecklistError(str(error)) from None
        if not runs:
            raise ChecklistError(
                f"{path}: holds no run; expected a folder with {ANSWERS_FILE} or {JUDGEMENTS_FILE}, which may be "
                "compressed, or a folder of such folders"
            )
        for run in runs:
            former = found.setdefault(run.key, run)
            if _places(former) != _places(run):
                raise ChecklistError(f"{run.folder}: a run of the name {run.key} is in {former.folder}, too")
    return list(found.values())


def _places(run: Run) -> tuple[Path | None, ...]:
    paths = (run.folder, run.answers_path, run.judgements_path)
    return tuple(path and path.resolve() for path in paths)


def _runs_at(path: Path) -> list[Run]:
    if not path.is_dir():
        return [_run_of_file(path)]
    runs = list(_runs_in(path))
    if runs:
        return runs
    return [_run_of_file(file) for file in sorted(path.iterdir()) if is_data_file(file) and file.is_file()]


def _runs_in(folder: Path) -> Iterator[Run]:
    unreadable: list[OSError] = []
    for name, subfolders, _ in os.walk(folder, onerror=unreadable.append):
        subfolders.sort()
        run = _run(Path(name))
        if run is not None:
            subfolders.clear()  # what lies in a run, such as its sentinels, is no run
            yield run
    for error in unreadable:
        raise ChecklistError(f"{error.filename}: cannot be read: {error.strerror}")


def _run(folder: Path) -> Run | None:
    answers = data_file(folder, "answers", ".parquet")
    judgements = data_file(folder, "judgements", ".parquet")
    if answers is None and judgements is None and not (folder / REPLIES_FILE).exists():
        return None
    path = folder / CONFIG_FILE
    config: dict[str, Any] = {}
    if path.exists():
        content = read_json(path, error=ChecklistError, limit=_MAX_CONFIG_BYTES)
        config = checked(content, any_object, str(path), error=ChecklistError)
    return Run(folder.resolve().name, folder, answers, judgements, config)


def _run_of_file(path: Path) -> Run:
    first: Any = next((value for _, value in numbered_objects(path, on_fault=lambda _: None)), {})
    has_answers = isinstance(first, dict) and "response" in first and "scores" not in first
    return Run(stem(path), path.parent, *((path, None) if has_answers else (None, path)))


def read_answers(path: Path, suite: ChecklistSuite, *, on_fault: OnFault | None = None) -> dict[AnswerKey, Answer]:
    """The answers of a file, by task and trial."""
    found: dict[AnswerKey, Answer] = {}
    for where, value in numbered_objects(path, on_fault=on_fault):
        try:
            answer = checked(value, _answer, where, error=ChecklistError)
        except ChecklistError as fault:
            if on_fault is None:
                raise
            on_fault(str(fault))
            continue
        suite.task(answer.id, answer.length, where)
        former = found.setdefault(answer.key, answer)
        if former.response != answer.response:
            raise ChecklistError(f"{where}: another answer to {shown_key(answer.key)} came before; expected one")
    return found


def shown_key(key: AnswerKey) -> str:
    """An answer in messages."""
    id, length, trial = key
    further = [*([] if length is None else [length]), *([] if trial == 1 else [f"trial {trial}"])]
    return in_one_line(f"{id} ({', '.join(further)})" if further else id)


def _answer(value: Any) -> Answer:
    return Answer(
        id=member(value, "id", whole_text),
        response=member(value, "response", whole_text),
        length=member(value, "length", whole_text_or_none, None),
        trial=member(value, "trial", lambda n: 1 if n is None else number_from_one(n), 1),
        finish_reason=member(value, "finish_reason", whole_text_or_none, None),
    )


def write_run(
    folder: Path, answers: Iterable[Answer], judgements: Iterable[Judgement], config: Mapping[str, Any]
) -> None:
    """Writes the files of a run, each atomically, in place of those of an earlier one; those that are empty are not.

    Judgements that follow from a judge's replies, which are there, stay where no others are given: they name the hash
    of their answer, so that those of answers that have changed are stale.
    """
    listed, judged = list(answers), list(judgements)
    write_whole(folder / CONFIG_FILE, json_bytes(dict(config)))
    if listed:
        write_answers(folder / ANSWERS_FILE, listed)
    if judged:
        write_judgements(folder / JUDGEMENTS_FILE, judged)
    _remove_others(folder, ANSWERS_FILE, is_there=bool(listed))
    if judged or not (folder / REPLIES_FILE).exists():
        _remove_others(folder, JUDGEMENTS_FILE, is_there=bool(judged))


def _remove_others(folder: Path, name: str, *, is_there: bool) -> None:
    for path in (*folder.glob(f"{name}*"), *folder.glob(f"{stem(Path(name))}.parquet")):
        if path.name != name or not is_there:
            path.unlink()


def write_answers(path: Path, answers: Iterable[Answer]) -> None:
    """Writes a file of answers atomically, compressed as its ending says."""
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
