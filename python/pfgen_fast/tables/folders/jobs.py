"""What is done with each of many files: a task says with which, a job says what; both are small and picklable."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import PfgenError, TrialsError
from ...files.untrusted_text import in_one_line
from ...scoring.spec import ScorerSpec
from ..formats import has_encoding
from ..places.fetching import Fetched, endings, temporary_folder
from ..places.storage import FileInfo, check_target, is_remote, joined, shown_place, storage_of
from ..scored_columns import Nulls, ScoredColumns

if TYPE_CHECKING:
    from ..streaming import TableCounts

OnWhole = Callable[["TableCounts", int], None]
"""Called with the numbers of rows and of bytes of an output, when it is whole and just before it takes its place."""


@dataclass(frozen=True)
class FileTask:
    """A file to be scored into a folder.

    Attributes:
        source: The table, here or elsewhere.
        folder: The output folder.
        name: The name of the output, relative to the folder.
        info: What was known of the source when it was found.
    """

    source: str
    folder: str
    name: str
    info: FileInfo | None = None

    @property
    def target(self) -> str:
        """The output."""
        return joined(self.folder, self.name)


@dataclass(frozen=True)
class FileJob:
    """How files are scored; the arguments are those of `score_table`."""

    spec: ScorerSpec
    question_column: str = "question"
    answer_column: str = "answer"
    columns: tuple[str, ...] | None = None
    nulls: Nulls = "error"
    where: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        _ = self.description  # checks the arguments, and is sent with the job

    @cached_property
    def description(self) -> Mapping[str, str]:
        """Everything that an output follows from, besides its source: equal descriptions make equal outputs."""
        scored = ScoredColumns(
            self.spec,
            question_column=self.question_column,
            answer_column=self.answer_column,
            columns=self.columns,
            nulls=self.nulls,
            where=self.where,
        )
        return {
            "signature": self.spec.signature,
            "question column": self.question_column,
            "answer column": self.answer_column,
            "columns": ", ".join(scored.columns.scores),
            "nulls": self.nulls,
            "filter": "" if self.where is None else " ".join(self.where.split()),
            "encoding": self.encoding or "",
        }

    def score(
        self,
        source: Fetched,
        name: str,
        target: str,
        *,
        on_whole: OnWhole | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> TableCounts:
        """Scores one table into another."""
        check_target(target)
        names = {str(source.path): name} if is_remote(name) else {}
        if not is_remote(target):
            with _named(names):
                return self._score(source.path, target, on_whole, on_batch)
        with temporary_folder() as folder:
            local = Path(folder, f"output{endings(target)}")
            with _named({**names, str(local): shown_place(target)}):
                counts = self._score(source.path, local, None, on_batch)
            if on_whole is not None:
                on_whole(counts, local.stat().st_size)
            storage_of(target).put(local, target)
            return counts

    def _score(
        self, source: Path, target: str | Path, on_whole: OnWhole | None, on_batch: Callable[[int], None] | None
    ) -> TableCounts:
        from ..streaming import scored_table

        return scored_table(
            source,
            target,
            self.spec,
            question_column=self.question_column,
            answer_column=self.answer_column,
            columns=self.columns,
            nulls=self.nulls,
            where=self.where,
            encoding=self.encoding,
            on_batch=on_batch,
            on_whole=on_whole,
        )

    def for_file(self, name: str) -> FileJob:
        """The same job for a file of this name: an encoding is only for formats that leave it open."""
        if self.encoding is None or has_encoding(name):
            return self
        return FileJob(self.spec, self.question_column, self.answer_column, self.columns, self.nulls, self.where)


def difference(found: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """What tells one job from another, in words."""
    parts = [
        f"{_other(name)} {name} ({in_one_line(found.get(name, '') or 'none', 200)}, not {wanted[name] or 'none'})"
        for name in wanted
        if found.get(name, "") != wanted[name]
    ]
    return " and ".join(parts) or "other settings"


def _other(name: str) -> str:
    return "other" if name.endswith("s") else "another"


@contextlib.contextmanager
def _named(names: Mapping[str, str]) -> Iterator[None]:
    """Gives files their own names in messages, where they have others here."""
    try:
        yield
    except PfgenError as error:
        message = str(error)
        for path, name in names.items():
            message = message.replace(path, name)
        if message == str(error):
            raise
        raise (TrialsError if isinstance(error, TrialsError) else PfgenError)(message) from None
