"""Writes the answers of a run. Each answer is written to a hidden file when it arrives. A killed command loses no
answer.

`answers.jsonl` is written when the writer is closed, in the order of the suite's tasks, so it does not depend on the
order in which answers arrived, or on interruptions. Only one process at a time writes to a directory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..errors import ChecklistError
from ..files.journal import Journal, sole_writer
from ..files.json_writing import json_bytes
from ..files.untrusted_json import Fault, member, text
from ..files.untrusted_text import folder_names, in_one_line
from ..files.writing import check_folder, write_whole
from .judgements import AnswerKey
from .line_files import data_file
from .runs import CONFIG_FILE, Answer, answer_of, read_answers, read_config, write_answers
from .suite import ChecklistSuite, keys_in_order
from .tasks import sha256_of

_UNFINISHED = ".unfinished.jsonl"
_MAX_NAME_BYTES = 255


def run_name(model: str) -> str:
    """The name of the directory of a model's run, which is its key in tables."""
    name = "_".join(folder_names(model))
    if not name or not name.isprintable() or name.startswith(".") or len(name.encode()) > _MAX_NAME_BYTES:
        raise ChecklistError(
            f"the model {in_one_line(model)!r}: expected a valid name of a folder; --name gives the run another name"
        )
    return name


@contextlib.contextmanager
def writing_answers(folder: Path, suite: ChecklistSuite, config: Mapping[str, Any]) -> Iterator[AnswerWriter]:
    """Opens the directory of a run for writing; at the end, all answers are in its file of answers."""
    check_folder(folder)
    with (
        sole_writer(folder, doing="writing answers to it", error=ChecklistError),
        contextlib.closing(AnswerWriter(folder, suite, config)) as writer,
    ):
        yield writer


class AnswerWriter:
    """Writes the answers of one run; created by `writing_answers`."""

    def __init__(self, folder: Path, suite: ChecklistSuite, config: Mapping[str, Any]) -> None:
        self._folder, self._suite = folder, suite
        self._config = {name: value for name, value in sorted(config.items()) if value is not None}
        self._path = data_file(folder, "answers") or folder / "answers.jsonl"
        self._journal = Journal(folder / _UNFINISHED)
        times = [path.stat().st_mtime for path in (self._path, folder / _UNFINISHED) if path.exists()]
        self.last_written = (
            datetime.fromtimestamp(max(times), timezone.utc).isoformat(timespec="seconds") if times else ""
        )
        self._check_config()
        self.answers: dict[AnswerKey, Answer] = read_answers(self._path, suite) if self._path.exists() else {}
        self._is_changed = False
        for entry in self._journal.entries():
            answer = self._kept(entry)
            if answer is not None and answer.key not in self.answers:
                self.answers[answer.key] = answer
                self._is_changed = True

    def add(self, answer: Answer) -> None:
        """Stores an answer; it is on disk when this returns."""
        config = self._folder / CONFIG_FILE
        if not config.exists():
            write_whole(config, json_bytes(self._config))
        task = self._suite.by_key[answer.id, answer.length]
        self._journal.add({**asdict(answer), "instruction_sha256": sha256_of(task.instruction or "")})
        self.answers[answer.key] = answer
        self._is_changed = True

    def close(self) -> None:
        """Writes the file of answers, and removes the hidden file."""
        self._journal.close()
        if self._is_changed:
            write_answers(self._path, [self.answers[key] for _, key in keys_in_order(self._suite, self.answers)])
        self._journal.remove()

    def _check_config(self) -> None:
        """Raises ChecklistError if the existing answers have other parameters."""
        path = self._folder / CONFIG_FILE
        if not path.exists():
            return
        there, wanted = read_config(path), self._config
        differing = sorted(name for name in {*there, *wanted} - {"name"} if there.get(name) != wanted.get(name))
        if differing:
            raise ChecklistError(
                f"{path}: the existing answers were made with other parameters ({', '.join(differing[:5])}); "
                "expected the same parameters, or another --name or folder"
            )

    def _kept(self, entry: Mapping[str, Any]) -> Answer | None:
        """The answer in an entry of the hidden file; None if its task has changed since."""
        try:
            answer, instruction = answer_of(entry), member(entry, "instruction_sha256", text)
        except Fault:
            return None
        task = self._suite.by_key.get((answer.id, answer.length))
        return answer if task is not None and instruction == sha256_of(task.instruction or "") else None
