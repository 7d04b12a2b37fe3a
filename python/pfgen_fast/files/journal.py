"""An append-only journal of JSON objects, one per line; a killed process loses at most the line being written."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from ..errors import PfgenError
from .lock import held
from .reading import opened
from .untrusted_text import utf8
from .writing import make_folder, write_whole

MAX_LINE_BYTES = 1 << 26
"""The longest line that is written or read."""

_SKIPPED_BYTES = 1 << 20


@contextlib.contextmanager
def sole_writer(folder: Path, *, doing: str, error: type[PfgenError]) -> Iterator[None]:
    """Creates a folder that only this process may write to, or raises an `error` about what another one is `doing`."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    make_folder(folder)
    try:
        with held(folder / ".lock") as alone:
            if not alone:
                raise error(f"{folder}: another process is {doing}; wait for it, or stop it")
            yield
    finally:
        with contextlib.suppress(OSError):  # removes new folders that stayed empty
            for path in made:
                path.rmdir()


class Journal:
    """A file of JSON objects to which one process at a time may append (see `locked`); it need not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None
        self._n_read = 0  # bytes of the lines that were read or added here
        self._read_from: tuple[int, int] | None = None  # which file they are of

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yields the objects of all readable lines that no earlier call has read, in order."""
        for line in self._lines():
            with contextlib.suppress(ValueError, RecursionError):  # whatever is wrong with a line, it is skipped
                entry = json.loads(line)
                if isinstance(entry, dict):
                    yield entry

    @property
    def has_lines(self) -> bool:
        """Whether the file had a complete line when it was read, whatever it held."""
        return self._n_read > 0

    @contextlib.contextmanager
    def locked(self, *, what: str, error: type[PfgenError]) -> Iterator[None]:
        """Makes this process the only one that adds to the file; other processes may have added entries before."""
        make_folder(self.path.parent, error)
        with held(self.path.with_name(f".{self.path.name}.lock")) as alone:
            if not alone:
                raise error(f"{self.path}: another process is adding {what} to it")
            with contextlib.closing(self):
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
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
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
        """The lines that were not read yet, one at a time, because a journal may not fit into memory."""
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
                if end:  # else the line may still be being written
                    self._n_read += n_bytes
                if n_bytes == len(line):
                    yield line

    def _forget_unless_same(self, file: IO[bytes]) -> None:
        """Forgets what was read if the file is another one by now, or shorter."""
        now = os.fstat(file.fileno())
        if (now.st_dev, now.st_ino) != self._read_from or now.st_size < self._n_read:
            self._n_read, self._read_from = 0, (now.st_dev, now.st_ino)

    def _opened(self) -> IO[bytes]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = open(self.path, "a+b", buffering=0)  # noqa: SIM115 - closed by `close`
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")  # ends a line that a killed process left incomplete
        return file


def json_line(entry: Mapping[str, Any]) -> bytes:
    """An object as a line of JSON in UTF-8; lone surrogates, which UTF-8 cannot hold, stay JSON escapes."""
    return utf8(json.dumps(entry, ensure_ascii=False) + "\n")
