"""Fetches a published suite: every file is checked, and the directory appears when all of them are there.

Files gather in a hidden directory next to it, so that a later call goes on after a kill, and no command finds a part.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ...base.errors import PfgenError, SuiteError, TrialsError
from ...base.file_reading import opened, read_stored
from ...base.file_writing import make_folder, write_whole
from ...base.lock import held
from ...base.ownership import check_own_folder
from .downloads import CutOff, Download, Take
from .manifests import ORIGIN_FILE, PublishedFile, PublishedSuite, published_suite, suites_folder

_BLOCK_BYTES = 1 << 16


@dataclass(frozen=True)
class FetchedSuite:
    """A published suite in a directory; `n_fetched` counts the files that were fetched now.

    `missing` has the paths that the source lacks, on which no score depends.
    """

    suite: PublishedSuite
    folder: Path
    n_fetched: int
    missing: tuple[str, ...] = ()


def get_suite(
    name: str,
    *,
    source: str | Path | None = None,
    output: str | Path | None = None,
    on_file: Callable[[int, int], None] = lambda done, total: None,
) -> FetchedSuite:
    """Fetches a published suite, so that `Suite.load(name)` finds it; does nothing if it is there.

    Args:
        name: The name of the suite, `"pfgen-bench"`.
        source: A checkout, a fetched suite, or the base address of a mirror; by default the published address.
        output: A directory to write instead of that in the user's data directory; it must be new or empty.
        on_file: Is called with the number of complete files and of all files.

    Raises:
        SuiteError: A file cannot be had, or is not the published one. Complete files are kept for the next call.
    """
    suite = published_suite(name)
    folder = (suites_folder() / suite.name if output is None else Path(output)).absolute()
    if not _lacking(suite, _complete(suite, folder)):
        return FetchedSuite(suite, folder, 0)
    if output is not None and folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise SuiteError(f"{folder}: exists and does not hold the whole of {suite.name}; name a new directory")
    make_folder(folder.parent, SuiteError)
    with _locked(folder):
        return _fetch(suite, folder, source, on_file)


def _fetch(
    suite: PublishedSuite, folder: Path, source: str | Path | None, on_file: Callable[[int, int], None]
) -> FetchedSuite:
    part = _beside(folder, "part")
    check_own_folder(part)
    make_folder(part, SuiteError)
    done = _complete(suite, part)
    for path in part.iterdir():
        if path.name not in done:
            _discard(path)
    wanted = [file for file in suite.files if file.name not in done]
    lock = threading.Lock()

    def take(file: PublishedFile, blocks: Iterator[bytes], where: str) -> None:
        write_whole(part / file.name, _checked(file, blocks, where))
        with lock:
            done.add(file.name)
            on_file(len(done), len(suite.files))

    try:
        _check_space(suite, wanted, part)
        _read(suite, source, wanted, take)
        if lacking := _lacking(suite, done):
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            raise SuiteError(
                f"{source or suite.base_url}: {lacking[0]}{more} not found; expected the files of "
                f"{suite.repository} at {suite.commit}"
            )
        write_whole(part / ORIGIN_FILE, json.dumps(suite.origin, indent=1).encode())
    except PfgenError as error:
        with contextlib.suppress(OSError):
            part.rmdir()
        kept = f"; {len(done)} of {len(suite.files)} files are kept for the next call" if done else ""
        raise SuiteError(f"{error}{kept}") from None
    _move(folder, part)
    missing = tuple(file.path for file in suite.files if file.name not in done)
    return FetchedSuite(suite, folder, len(wanted) - len(missing), missing)


def _read(suite: PublishedSuite, source: str | Path | None, wanted: Sequence[PublishedFile], take: Take) -> None:
    if source is None or "://" in str(source):
        Download(suite.base_url if source is None else str(source)).read(wanted, take)
        return
    folder = Path(source)
    if not folder.is_dir():
        raise SuiteError(f"{source}: expected a directory, or an address (https://...)")
    is_checkout = any((folder / file.path).is_file() for file in wanted)
    for file in wanted:
        path = folder / (file.path if is_checkout else file.name)
        if path.is_file():
            with opened(path) as stream:
                take(file, iter(partial(stream.read, _BLOCK_BYTES), b""), str(path))


def _checked(file: PublishedFile, blocks: Iterator[bytes], where: str) -> bytes:
    """The content of a file, of which no more than the recorded size is kept."""
    content = bytearray()
    for block in blocks:
        content += block
        if len(content) > file.n_bytes:
            raise SuiteError(f"{where}: larger than the published file ({file.n_bytes:,} bytes); use another copy")
    if len(content) < file.n_bytes:
        raise CutOff(f"{where}: cut off after {len(content):,} of {file.n_bytes:,} bytes")
    if file.sha256 != hashlib.sha256(content).hexdigest():
        raise SuiteError(f"{where}: its SHA-256 is not that of the published file; use another copy")
    return bytes(content)


def _complete(suite: PublishedSuite, folder: Path) -> set[str]:
    """The names of the files in a directory that are the published ones, by their checksums."""
    return {file.name for file in suite.files if _holds(folder / file.name, file)}


def _holds(path: Path, file: PublishedFile) -> bool:
    if not path.is_file():
        return False
    with contextlib.suppress(TrialsError):
        return hashlib.sha256(read_stored(path, limit=file.n_bytes)).hexdigest() == file.sha256
    return False


def _lacking(suite: PublishedSuite, done: set[str]) -> list[str]:
    """The paths of files that scores or prompts depend on, and that are not among the complete ones."""
    return [file.path for file in suite.files if file.is_needed and file.name not in done]


def _check_space(suite: PublishedSuite, wanted: Sequence[PublishedFile], folder: Path) -> None:
    n_bytes, free = sum(file.n_bytes for file in wanted), shutil.disk_usage(folder).free
    if free < n_bytes:
        raise SuiteError(
            f"{folder.parent}: the disk has {free / 1e6:,.1f} MB free, and the suite takes {n_bytes / 1e6:,.1f} MB; "
            "free some space, or name another directory (--output, PFGEN_FAST_HOME)"
        )


def _beside(folder: Path, kind: str) -> Path:
    return folder.with_name(f".{folder.name}.get-{kind}")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with held(_beside(folder, "lock")) as is_held:
        if not is_held:
            raise SuiteError(f"{folder}: another process is fetching this suite; wait until it ends")
        yield


def _move(folder: Path, new: Path) -> None:
    """Puts the directory `new` in the place of `folder`, which is never there in part."""
    old = _beside(folder, "old")
    try:
        _discard(old)
        if os.path.lexists(folder):
            folder.rename(old)
        new.rename(folder)
        _discard(old)
    except OSError as error:
        raise SuiteError(f"{folder}: cannot be replaced: {error.strerror or error}") from None


def _discard(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
