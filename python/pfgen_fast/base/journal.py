"""An append-only journal of JSON objects, one per line; after a kill, at most the last line is incomplete."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from .errors import PfgenError
from .file_reading import opened
from .file_writing import held, make_folder, write_whole
from .untrusted_text import utf8

MAX_LINE_BYTES = 1 << 26
"""Maximum length of a line."""

_SKIPPED_BYTES = 1 << 20


@contextlib.contextmanager
def sole_writer(folder: Path, *, doing: str, error: type[PfgenError]) -> Iterator[None]:
    """Creates and locks a directory, or raises an `error` that says what another process is `doing` there."""
    with _locked(folder / ".lock", error(f"{folder}: another process is {doing}; wait for it, or stop it")):
        yield


@contextlib.contextmanager
def _locked(lock: Path, problem: PfgenError) -> Iterator[None]:
    """Creates the directory of a lock file and locks it, or raises the problem."""
    missing = [path for path in (lock.parent, *lock.parent.parents) if not path.exists()]
    make_folder(lock.parent, type(problem))
    try:
        with held(lock) as alone:
            if not alone:
                raise problem
            yield
    finally:
        with contextlib.suppress(OSError):  # removes new directories that are still empty
            for path in missing:
                path.rmdir()


class Journal:
    """A file of JSON objects, which may be missing; one process at a time may append to it (see `locked`)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None
        self._n_read = 0  # size of the lines that were read or added
        self._read_from: tuple[int, int] | None = None  # device and inode of their file

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yields the objects in lines that no earlier call has read, in order; invalid lines are skipped."""
        for line in self._lines():
            with contextlib.suppress(ValueError, RecursionError):  # an invalid line
                entry = json.loads(line)
                if isinstance(entry, dict):
                    yield entry

    @property
    def has_lines(self) -> bool:
        """Whether the file had a complete line when it was read, even an invalid line."""
        return self._n_read > 0

    @contextlib.contextmanager
    def locked(self, *, what: str, error: type[PfgenError]) -> Iterator[None]:
        """Locks the file, so that only this process adds entries. Other processes may have added entries before."""
        problem = error(f"{self.path}: another process is adding {what} to it")
        with _locked(self.path.with_name(f".{self.path.name}.lock"), problem), contextlib.closing(self):
            yield

    def add(self, entry: Mapping[str, Any]) -> None:
        """Appends an object with a single write."""
        line = json_line(entry)
        if len(line) > MAX_LINE_BYTES:
            raise PfgenError(f"{self.path}: an entry of {len(line):,} bytes; expected at most {MAX_LINE_BYTES:,}")
        try:
            if self._file is None:
                self._file = self._opened()
            begin = self._file.seek(0, os.SEEK_END)
            self._forget_unless_same(self._file)
            n_written = self._file.write(line)
            while n_written < len(line):
                n_written += self._file.write(line[n_written:])  # raises the reason: a full disk, a limit of file sizes
            if begin == self._n_read:
                self._n_read += len(line)
        except OSError as error:
            raise PfgenError(f"{self.path}: cannot be written: {error.strerror or error}") from None

    def rewrite(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Replaces the file atomically."""
        self.close()
        self._n_read = 0
        write_whole(self.path, b"".join(map(json_line, entries)))

    def remove(self) -> None:
        """Removes the file."""
        self.close()
        self._n_read = 0
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Closes the file; `add` opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _lines(self) -> Iterator[bytes]:
        """The lines that were not read yet, one by one, because a journal may be larger than the memory."""
        if not self.path.exists():
            return
        with opened(self.path) as file:
            self._forget_unless_same(file)
            file.seek(self._n_read)
            while line := file.readline(MAX_LINE_BYTES):
                n_bytes, end = len(line), line
                while end and not end.endswith(b"\n"):
                    end = file.readline(_SKIPPED_BYTES)
                    n_bytes += len(end)
                if end:  # otherwise another process may still be writing the line
                    self._n_read += n_bytes
                if n_bytes == len(line):
                    yield line

    def _forget_unless_same(self, file: IO[bytes]) -> None:
        """Starts at the beginning again if the file was replaced or is shorter than before."""
        now = os.fstat(file.fileno())
        if (now.st_dev, now.st_ino) != self._read_from or now.st_size < self._n_read:
            self._n_read, self._read_from = 0, (now.st_dev, now.st_ino)

    def _opened(self) -> IO[bytes]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = open(self.path, "a+b", buffering=0)  # noqa: SIM115 - closed by `close`
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")  # ends an incomplete line of a killed process
        return file


def json_line(entry: Mapping[str, Any]) -> bytes:
    """An object as a line of JSON in UTF-8. Lone surrogates are written as JSON escapes."""
    return utf8(json.dumps(entry, ensure_ascii=False) + "\n")
