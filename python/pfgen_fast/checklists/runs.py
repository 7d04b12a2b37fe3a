"""Runs: a folder for each model, with its answers, what a judge replied, and the judgements.

    config.json                 the model and how it was sampled
    answers.jsonl[.xz|.gz|.zst] a line for each answer: id, response; and length, trial, finish_reason where there are
    judge-replies.jsonl         what judges replied, append only (`judging.replies`)
    judgements.jsonl[.xz|...]   judgements, derived from it; or judgements.parquet

A run is read piece by piece, on demand: a table needs no answers. A folder without any of these files stands for the
runs in it, at any depth, or else for the files in it; a file of judgements or of answers stands for a run of its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .judgements import AnswerKey, Judgement
from .line_files import OnFault
from .suite import ChecklistSuite, sha256_of

REPLIES_FILE = "judge-replies.jsonl"
CONFIG_FILE = "config.json"


@dataclass(frozen=True)
class Answer:
    """A model's answer to a task.

    Attributes:
        id: The ID of the task.
        response: The text.
        length: The length of the task.
        trial: The number of the answer, of several answers to the same task.
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


@dataclass(frozen=True, eq=False)
class Run:
    """The answers of one model and what was said of them.

    Attributes:
        key: The name of the folder, or of the file without its ending; the model's key in tables.
        folder: The folder.
        answers_path: The file of answers; None if there is none.
        judgements_path: The file of judgements; None if there is none.
        config: What config.json says.
    """

    key: str
    folder: Path
    answers_path: Path | None = None
    judgements_path: Path | None = None
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def replies_path(self) -> Path:
        """The file of a judge's replies, which need not exist."""
        return self.folder / REPLIES_FILE

    @property
    def waits_for_replies(self) -> bool:
        """Whether a judge of ours was asked about this run: then an answer without a judgement waits for its reply.

        In a run that was imported, an answer without a judgement is missing: nobody will judge it.
        """
        return self.replies_path.exists()

    @property
    def name(self) -> str:
        """The name of the model, as people know it."""
        name = self.config.get("name") or self.config.get("model")
        return name if isinstance(name, str) and name else self.key

    def answers(self, suite: ChecklistSuite, *, on_fault: OnFault | None = None) -> dict[AnswerKey, Answer]:
        """The answers by task and trial; empty if there are none.

        Args:
            suite: The suite.
            on_fault: Is told of lines that break the rules, which are then left out.

        Raises:
            ChecklistError: A line breaks the rules, a task is unknown, or a task has two answers.
        """
        from .run_files import read_answers

        return {} if self.answers_path is None else read_answers(self.answers_path, suite, on_fault=on_fault)

    def judgements(
        self, suite: ChecklistSuite, *, with_reasons: bool = True, on_fault: OnFault | None = None
    ) -> list[Judgement]:
        """The judgements in the order of the file; empty if there are none.

        Args:
            suite: The suite.
            with_reasons: Whether the judge's reasons are read.
            on_fault: Is told of lines that cannot be read, which are then left out.

        Raises:
            ChecklistError: A line breaks the rules, a task is unknown, a verdict is no level, or an answer has two
                different judgements of one judge.
        """
        from .judgement_files import read_judgements

        if self.judgements_path is None:
            return []
        return read_judgements(self.judgements_path, suite, with_reasons=with_reasons, on_fault=on_fault)


def open_runs(paths: Iterable[Path]) -> list[Run]:
    """Finds the runs that paths name; see above.

    Raises:
        ChecklistError: A path holds no run, or two runs have the same key.
    """
    from .run_files import find_runs

    return find_runs(paths)
