"""Provides local and remote files as local files; the next file is fetched while the current file is in use."""

from __future__ import annotations

import concurrent.futures
import os
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...errors import PfgenError, TrialsError
from .place_names import FileInfo, base_name, is_remote, is_web, shown_place
from .storage import LocalStorage, storage_of

if TYPE_CHECKING:
    from typing_extensions import Self


class Fetched(NamedTuple):
    """A local file with the content of a place, and the file information from before it was read."""

    path: Path
    info: FileInfo


class Fetching:
    """Fetches files in order. At most two fetched files exist at a time; a local file is used without a copy.

    At the end of the context, the temporary directory is removed and the thread is stopped, even within a file.
    """

    def __init__(self, places: Sequence[str]) -> None:
        self._places = places
        self._is_stopped = threading.Event()
        self._ahead: dict[int, Future[Fetched]] = {}

    def __enter__(self) -> Self:
        self._folder = temporary_folder()
        self._thread = ThreadPoolExecutor(1, "pfgen-fast-fetching")  # has no thread before the first remote file
        return self

    def __exit__(self, *error: object) -> None:
        self._is_stopped.set()
        self._thread.shutdown(cancel_futures=True)
        self._folder.cleanup()

    def get(self, number: int) -> Fetched:
        """The file with this number, from 0; files that were fetched before it are removed."""
        for unused in [other for other in self._ahead if other < number]:
            concurrent.futures.wait([self._ahead.pop(unused)])
            self._local(unused).unlink(missing_ok=True)
        self._local(number - 1).unlink(missing_ok=True)
        begun = self._ahead.pop(number, None)
        try:
            return begun.result() if begun else self._fetched(number)
        finally:
            if number + 1 < len(self._places) and is_remote(self._places[number + 1]):
                self._ahead[number + 1] = self._thread.submit(self._fetched, number + 1)

    def _fetched(self, number: int) -> Fetched:
        place = self._places[number]
        storage = storage_of(place)
        info = storage.info(place)
        if info is None:
            raise TrialsError(f"{shown_place(place)}: no such file{', or no such server' if is_web(place) else ''}")
        if isinstance(storage, LocalStorage):
            return Fetched(Path(place), info)
        path = self._local(number)
        storage.fetch(place, path, self._is_stopped.is_set)
        if info.n_bytes not in (None, n_bytes := path.stat().st_size):
            counts = f"received {n_bytes:,} bytes, expected {info.n_bytes:,}"
            raise TrialsError(f"{shown_place(place)}: {counts}; the file was changed or cut off")
        return Fetched(path, info)

    def _local(self, number: int) -> Path:
        name = f"{number}{endings(self._places[number])}" if number >= 0 else "none"
        return Path(self._folder.name, name)


def endings(place: str) -> str:
    """The extensions that select a format, such as `.csv.gz`."""
    return "".join(Path(base_name(place)).suffixes[-2:])


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A directory for files that are fetched or written."""
    try:
        return tempfile.TemporaryDirectory(prefix="pfgen-fast-")
    except OSError as error:
        where = os.environ.get("TMPDIR", "the system's temporary folder")
        raise PfgenError(f"{where}: cannot be written: {error.strerror or error}") from None
