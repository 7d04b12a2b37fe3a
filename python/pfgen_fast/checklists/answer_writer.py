"""Writes the answers of a run so that a kill loses none: each is in a hidden file as soon as it comes.

`answers.jsonl` is written whole when the writer is closed, in the order of the suite's tasks, so it does not depend on
the order in which answers came, nor on where a process was killed. Only one process at a time writes to a folder.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import ChecklistError
from ..files.journal import Journal, sole_writer
from ..files.json_writing import json_bytes
from ..files.untrusted_json import any_object, checked, read_json
from ..files.untrusted_text import folder_names, in_one_line
from ..files.writing import check_folder, write_whole
from .judgements import AnswerKey
from .line_files import data_file
from .runs import CONFIG_FILE, Answer, read_answers, write_answers
from .suite import ChecklistSuite
from .tasks import sha256_of

_UNFINISHED = ".unfinished.jsonl"
_MAX_NAME_BYTES = 255


def run_name(model: str) -> str:
    """The name of the folder of a model's run, which is its key in tables."""
    name = "_".join(folder_names(model))
    if not name or not name.isprintable() or name.startswith(".") or len(name.encode()) > _MAX_NAME_BYTES:
        raise ChecklistError(
            f"the model {in_one_line(model)!r}: expected a name that a folder can have; --name gives the run another"
        )
    return name


@contextlib.contextmanager
def writing_answers(folder: Path, suite: ChecklistSuite, config: Mapping[str, Any]) -> Iterator[AnswerWriter]:
    """Opens the folder of a run for writing; all answers are in its file of answers at the end."""
    check_folder(folder)
    with (
        sole_writer(folder, doing="writing answers to it", error=ChecklistError),
        contextlib.closing(AnswerWriter(folder, suite, config)) as writer,
    ):
        yield writer


def _last_written(*paths: Path) -> str:
    times = [path.stat().st_mtime for path in paths if path.exists()]
    if not times:
        return ""
    return datetime.datetime.fromtimestamp(max(times), datetime.timezone.utc).isoformat(timespec="seconds")


class AnswerWriter:
    """Writes the answers of one run; created by `writing_answers`."""

    def __init__(self, folder: Path, suite: ChecklistSuite, config: Mapping[str, Any]) -> None:
        self._folder, self._suite = folder, suite
        self._config = {name: value for name, value in sorted(config.items()) if value is not None}
        self._path = data_file(folder, "answers") or folder / "answers.jsonl"
        self._journal = Journal(folder / _UNFINISHED)
        self.last_written = _last_written(self._path, folder / _UNFINISHED)
        self._check_config()
        self.answers: dict[AnswerKey, Answer] = read_answers(self._path, suite) if self._path.exists() else {}
        self._is_changed = False
        for entry in self._journal.entries():
            answer = self._kept(entry)
            if answer is not None and answer.key not in self.answers:
                self.answers[answer.key] = answer
                self._is_changed = True

    def add(self, answer: Answer) -> None:
        """Keeps an answer; it is on disk when this returns."""
        config = self._folder / CONFIG_FILE
        if not config.exists():
            write_whole(config, json_bytes(self._config))
        task = self._suite.by_key[answer.id, answer.length]
        self._journal.add(
            {
                "id": answer.id,
                "length": answer.length,
                "trial": answer.trial,
                "finish_reason": answer.finish_reason,
                "response": answer.response,
                "instruction_sha256": sha256_of(task.instruction or ""),
            }
        )
        self.answers[answer.key] = answer
        self._is_changed = True

    def close(self) -> None:
        """Writes the file of answers, and removes the hidden one."""
        self._journal.close()
        if self._is_changed:
            order = {key: number for number, key in enumerate(self._suite.by_key)}
            ordered = sorted(self.answers.values(), key=lambda one: (order[one.id, one.length], one.trial))
            write_answers(self._path, ordered)
        self._journal.remove()

    def _check_config(self) -> None:
        """Raises ChecklistError unless the answers that are there were sampled as those to come will be."""
        path = self._folder / CONFIG_FILE
        if not path.exists():
            return
        there = checked(read_json(path, error=ChecklistError), any_object, str(path), error=ChecklistError)
        differing = sorted(
            name for name in {*there, *self._config} if there.get(name) != self._config.get(name) and name != "name"
        )
        if differing:
            raise ChecklistError(
                f"{path}: the answers that are there were made with other parameters ({', '.join(differing[:5])}); "
                "expected the same ones, or another --name or folder"
            )

    def _kept(self, entry: Mapping[str, Any]) -> Answer | None:
        """The answer that an entry of the hidden file holds, if its task is still the same."""
        id, length, trial = entry.get("id"), entry.get("length"), entry.get("trial")
        response, reason = entry.get("response"), entry.get("finish_reason")
        if not (isinstance(id, str) and (length is None or isinstance(length, str)) and isinstance(response, str)):
            return None
        task = self._suite.by_key.get((id, length))
        if task is None or type(trial) is not int or trial < 1:
            return None
        if entry.get("instruction_sha256") != sha256_of(task.instruction or ""):
            return None
        return Answer(id, response, length, trial, reason if isinstance(reason, str) else None)
