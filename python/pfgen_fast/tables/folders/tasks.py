"""A file that is scored into a folder, and how one table is scored where either end may be elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...errors import PfgenError, TrialsError
from ..places.fetching import Fetched, endings, temporary_folder
from ..places.place_names import FileInfo, check_target, is_remote, joined, shown_place
from ..places.remote import RemoteStorage
from ..streaming import OnWhole, TableCounts, scored_table
from ..table_job import TableJob


@dataclass(frozen=True)
class FileTask:
    """A table to be scored into a folder, the name of its output there, and what was known of it when it was found."""

    source: str
    folder: str
    name: str
    info: FileInfo | None = None

    @property
    def target(self) -> str:
        """The output."""
        return joined(self.folder, self.name)


def score_fetched(
    source: Fetched,
    name: str,
    target: str,
    job: TableJob,
    *,
    on_whole: OnWhole | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> TableCounts:
    """Scores one table into another; messages call it by its name, and not by the file that was fetched."""
    check_target(target)
    names = {str(source.path): name} if is_remote(name) else {}
    if not is_remote(target):
        with _named(names):
            return scored_table(source.path, target, job, on_batch=on_batch, on_whole=on_whole)
    with temporary_folder() as folder:
        local = Path(folder, f"output{endings(target)}")
        with _named({**names, str(local): shown_place(target)}):
            counts = scored_table(source.path, local, job, on_batch=on_batch)
        if on_whole is not None:
            on_whole(counts, local.stat().st_size)
        RemoteStorage(target).put(local, target)
        return counts


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
