"""Runs: a directory for each model, with its answers, the replies of judges, and the judgements.

    config.json                 the model and its sampling parameters
    answers.jsonl[.xz|.gz|.zst] a line for each answer: id, response; optionally length, trial, finish_reason
    judge-replies.jsonl         the replies of judges, append only (`lab.judging.reply_store`)
    judgements.jsonl[.xz|...]   judgements, derived from the replies

Files are read on demand: a table needs no answers. A directory without these files means the runs in it, at any depth;
if it contains no runs, it means the files in it. A file of judgements or answers means a run with the file's name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...base.errors import ChecklistError, TrialsError
from ...base.file_writing import write_whole
from ...base.untrusted_json import any_object, json_bytes
from ...base.untrusted_text import in_one_line
from ...runs.trials import expand
from .checklist_suite import ChecklistSuite
from .judgements import Judgement, read_judgements, write_judgements
from .line_files import (
    OnFault,
    checked_objects,
    data_file,
    fields_of,
    is_data_file,
    json_file,
    number_from_one,
    stem,
    whole_text,
    write_objects,
)
from .tasks import AnswerKey, sha256_of

REPLIES_FILE = "judge-replies.jsonl"
CONFIG_FILE = "config.json"
ANSWERS_FILE = "answers.jsonl"
JUDGEMENTS_FILE = "judgements.jsonl"
_MAX_CONFIG_BYTES = 1 << 20


@dataclass(frozen=True)
class Answer:
    """A model's answer to a task.

    Attributes:
        trial: The number of the answer among several to the same task.
        finish_reason: Why the model stopped, as its server said, such as `stop` or `length`.
    """

    id: str
    response: str
    length: str | None = None
    trial: int = 1
    finish_reason: str | None = None

    @property
    def key(self) -> AnswerKey:
        """The task and the number of the answer."""
        return self.id, self.length, self.trial

    @cached_property
    def sha256(self) -> str:
        """The hash of the text."""
        return sha256_of(self.response)


_ANSWER = {**dict.fromkeys(("id", "response", "length", "finish_reason"), whole_text), "trial": number_from_one}


@dataclass(frozen=True, eq=False)
class Run:
    """The answers of one model and their judgements.

    Attributes:
        key: The name of the directory, or of the file without its extension; the model's key in tables.
        answers_path: The file of answers, if it exists.
        judgements_path: The file of judgements, if it exists.
        config: The content of config.json.
    """

    key: str
    folder: Path
    answers_path: Path | None = None
    judgements_path: Path | None = None
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def replies_path(self) -> Path:
        """The file of replies of judges, which need not exist."""
        return self.folder / REPLIES_FILE

    @property
    def waits_for_replies(self) -> bool:
        """Whether a judge was asked about this run, so that an answer without a judgement waits for a reply.

        In an imported run, such an answer counts as missing.
        """
        return self.replies_path.exists()

    @property
    def name(self) -> str:
        """The display name of the model."""
        name = self.config.get("name") or self.config.get("model")
        return name if isinstance(name, str) and name else self.key

    def answers(self, suite: ChecklistSuite, *, on_fault: OnFault | None = None) -> dict[AnswerKey, Answer]:
        """The answers by task and trial; may be empty. Invalid lines are reported to `on_fault` and skipped.

        Raises:
            ChecklistError: A line is invalid, a task is unknown, or a trial has two different answers.
        """
        return {} if self.answers_path is None else read_answers(self.answers_path, suite, on_fault=on_fault)

    def judgements(
        self, suite: ChecklistSuite, *, with_reasons: bool = True, on_fault: OnFault | None = None
    ) -> list[Judgement]:
        """The judgements in the order of the file; may be empty. Invalid lines are reported to `on_fault` and skipped.

        Raises:
            ChecklistError: A line is invalid, a task is unknown, or an answer has two different judgements of one
                judge.
        """
        if self.judgements_path is None:
            return []
        return read_judgements(self.judgements_path, suite, with_reasons=with_reasons, on_fault=on_fault)


def open_runs(paths: Iterable[Path]) -> list[Run]:
    """Finds the runs at paths: directories and files as described above, or patterns such as `runs/*`."""
    by_key: dict[str, Run] = {}
    for path in paths:
        try:
            runs = [run for match in expand(path) for run in _runs_at(match)]
        except TrialsError as error:
            raise ChecklistError(str(error)) from None
        if not runs:
            raise ChecklistError(
                f"{path}: holds no run; expected a folder with {ANSWERS_FILE} or {JUDGEMENTS_FILE}, possibly "
                "compressed, or a folder of such folders"
            )
        for run in runs:
            former = by_key.setdefault(run.key, run)
            if _places(former) != _places(run):
                raise ChecklistError(f"{run.folder}: a run of the name {run.key} is also in {former.folder}")
    return list(by_key.values())


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


def _runs_in(root: Path) -> Iterator[Run]:
    unreadable: list[OSError] = []
    for name, subfolders, _ in os.walk(root, onerror=unreadable.append):
        subfolders.sort()
        folder = Path(name)
        answers, judgements = data_file(folder, "answers"), data_file(folder, "judgements")
        if answers or judgements or (folder / REPLIES_FILE).exists():
            subfolders.clear()  # a directory in a run is not a run
            config = read_config(folder / CONFIG_FILE) if (folder / CONFIG_FILE).exists() else {}
            yield Run(folder.resolve().name, folder, answers, judgements, config)
    for error in unreadable:
        raise ChecklistError(f"{error.filename}: cannot be read: {error.strerror}")


def read_config(path: Path) -> dict[str, Any]:
    """The object in a file config.json."""
    return json_file(path, any_object, limit=_MAX_CONFIG_BYTES)


def _run_of_file(path: Path) -> Run:
    first: Any = next((value for _, value in checked_objects(path, any_object, on_fault=lambda _: None)), {})
    has_answers = "response" in first and "scores" not in first
    return Run(stem(path), path.parent, *((path, None) if has_answers else (None, path)))


def read_answers(path: Path, suite: ChecklistSuite, *, on_fault: OnFault | None = None) -> dict[AnswerKey, Answer]:
    """The answers of a file, by task and trial."""
    answers: dict[AnswerKey, Answer] = {}
    for where, answer in checked_objects(
        path, lambda value: Answer(**fields_of(value, _ANSWER, ("id", "response"))), on_fault=on_fault
    ):
        suite.task(answer.id, answer.length, where)
        if answers.setdefault(answer.key, answer).response != answer.response:
            before = f"{where}: another answer to {shown_key(answer.key)} came before"
            raise ChecklistError(f"{before}; expected one answer")
    return answers


def shown_key(key: AnswerKey) -> str:
    """The name of an answer in messages."""
    id, length, trial = key
    further = [*([] if length is None else [length]), *([] if trial == 1 else [f"trial {trial}"])]
    return in_one_line(f"{id} ({', '.join(further)})" if further else id)


def write_run(
    folder: Path, answers: Iterable[Answer], judgements: Iterable[Judgement], config: Mapping[str, Any]
) -> None:
    """Writes the files of a run that are not empty, each atomically, and removes files of the same run.

    Raises ChecklistError if the directory has another run, whose answers may have been expensive.
    """
    listed, judged, path = list(answers), list(judgements), folder / CONFIG_FILE
    if path.exists() and read_config(path) != dict(config):
        raise ChecklistError(f"{path}: the directory has another run; expected an empty directory, or the same run")
    write_whole(path, json_bytes(dict(config)))
    if listed:
        write_objects(folder / ANSWERS_FILE, map(answer_row, listed))
    if judged:
        write_judgements(folder / JUDGEMENTS_FILE, judged)
    written = {ANSWERS_FILE if listed else "", JUDGEMENTS_FILE if judged else ""}
    # Judgements that follow from replies stay: a judgement of a changed answer is stale by its hash.
    keeps_judgements = not judged and (folder / REPLIES_FILE).exists()
    for path in (*folder.glob("answers.*"), *(() if keeps_judgements else folder.glob("judgements.*"))):
        if is_data_file(path) and path.name not in written:
            path.unlink()


def answer_row(answer: Answer) -> dict[str, Any]:
    """An answer as a line of its file."""
    trial = {} if answer.trial == 1 else {"trial": answer.trial}
    reason = {} if answer.finish_reason is None else {"finish_reason": answer.finish_reason}
    return {"id": answer.id, "length": answer.length, **trial, **reason, "response": answer.response}
